import { type FactFiles, printJson, printLines } from '../print.ts';
import type { ApiResourceList } from '../resources-table.ts';
import type { Gates } from '../tree/feature-gates.ts';
import type { Connection } from './connection.ts';
import { describedParts, discoveryDocuments, openApiDocuments } from './documents.ts';
import { metricFamilies, reportedGates } from './metrics.ts';
import { bootstrapObjects, healthChecks, tableColumns } from './objects.ts';

/** What one server told. Columns are one file of two servers, and gates are compared with those of the tree. */
export interface ServerFacts {
  readonly files: FactFiles;
  readonly columns: Record<string, unknown>;
  readonly gates: Gates;
  /** `apps/v1`, `v1` */
  readonly groupVersions: ReadonlySet<string>;
}

const OPENAPI_DEPTH = 2;
const fileOf = (path: string): string => `${path.replaceAll('/', '__')}.json`;
const isResourceList = (document: unknown): document is ApiResourceList => (document as { kind?: string }).kind === 'APIResourceList';

/** Everything that a server with default flags can be asked, before anybody has written to it. */
export async function readDefaultServer(server: Connection): Promise<ServerFacts> {
  const documents = await openApiDocuments(server);
  const discovery = await discoveryDocuments(server);
  const lists = new Map([...discovery].filter((entry): entry is [string, ApiResourceList] => isResourceList(entry[1])));
  const files: FactFiles = new Map();
  for (const [path, document] of documents) files.set(`openapi-v3/${fileOf(path)}`, printJson(document, OPENAPI_DEPTH));
  for (const [path, document] of discovery) files.set(`discovery/${fileOf(path)}`, printJson(document));
  for (const [name, objects] of await bootstrapObjects(server)) files.set(`bootstrap/${name}.json`, printLines(objects));
  files.set('descriptions.json', printDescriptions(await describedParts(server, documents)));
  files.set('readyz.txt', await healthChecks(server, 'readyz'));
  files.set('livez.txt', await healthChecks(server, 'livez'));
  const gates = reportedGates(await server.text('/metrics', '*/*'));
  return { files, columns: await tableColumns(server, lists), gates, groupVersions: versionsOf(lists) };
}

/** Documents of the versions that only `--runtime-config` turns on: what the other server, with all of them on, has beyond the default one. */
export async function readOptionalVersions(server: Connection, defaults: ServerFacts): Promise<ServerFacts> {
  const files: FactFiles = new Map();
  for (const [path, document] of await openApiDocuments(server)) {
    if (!defaults.files.has(`openapi-v3/${fileOf(path)}`)) files.set(`optional/openapi-v3/${fileOf(path)}`, printJson(document, OPENAPI_DEPTH));
  }
  const lists = new Map<string, ApiResourceList>();
  for (const [path, document] of await discoveryDocuments(server)) {
    if (!isResourceList(document) || defaults.files.has(`discovery/${fileOf(path)}`)) continue;
    lists.set(path, document);
    files.set(`optional/discovery/${fileOf(path)}`, printJson(document));
  }
  return { files, columns: await tableColumns(server, lists), gates: {}, groupVersions: versionsOf(lists) };
}

const versionsOf = (lists: ReadonlyMap<string, ApiResourceList>): Set<string> => new Set([...lists.values()].map(({ groupVersion }) => groupVersion));

/** The families of a server that has answered the whole of test/oracle/corpus: most have no series before. */
export const readSeenMetrics = async (server: Connection): Promise<string> => printLines(metricFamilies(await server.text('/metrics', '*/*')));

const FLAGZ = 'application/json;v=v1beta1;g=config.k8s.io;as=Flagz';

/** The names of all flags, those that --help hides too. Their values are of the run. */
export async function readFlagNames(server: Connection): Promise<string> {
  const { flags } = await server.json<{ flags: Record<string, string> }>('/flagz', FLAGZ);
  return printLines(Object.keys(flags).toSorted());
}

/** What a server that emulates an older version serves. */
export async function readEmulated(server: Connection): Promise<Record<string, unknown>> {
  const discovery = await discoveryDocuments(server);
  const lists = [...discovery.values()].filter(isResourceList);
  const { major, minor, emulationMajor, emulationMinor, minCompatibilityMajor, minCompatibilityMinor, gitVersion } =
    await server.json<Record<string, string>>('/version');
  return {
    version: { major, minor, emulationMajor, emulationMinor, minCompatibilityMajor, minCompatibilityMinor, gitVersion },
    groupVersions: Object.fromEntries(
      lists.map(({ groupVersion, resources }) => [groupVersion, resources.map(({ name }) => name).filter((name) => !name.includes('/'))]),
    ),
    gates: reportedGates(await server.text('/metrics', '*/*')),
  };
}

/** One line a type, an operation and a document. */
const printDescriptions = (parts: Record<string, Record<string, unknown>>): string =>
  `{\n${Object.entries(parts)
    .map(([name, entries]) => `${JSON.stringify(name)}: ${printLines(entries).trimEnd()}`)
    .join(',\n')}\n}\n`;
