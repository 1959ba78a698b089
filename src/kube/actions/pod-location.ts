import { badRequest, genericNotFound } from '../../api/errors.ts';
import { containersOf } from '../../apis/core/pod/containers-of.ts';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { ConnectCall } from '../../registry/definition.ts';

export const podOf = async ({ store, namespace, name }: ConnectCall): Promise<Pod> => (await store.get(namespace, name, '')).object<Pod>();

/** Which container is meant. It must be named where there are several, and be one of the pod's where it is. */
export function chooseContainer({ metadata, spec }: Pod, wanted: unknown): string {
  const names = containersOf(spec).map(({ name }) => name);
  const [only, ...others] = spec.containers ?? [];
  if (typeof wanted === 'string' && wanted !== '') {
    if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${metadata.name}`);
    return wanted;
  }
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${metadata.name}`);
  if (others.length > 0) throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
  return only.name;
}

/** These subresources have nothing below them. */
export function onlyAt(path: string, options: JsonObject): JsonObject {
  if (path !== '' && path !== '/') throw genericNotFound();
  return options;
}

/** A query as Go's url.Values writes it: sorted by name, and escaped as forms are. */
export const encodeQuery = (parameters: readonly (readonly [name: string, value: string])[]): string =>
  parameters
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([name, value]) => `${escape(name)}=${escape(value)}`)
    .join('&');

const escape = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

export const pathWithQuery = (path: string, parameters: readonly (readonly [name: string, value: string])[]): string =>
  parameters.length === 0 ? path : `${path}?${encodeQuery(parameters)}`;
