import { createHash } from 'node:crypto';
import type { OpenApiDocument } from '../openapi.ts';
import { withoutProse } from '../prose.ts';
import type { ApiResourceList } from '../resources-table.ts';
import type { Connection } from './connection.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Path in OpenAPI's index (`apis/apps/v1`) → the document, without prose. */
export async function openApiDocuments(server: Connection): Promise<Map<string, OpenApiDocument>> {
  const { paths } = await server.json<{ paths: Record<string, unknown> }>('/openapi/v3');
  const documents = new Map<string, OpenApiDocument>();
  for (const path of Object.keys(paths).toSorted()) documents.set(path, withoutProse(await server.json<OpenApiDocument>(`/openapi/v3/${path}`)));
  return documents;
}

interface GroupList {
  groups: { versions: { groupVersion: string }[] }[];
}

/** `api`, `apis`, every group-version, and both aggregated forms (`aggregated_apis`), by their paths. */
export async function discoveryDocuments(server: Connection): Promise<Map<string, unknown>> {
  const groups = await server.json<GroupList>('/apis');
  const documents = new Map<string, unknown>([
    ['aggregated_api', await server.json('/api', AGGREGATED)],
    ['aggregated_apis', await server.json('/apis', AGGREGATED)],
    // The address under which the client reached the server.
    ['api', { ...(await server.json<object>('/api')), serverAddressByClientCIDRs: undefined }],
    ['apis', groups],
  ]);
  const versions = groups.groups.flatMap(({ versions: all }) => all.map(({ groupVersion }) => `apis/${groupVersion}`));
  for (const path of ['api/v1', ...versions.toSorted()]) documents.set(path, await server.json<ApiResourceList>(`/${path}`));
  return documents;
}

interface Described {
  description?: string;
  properties?: Record<string, Described>;
}

interface DocumentV2 {
  definitions: Record<string, Described>;
  parameters: Record<string, Described>;
  paths: Record<string, Record<string, Described>>;
}

const HASH_LENGTH = 10;
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);

/** Which parts of the documents carry a text, and its hash. The texts of v3 are those of v2, so that of v3 only the types of each document are told. */
export async function describedParts(server: Connection, documents: ReadonlyMap<string, OpenApiDocument>): Promise<Record<string, Record<string, unknown>>> {
  const v2 = await server.json<DocumentV2>('/openapi/v2');
  const parameters = Object.entries(v2.parameters).flatMap(([name, { description }]) => (description === undefined ? [] : [[name, hashOf(description)]]));
  const operations = Object.entries(v2.paths).flatMap(([path, { parameters: _shared, ...methods }]) =>
    Object.entries(methods).map(([method, { description }]) => [`${method} ${path}`, hashOf(description ?? '')]),
  );
  return {
    definitions: Object.fromEntries(Object.entries(v2.definitions).map(([name, schema]) => [name, textsOf(schema)])),
    operations: Object.fromEntries(operations) as Record<string, string>,
    parameters: Object.fromEntries(parameters) as Record<string, string>,
    v3: Object.fromEntries([...documents].map(([path, { components }]) => [path, Object.keys(components?.schemas ?? {})])),
  };
}

/** The text of a type under '', those of its fields under their names. */
function textsOf({ description, properties = {} }: Described): Record<string, string> {
  const all = [['', description] as const, ...Object.entries(properties).map(([name, field]) => [name, field.description] as const)];
  return Object.fromEntries(all.flatMap(([name, text]) => (text === undefined ? [] : [[name, hashOf(text)]])));
}
