import { isJsonObject } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { LIMITS } from '../util/limits.ts';
import type { GroupDiscovery, VersionDiscovery } from '../server/discovery/merge-peers.ts';

/* What another server says of its resources, made into what ours says of them. Of what was sent, only what the types have is taken. */

/** One group-version of an APIGroupDiscoveryList, without its freshness; undefined where the list does not have it. Throws where it is no such list. */
export function entryInList(list: unknown, group: string, version: string): JsonObject | undefined {
  if (!isJsonObject(list) || list['kind'] !== 'APIGroupDiscoveryList') throw new Error('the answer is no APIGroupDiscoveryList');
  const groups = listed(list['items']).filter(({ metadata }) => isJsonObject(metadata) && text(metadata['name']) === group);
  const found = groups.flatMap((item) => listed(item['versions'])).find((candidate) => candidate['version'] === version);
  if (found) checkCount([{ versions: [found] }]);
  return found && { version, ...nonEmpty('resources', objectsIn(found['resources']).map(resourceOf)) };
}

/** All of an APIGroupDiscoveryList. Throws where it is no such list. */
export function groupsInList(list: unknown): GroupDiscovery[] {
  if (!isJsonObject(list) || list['kind'] !== 'APIGroupDiscoveryList') throw new Error('the answer is no APIGroupDiscoveryList');
  const items = listed(list['items']);
  checkCount(items);
  return items.map(({ metadata, versions }) => {
    const name = isJsonObject(metadata) ? text(metadata['name']) : '';
    return { metadata: name === '' ? {} : { name }, versions: objectsIn(versions).map(versionOf) };
  });
}

/** No server serves so many, and to look at more would take long. */
function listed(list: unknown): JsonObject[] {
  if (Array.isArray(list) && list.length > LIMITS.remoteResources) throw new Error(`the answer lists more than ${LIMITS.remoteResources} groups or resources`);
  return objectsIn(list);
}

/** Of all groups together: their versions, resources and subresources. */
function checkCount(groups: readonly JsonObject[]): void {
  let left = LIMITS.remoteResources;
  const visit = (list: unknown, [inner, ...deeper]: readonly string[]): void => {
    if (!Array.isArray(list)) return;
    left -= list.length;
    if (left < 0) throw new Error(`the answer lists more than ${LIMITS.remoteResources} groups or resources`);
    if (inner !== undefined) for (const item of objectsIn(list)) visit(item[inner], deeper);
  };
  visit(groups, ['versions', 'resources', 'subresources', 'acceptedTypes']);
}

const versionOf = ({ version, resources, freshness }: JsonObject): VersionDiscovery => ({
  version: text(version),
  ...nonEmpty('resources', objectsIn(resources).map(resourceOf)),
  ...(text(freshness) !== '' && { freshness: text(freshness) }),
});

/** The same of a legacy APIResourceList (apiserver/pkg/endpoints, ConvertGroupVersionIntoToDiscovery). Throws where it is no such list. */
export function entryOfLegacyList(list: unknown, version: string): JsonObject {
  if (!isJsonObject(list) || list['kind'] !== 'APIResourceList') throw new Error('the answer is no APIResourceList');
  const all = listed(list['resources']);
  const resources = new Map<string, JsonObject>();
  for (const resource of all) if (!text(resource['name']).includes('/')) resources.set(text(resource['name']), legacyResource(resource));
  for (const resource of all) {
    const [parentName, subresource] = splitOnce(text(resource['name']));
    if (subresource !== undefined) addSubresource(resources, parentName, subresource, resource);
  }
  return { version, ...nonEmpty('resources', [...resources.values()]) };
}

const scopeOf = ({ namespaced }: JsonObject): string => (namespaced === true ? 'Namespaced' : 'Cluster');

const legacyResource = (resource: JsonObject): JsonObject => ({
  resource: text(resource['name']),
  responseKind: kindOf(resource),
  scope: scopeOf(resource),
  singularResource: text(resource['singularName']),
  verbs: textsIn(resource['verbs']),
  ...nonEmpty('shortNames', textsIn(resource['shortNames'])),
  ...nonEmpty('categories', textsIn(resource['categories'])),
});

function addSubresource(resources: Map<string, JsonObject>, parentName: string, subresource: string, resource: JsonObject): void {
  const scope = scopeOf(resource);
  const parent: JsonObject = resources.get(parentName) ?? { resource: parentName, responseKind: kindOf({}), scope, singularResource: '', verbs: [] };
  if (parent['scope'] !== scope)
    throw new Error(`Error: Parent ${parentName} (scope: ${String(parent['scope'])}) and subresource ${subresource} (scope: ${scope}) scope do not match`);
  const hasKind = text(resource['kind']) !== '';
  const added = { subresource, responseKind: hasKind ? kindOf(resource) : kindOf({}), verbs: textsIn(resource['verbs']) };
  ((parent['subresources'] ??= []) as Json[]).push(added);
  resources.set(parentName, parent);
}

const resourceOf = (resource: JsonObject): JsonObject => ({
  resource: text(resource['resource']),
  responseKind: kindOf(resource['responseKind']),
  scope: text(resource['scope']),
  singularResource: text(resource['singularResource']),
  verbs: textsIn(resource['verbs']),
  ...nonEmpty('shortNames', textsIn(resource['shortNames'])),
  ...nonEmpty('categories', textsIn(resource['categories'])),
  ...nonEmpty('subresources', objectsIn(resource['subresources']).map(subresourceOf)),
});

const subresourceOf = (subresource: JsonObject): JsonObject => ({
  subresource: text(subresource['subresource']),
  responseKind: kindOf(subresource['responseKind']),
  ...nonEmpty('acceptedTypes', objectsIn(subresource['acceptedTypes']).map(kindOf)),
  verbs: textsIn(subresource['verbs']),
});

/** Old clients fall over a resource without one (kubernetes/kubernetes#118361). */
function kindOf(sent: unknown): JsonObject {
  const { group, version, kind } = isJsonObject(sent) ? sent : {};
  return { group: text(group), version: text(version), kind: text(kind) };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []);
const nonEmpty = (key: string, list: Json[]): JsonObject => (list.length > 0 ? { [key]: list } : {});

function splitOnce(name: string): [string, string | undefined] {
  const at = name.indexOf('/');
  return at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)];
}
