import { isJsonObject, ownValue, parseJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { isBookkeeping } from './change-fields.ts';
import { listOf, memberOf, textOf } from './json-fields.ts';
import { PLAIN_KEY, deltaOf } from './object-delta.ts';

/** A field without fields of its own, by a path that stays when items of lists move. */
interface Leaf {
  path: string;
  /** Keys of objects, and items of lists. */
  steps: readonly (string | ListItem)[];
  value: Json;
}

interface ListItem {
  value: Json;
}

/** By what items of lists are told apart, the first that all of them have, each another: what most lists of Kubernetes are merged by. */
const MERGE_KEYS = ['name', 'type', 'uid', 'mountPath', 'devicePath', 'containerPort', 'port', 'key', 'ip', 'topologyKey'];

/** Nobody writes these: they are what the object is. */
const IDENTITY = new Set(['apiVersion', 'kind', 'metadata.name', 'metadata.namespace', 'metadata.uid', 'metadata.creationTimestamp', 'metadata.generateName']);

/** Of every field of an object, the last change that gave it another value. */
export class Blame<W> {
  readonly #fields = new Map<string, { by: W; before: Json | undefined; value: Json }>();

  /** The changes, oldest first. `formerWriter` may tell who wrote a field of a version whose change nobody saw. */
  add(by: W, after: JsonObject | undefined, formerWriter?: (leaf: Leaf) => W | undefined): void {
    const leaves = leavesOf(after);
    for (const [path, leaf] of leaves) {
      const known = this.#fields.get(path);
      if (known && deltaOf(known.value, leaf.value).length === 0) continue;
      this.#fields.set(path, { by: formerWriter?.(leaf) ?? by, before: known?.value, value: leaf.value });
    }
    for (const path of this.#fields.keys()) if (!leaves.has(path)) this.#fields.delete(path);
  }

  /** In the order of the object's fields as they were first seen. */
  fields(): { path: string; value: Json; before: Json | undefined; by: W }[] {
    return [...this.#fields].map(([path, { value, before, by }]) => ({ path, value, before, by }));
  }
}

function leavesOf(object: JsonObject | undefined): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const visit = (value: Json, path: string, steps: Leaf['steps']): void => {
    if (IDENTITY.has(path) || (steps.length > 1 && isBookkeeping(steps as string[]))) return;
    if (isJsonObject(value) && Object.keys(value).length > 0) {
      for (const [key, member] of Object.entries(value)) visit(member!, keyPath(path, key), [...steps, key]);
    } else if (Array.isArray(value) && value.some((item) => isJsonObject(item))) {
      const mergeKey = mergeKeyOf(value);
      for (const [index, item] of value.entries()) visit(item, itemPath(path, item, index, mergeKey), [...steps, { value: item }]);
    } else leaves.set(path, { path, steps, value });
  };
  if (object) visit(object, '', []);
  return leaves;
}

const keyPath = (path: string, key: string): string => {
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
};

const itemPath = (path: string, item: Json, index: number, mergeKey: string | undefined): string =>
  mergeKey === undefined ? `${path}[${index}]` : `${path}[${mergeKey}=${String((item as JsonObject)[mergeKey])}]`;

function mergeKeyOf(items: readonly Json[]): string | undefined {
  return MERGE_KEYS.find((key) => {
    const values = items.map((item) => (isJsonObject(item) ? ownValue(item, key) : undefined));
    return values.every((value) => typeof value === 'string' || typeof value === 'number') && new Set(values).size === values.length;
  });
}

/** The manager that owns a field, with the time at which it last wrote any of its fields; undefined where nobody does (managedFields, fieldsV1). */
export function ownerOf(object: JsonObject, { steps }: Leaf): { manager: string; timeMs: number } | undefined {
  const owners = listOf(memberOf(object, 'metadata')['managedFields'])
    .filter(({ fieldsV1 }) => isJsonObject(fieldsV1) && owns(fieldsV1, steps))
    .map(({ manager, time }) => ({ manager: textOf(manager), timeMs: Date.parse(textOf(time)) }));
  return owners.toSorted((a, b) => b.timeMs - a.timeMs)[0];
}

function owns(fields: JsonObject, [step, ...rest]: Leaf['steps']): boolean {
  if (step === undefined) return true;
  // A field without fields is owned as a whole.
  if (Object.keys(fields).length === 0) return true;
  const inner = typeof step === 'string' ? ownValue(fields, `f:${step}`) : itemFields(fields, step.value);
  return isJsonObject(inner) && owns(inner, rest);
}

/** `k:{"name":"web"}` names an item by its keys, `v:"x"` by its value. */
function itemFields(fields: JsonObject, item: Json): Json | undefined {
  for (const [name, inner] of Object.entries(fields)) {
    if (name.startsWith('v:') && deltaOf(parseJson(name.slice(2)), item).length === 0) return inner;
    if (!name.startsWith('k:') || !isJsonObject(item)) continue;
    const keys = parseJson(name.slice(2));
    if (isJsonObject(keys) && Object.entries(keys).every(([key, value]) => ownValue(item, key) === value)) return inner;
  }
  return undefined;
}
