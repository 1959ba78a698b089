import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSchemas, type OpenApiDocument, type OpenApiSchema, readFolder } from '../openapi.ts';
import type { ApiResourceList } from '../resources-table.ts';
import type { FlagSets } from '../server/help.ts';

/** One table of facts: by the name of a thing, what is known of it, in a form that is the same where nothing changed. */
export type Table = ReadonlyMap<string, string>;

/** A folder of facts as it is compared. A table that the folder has no file for is undefined. */
export interface FactSet {
  readonly version: string;
  /** `apps/v1` → whether it is on by default. */
  readonly groupVersions: Table;
  /** `apps/v1/deployments`, `apps/v1/deployments/scale` → verbs, names, categories. */
  readonly resources: Table;
  readonly schemas: ReadonlyMap<string, OpenApiSchema>;
  /** Upstream records the documents of its tree without enumerations. */
  readonly hasEnumerations: boolean;
  /** With types and defaults, and hidden ones by their names. */
  readonly flags: Table | undefined;
  /** All that a server has, by their names alone. */
  readonly flagNames: Table | undefined;
  readonly gates: Table | undefined;
  readonly metrics: Table | undefined;
  /** `clusterroles/admin` */
  readonly bootstrap: Table | undefined;
  readonly columns: Table | undefined;
  /** `readyz/poststarthook/…` */
  readonly checks: Table | undefined;
  /** Upstream's files, by a hash of their code. */
  readonly upstream: Table | undefined;
}

export function readFactSet(folder: string): FactSet {
  const json = <T>(file: string): T | undefined => (existsSync(join(folder, file)) ? (JSON.parse(readFileSync(join(folder, file), 'utf8')) as T) : undefined);
  const about = json<{ kubernetes: string; documents: string }>('about.json');
  if (!about) throw new Error(`${folder} is no folder of facts: it has no about.json`);
  const lists = ['discovery', 'optional/discovery'].flatMap((part) =>
    resourceLists(join(folder, part)).map((list) => ({ ...list, isOn: part === 'discovery' })),
  );
  const metrics = json<{ name: string }[]>('metrics.json');
  const flags = json<FlagSets>('flags.json');
  const flagNames = json<string[]>('flagz.json');
  return {
    version: about.kubernetes,
    groupVersions: new Map(lists.map(({ groupVersion, isOn }) => [groupVersion, isOn ? 'on by default' : 'off by default'])),
    resources: new Map(
      lists.flatMap(({ groupVersion, resources }) => resources.map(({ name, ...rest }) => [`${groupVersion}/${name}`, stable(rest)] as const)),
    ),
    schemas: allSchemas(['openapi-v3', 'optional/openapi-v3'].flatMap((part) => [...readDocuments(join(folder, part))])),
    hasEnumerations: about.documents === 'server',
    flags: flags && flagTable(flags, flagNames ?? []),
    flagNames: flagNames && new Map(flagNames.map((name) => [name, ''])),
    gates: tableOf(json('feature-gates.json')),
    metrics: metrics && new Map(metrics.map(({ name, ...rest }) => [name, stable(rest)])),
    bootstrap: bootstrapTable(join(folder, 'bootstrap')),
    columns: tableOf(json('table-columns.json')),
    checks: checksTable(folder),
    upstream: tableOf(json('upstream.json')),
  };
}

const readDocuments = (folder: string): Iterable<OpenApiDocument> => (existsSync(folder) ? readFolder<OpenApiDocument>(folder).values() : []);

const resourceLists = (folder: string): ApiResourceList[] =>
  existsSync(folder) ? [...readFolder<ApiResourceList>(folder).values()].filter(({ kind }) => kind === 'APIResourceList') : [];

const tableOf = (value: Record<string, unknown> | undefined): Table | undefined =>
  value && new Map(Object.entries(value).map(([key, item]) => [key, stable(item)]));

function flagTable(sets: FlagSets, names: readonly string[]): Table {
  const shown = Object.entries(sets).flatMap(([set, flags]) => flags.map(({ name, ...rest }) => [name, stable({ set, ...rest })] as const));
  return new Map([...names.map((name) => [name, stable({ hidden: true })] as const), ...shown]);
}

function bootstrapTable(folder: string): Table | undefined {
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder).toSorted();
  return new Map(
    files.flatMap((file) => {
      const objects = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { metadata: { name: string; namespace?: string } }[];
      return objects.map((object) => {
        const { name, namespace } = object.metadata;
        return [`${file.slice(0, -'.json'.length)}/${namespace === undefined ? '' : `${namespace}/`}${name}`, stable(object)] as const;
      });
    }),
  );
}

function checksTable(folder: string): Table | undefined {
  const endpoints = ['readyz', 'livez'].filter((endpoint) => existsSync(join(folder, `${endpoint}.txt`)));
  if (endpoints.length === 0) return undefined;
  const names = endpoints.flatMap((endpoint) =>
    [...readFileSync(join(folder, `${endpoint}.txt`), 'utf8').matchAll(/^\[.\](\S+)/gm)].map(([, name]) => `${endpoint}/${name}`),
  );
  return new Map(names.map((name) => [name, '']));
}

/** JSON with its keys in order: sources differ in how they sort them. */
export function stable(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
