import type { EncodingFacts, OpenApiDocument } from './openapi.ts';

interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
}

export interface ApiResourceList {
  kind: string;
  groupVersion: string;
  resources: ApiResource[];
}

interface ColumnFacts {
  name: string;
  type: string;
  format: string;
  priority: number;
}

export interface ResourceSources {
  /** Legacy discovery of the versions that are on by default, and of those that `--runtime-config` turns on. */
  onByDefault: ApiResourceList[];
  optional: ApiResourceList[];
  documents: Map<string, OpenApiDocument>;
  /** `apis/apps/v1/deployments` → its columns. */
  columns: Record<string, ColumnFacts[]>;
  encoding: EncodingFacts;
}

const groupOf = (groupVersion: string): string => (groupVersion.includes('/') ? groupVersion.split('/')[0]! : '');
const rootOf = (groupVersion: string): string => (groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`);

/** The aggregator's own group has no APIService, yet stands first among the named groups. */
const UNREGISTERED_PRIORITY: [number, number] = [17999, 1];

/** Discovery's order: groups by priority, equal ones by name, then versions by priority. */
function compare({ priorities }: EncodingFacts): (a: ApiResourceList, b: ApiResourceList) => number {
  const priorityOf = ({ groupVersion }: ApiResourceList): [number, number] => priorities[groupVersion] ?? UNREGISTERED_PRIORITY;
  return (a, b) => {
    const [[groupA, versionA], [groupB, versionB]] = [priorityOf(a), priorityOf(b)];
    return groupB - groupA || groupOf(a.groupVersion).localeCompare(groupOf(b.groupVersion)) || versionB - versionA;
  };
}

/** The text of resources.json: one line a resource, one a subresource. */
export function printResources(sources: ResourceSources): string {
  const defaults = new Set(sources.onByDefault.map((list) => list.groupVersion));
  const lists = [...sources.onByDefault, ...sources.optional].toSorted(compare(sources.encoding));
  const entries = lists.map((list) => {
    const priority = sources.encoding.priorities[list.groupVersion];
    const head = JSON.stringify({ groupVersion: list.groupVersion, onByDefault: defaults.has(list.groupVersion), ...(priority && { priority }) });
    return `  ${head.slice(0, -1)},"resources":[\n${resourceLines(list, sources).join(',\n')}\n  ]}`;
  });
  return `[\n${entries.join(',\n')}\n]\n`;
}

function resourceLines(list: ApiResourceList, sources: ResourceSources): string[] {
  return list.resources
    .filter((resource) => !resource.name.includes('/'))
    .map((resource) => {
      const { name: plural, singularName: singular, kind, namespaced, verbs, shortNames, categories, storageVersionHash } = resource;
      const root = rootOf(list.groupVersion);
      const columns = sources.columns[`${root}/${plural}`]?.map(({ name, type, format, priority }) => [name, type, format, priority]);
      const returnsDeletedObject = deletionAnswersObject(
        sources.documents.get(root)!,
        `/${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`,
      );
      const line = {
        plural,
        singular,
        kind,
        namespaced,
        verbs,
        shortNames,
        categories,
        storageVersionHash,
        ...(returnsDeletedObject && { returnsDeletedObject }),
        columns,
      };
      const subresources = list.resources.filter((other) => other.name.startsWith(`${plural}/`)).map((other) => subresourceLine(other, plural));
      const text = JSON.stringify(line);
      return `    ${subresources.length === 0 ? text : `${text.slice(0, -1)},"subresources":{\n${subresources.join(',\n')}\n    }}`}`;
    });
}

const subresourceLine = ({ name, group, version, kind, verbs }: ApiResource, plural: string): string =>
  `      ${JSON.stringify(name.slice(plural.length + 1))}:${JSON.stringify({ ...(version !== undefined && { group, version }), kind, verbs })}`;

/** DELETE of one object: whether 200 carries the object itself, or a Status. */
function deletionAnswersObject(document: OpenApiDocument, path: string): boolean {
  const operation = document.paths[path]?.['delete'];
  return operation !== undefined && !JSON.stringify(operation).includes('#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status');
}
