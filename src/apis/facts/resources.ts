import type { Column } from '../../registry/definition.ts';
import { apiVersionOf, parseApiVersion } from '../../api/api-object.ts';
import table from './resources.json' with { type: 'json' };

export type Stability = 'stable' | 'beta' | 'alpha';

/** One version of a built-in group, served or servable. */
export interface GroupVersionFacts {
  group: string;
  version: string;
  /** `apps/v1`, `v1` */
  groupVersion: string;
  stability: Stability;
  /** Without `--runtime-config`. */
  isOnByDefault: boolean;
  /** What its APIService is registered with; absent for the aggregator's own group, which has none. */
  priority?: { groupPriorityMinimum: number; versionPriority: number };
}

/** What discovery says of one resource in one version. */
export interface ResourceFacts {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  shortNames: readonly string[];
  categories: readonly string[];
  verbs: readonly string[];
  /** Absent where nothing is stored: reviews, bindings, component statuses. */
  storageVersionHash?: string;
  /** DELETE answers with the object instead of a Status. */
  returnsDeletedObject: boolean;
  /** By name, in discovery's order. */
  subresources: Readonly<Record<string, SubresourceFacts>>;
}

export interface SubresourceFacts {
  /** Of the kind that is read and written; the resource's own but for Scale, Eviction and TokenRequest. */
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
}

/** A column of `kubectl get` without its cells; meta/v1 TableColumnDefinition. */
export type ColumnFacts = Pick<Column, 'name' | 'type' | 'format' | 'priority'>;

interface TableEntry {
  groupVersion: string;
  onByDefault: boolean;
  priority?: readonly [number, number];
  resources: readonly TableResource[];
}

interface TableResource extends Pick<ResourceFacts, 'plural' | 'singular' | 'kind' | 'namespaced' | 'verbs' | 'storageVersionHash'> {
  shortNames?: readonly string[];
  categories?: readonly string[];
  returnsDeletedObject?: boolean;
  columns?: readonly (readonly [string, string, string, number])[];
  subresources?: Readonly<Record<string, { group?: string; version?: string; kind: string; verbs: readonly string[] }>>;
}

const entries = table as unknown as readonly TableEntry[];

const stabilityOf = (version: string): Stability => (version.includes('alpha') ? 'alpha' : version.includes('beta') ? 'beta' : 'stable');

function describeGroupVersion({ groupVersion, onByDefault, priority }: TableEntry): GroupVersionFacts {
  const { group, version } = parseApiVersion(groupVersion)!;
  return {
    group,
    version,
    groupVersion,
    stability: stabilityOf(version),
    isOnByDefault: onByDefault,
    ...(priority && { priority: { groupPriorityMinimum: priority[0], versionPriority: priority[1] } }),
  };
}

/** Every built-in group-version in discovery's order: core, the aggregator's own, then by priority. */
export const groupVersions: readonly GroupVersionFacts[] = entries.map(describeGroupVersion);

const entriesByGroupVersion = new Map(entries.map((entry) => [entry.groupVersion, entry]));
const factsByEntry = new Map<TableEntry, readonly ResourceFacts[]>();

/** The resources of one group-version in discovery's order; none where it is unknown. */
export function resourcesOf(group: string, version: string): readonly ResourceFacts[] {
  const entry = entriesByGroupVersion.get(apiVersionOf(group, version));
  if (entry === undefined) return [];
  let facts = factsByEntry.get(entry);
  if (facts === undefined) {
    facts = entry.resources.map((resource) => describeResource(resource, group, version));
    factsByEntry.set(entry, facts);
  }
  return facts;
}

function describeResource(
  { columns: _columns, shortNames = [], categories = [], returnsDeletedObject = false, subresources = {}, ...rest }: TableResource,
  group: string,
  version: string,
): ResourceFacts {
  const described = Object.entries(subresources).map(([name, subresource]): [string, SubresourceFacts] => [name, { group, version, ...subresource }]);
  return { group, version, ...rest, shortNames, categories, returnsDeletedObject, subresources: Object.fromEntries(described) };
}

/** By `v1/pods` or `apps/v1/deployments`. Throws where there is no such resource. */
export function resourceFacts(name: string): ResourceFacts {
  const { entry, plural } = find(name);
  const { group, version } = describeGroupVersion(entry);
  return resourcesOf(group, version).find((resource) => resource.plural === plural)!;
}

/** The columns of `kubectl get` for `v1/pods` or `apps/v1/deployments`; none where the resource can not be listed. */
export function columnsOf(name: string): ColumnFacts[] {
  const { entry, plural } = find(name);
  const columns = entry.resources.find((resource) => resource.plural === plural)!.columns ?? [];
  return columns.map(([column, type, format, priority]) => ({ name: column, type: type as ColumnFacts['type'], format, priority }));
}

function find(name: string): { entry: TableEntry; plural: string } {
  const slash = name.lastIndexOf('/');
  const plural = name.slice(slash + 1);
  const entry = entriesByGroupVersion.get(name.slice(0, slash));
  if (!entry?.resources.some((resource) => resource.plural === plural)) throw new Error(`no built-in resource is ${name}`);
  return { entry, plural };
}
