import type { Subresource } from '../../registry/definition.ts';
import { apiVersionOf } from '../../api/api-object.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { compareVersionNames } from '../../api/version-names.ts';
import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import type { ListedVersion } from '../remote-apis.ts';

/** Groups in order of preference, each with its versions in order of preference. The core group is not among them. */
export function groupVersionsByPriority<V extends ListedVersion>(versions: readonly V[], compare = compareGroups): Map<string, V[]> {
  const sorted = versions.filter(({ group }) => group !== '').sort(compare);
  const groups = new Map<string, V[]>();
  for (const version of sorted) groups.set(version.group, [...(groups.get(version.group) ?? []), version]);
  for (const group of groups.values()) group.sort(compareVersions);
  return groups;
}

const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

const compareGroups = (a: ListedVersion, b: ListedVersion): number => b.groupPriorityMinimum - a.groupPriorityMinimum || compareTexts(a.group, b.group);

/** By the names of their APIServices, `v1.b` before `v2.a`: the old list's order of groups that are equally preferred (apiregistration: ByGroupPriorityMinimum). */
const compareServices = (a: ListedVersion, b: ListedVersion): number =>
  b.groupPriorityMinimum - a.groupPriorityMinimum || compareTexts(`${a.version}.${a.group}`, `${b.version}.${b.group}`);

const compareVersions = (a: ListedVersion, b: ListedVersion): number => b.versionPriority - a.versionPriority || compareVersionNames(b.version, a.version);

/** `/apis` */
export const apiGroupList = (versions: readonly ListedVersion[]): JsonObject => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...groupVersionsByPriority(versions, compareServices).values()].map(groupFields),
});

/** `/apis/<group>` */
export const apiGroup = (versions: readonly ListedVersion[]): JsonObject => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupFields(versions) });

function groupFields(versions: readonly ListedVersion[]): JsonObject {
  const listed = versions.map(({ group, version }) => ({ groupVersion: apiVersionOf(group, version), version }));
  return { name: versions[0]!.group, versions: listed, preferredVersion: listed[0]! };
}

/** `/api`; `serverAddress` is where clients of any network reach us. */
export const apiVersions = (versions: readonly ApiVersion[], serverAddress: string): JsonObject => ({
  kind: 'APIVersions',
  versions: versions.filter(({ group }) => group === '').map(({ version }) => version),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});

/** `/api/v1`, `/apis/<group>/<version>` */
export function apiResourceList({ group, version, resources }: ApiVersion, hasHashes = true): JsonObject {
  const listings = (resource: InstalledResource): JsonObject[] => [wholeResource(resource, hasHashes), ...subresources(resource)];
  const custom = [...resources.values()].filter(({ isCustom }) => isCustom).sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1));
  const builtIn = [...resources.values()].filter(({ isCustom }) => !isCustom).flatMap(listings);
  builtIn.sort((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1));
  // Upstream's two servers have each their own order.
  const listed = [...builtIn, ...custom.flatMap(listings)];
  // The core group's list is older than that field, and has stayed without it.
  return { kind: 'APIResourceList', ...(group !== '' && { apiVersion: 'v1' }), groupVersion: apiVersionOf(group, version), resources: listed };
}

function wholeResource({ definition, served, storageVersionHash }: InstalledResource, hasHashes: boolean): JsonObject {
  const { plural, singular, namespaced, verbs, shortNames, categories } = definition;
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind: served.kind,
    verbs: [...verbs],
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(hasHashes && storageVersionHash !== '' && { storageVersionHash }),
  };
}

const subresources = ({ definition, served, subresources: all }: InstalledResource): JsonObject[] =>
  Object.entries(all).map(([name, { group, version, kind, verbs }]) => ({
    name: `${definition.plural}/${name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(isForeign({ group, version }, served) && { group, version }),
    kind,
    verbs: [...verbs],
  }));

/** A kind of another group-version than the list it stands in is named with its own. */
export const isForeign = (kind: Pick<Subresource, 'group' | 'version'>, served: { group: string; version: string }): boolean =>
  kind.group !== served.group || kind.version !== served.version;
