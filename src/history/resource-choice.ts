import type { JsonObject } from '../encoding/json-types.ts';
import { type RecordedResource, keyOf } from './flight-format.ts';
import type { ObjectFilter } from './flight-reader.ts';
import type { ChangeQuery, RecordedObject } from './history-source.ts';
import { memberOf, textOf } from './json-fields.ts';

/** As kubectl lets people name it: plural, singular, kind or short name, with or without its group. */
export function isNamed({ group, plural, kind, shortNames, singular }: RecordedResource, type: string): boolean {
  const lower = type.toLowerCase();
  const dot = lower.indexOf('.');
  const [name, namedGroup] = dot === -1 ? [lower, undefined] : [lower.slice(0, dot), lower.slice(dot + 1)];
  return [plural, singular ?? '', kind.toLowerCase(), ...shortNames].includes(name) && (namedGroup === undefined || namedGroup === group);
}

export const filterOf = ({ type, name, namespace }: ChangeQuery): ObjectFilter => ({
  resource: (resource) => type === undefined || isNamed(resource, type),
  key(key) {
    const { namespace: own, name: ownName } = splitKey(key);
    return (name === undefined || ownName === name) && (namespace === undefined || own === namespace);
  },
});

/** The namespace is empty where there is none. */
export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
}

/** An object of a list or a watch with its key. Items of lists do not name their kind. */
export function recordedObject(resource: RecordedResource, item: JsonObject): RecordedObject {
  const { group, version, kind } = resource;
  const { namespace, name } = memberOf(item, 'metadata');
  const object = { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...item };
  return { resource, key: keyOf(textOf(namespace), textOf(name)), object };
}
