import type { JsonObject } from '../encoding/json-types.ts';
import { type ClusterClient, ClusterError } from './cluster-client.ts';
import type { RecordedResource } from './flight-format.ts';
import { listOf, memberOf, textOf, textsOf } from './json-fields.ts';
import { splitKey } from './resource-choice.ts';

/** More than any server has: of what lists itself. */
const MAX_GROUP_VERSIONS = 10_000;

/** A server's own history (`--history`): what it tells is in the objects themselves. */
const HISTORY_GROUP = 'history.binnacle.dev';

/**
 * The resources that can be listed and watched, each once, in the version that the server prefers, or the first one that has it. A group whose server does
 * not answer is left out: it may answer next time.
 */
export async function discoverResources(client: ClusterClient, signal: AbortSignal): Promise<RecordedResource[]> {
  const found = new Map<string, RecordedResource>();
  for (const { group, version } of await groupVersions(client, signal)) {
    if (group === HISTORY_GROUP) continue;
    for (const resource of await resourcesOf(client, group, version, signal)) {
      const id = `${group} ${resource.plural}`;
      if (!found.has(id)) found.set(id, resource);
    }
  }
  // Both groups of events have the same objects.
  if (found.has(' events')) found.delete('events.k8s.io events');
  return [...found.values()];
}

/** Of each group, the preferred version first. */
async function groupVersions(client: ClusterClient, signal: AbortSignal): Promise<{ group: string; version: string }[]> {
  const { groups } = await client.get('/apis', signal);
  const named = listOf(groups).flatMap((group) => [memberOf(group, 'preferredVersion'), ...listOf(group['versions'])]);
  const texts = new Set(['v1', ...named.map(({ groupVersion }) => textOf(groupVersion))]);
  if (texts.size > MAX_GROUP_VERSIONS) throw new Error(`the server names more than ${MAX_GROUP_VERSIONS} group versions`);
  return [...texts]
    .filter((text) => text !== '')
    .map((text) => ({ group: text.slice(0, Math.max(text.indexOf('/'), 0)), version: text.slice(text.indexOf('/') + 1) }));
}

async function resourcesOf(client: ClusterClient, group: string, version: string, signal: AbortSignal): Promise<RecordedResource[]> {
  try {
    const { resources } = await client.get(rootOf(group, version), signal);
    return listOf(resources).flatMap((resource) => recordable(group, version, resource));
  } catch (error) {
    if (error instanceof ClusterError) return [];
    throw error;
  }
}

function recordable(group: string, version: string, resource: JsonObject): RecordedResource[] {
  const verbs = Array.isArray(resource['verbs']) ? resource['verbs'] : [];
  const plural = textOf(resource['name']);
  if (plural.includes('/') || !verbs.includes('list') || !verbs.includes('watch')) return [];
  const names = { shortNames: textsOf(resource['shortNames']), categories: textsOf(resource['categories']), singular: textOf(resource['singularName']) };
  return [{ group, version, plural, kind: textOf(resource['kind']), namespaced: resource['namespaced'] === true, ...names }];
}

/** Where the objects of a resource are, of all namespaces or of one; of one object with its key. */
export function pathOf({ group, version, plural }: RecordedResource, key?: string): string {
  if (key === undefined) return `${rootOf(group, version)}/${plural}`;
  const { namespace, name } = splitKey(key);
  const folder = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${rootOf(group, version)}${folder}/${plural}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}

const rootOf = (group: string, version: string): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
