import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../scripts/facts/current.ts';
import type { JsonObject } from '../src/encoding/json-types.ts';
import type { ApiClient } from './support/api-client.ts';
import { Clients } from './support/kubectl.ts';
import { ORACLE_DIR, PROJECT_DIR } from './support/paths.ts';
import { startServer } from './support/server.ts';

/*
 * What is published in OpenAPI is what kube-apiserver v1.36.4 publishes, to the letter, and so is what `kubectl explain` prints of it. Upstream's texts are not in
 * the repository: test/oracle/openapi holds hashes of documents and commands (record.mjs made them), the facts those of all texts.
 */

interface Documents {
  v2: string;
  v3: Record<string, string>;
}

interface Recorded {
  definitions: Record<string, Record<string, string>>;
  operations: Record<string, string>;
  parameters: Record<string, string>;
  /** By document: the names of its types. */
  v3: Record<string, string[]>;
}

interface Explained {
  args: string;
  exit: number;
  hash: string;
}

interface Described {
  description?: string;
  properties?: Record<string, { description?: string }>;
}

interface DocumentV2 {
  definitions: Record<string, Described>;
  parameters: Record<string, Described>;
  paths: Record<string, Record<string, Described>>;
}

const read = <T>(name: string): T => JSON.parse(readFileSync(join(ORACLE_DIR, 'openapi', name), 'utf8')) as T;
const documents = read<{ plain: Documents; withCustom: Documents }>('documents.json');
const recorded = JSON.parse(readFileSync(join(PROJECT_DIR, CURRENT_FACTS, 'descriptions.json'), 'utf8')) as Recorded;
const explained = read<{ plain: Explained[]; withCustom: Explained[] }>('explain.json');
const definitions = read<JsonObject[]>('definitions.json');

const HASH_LENGTH = 10;
/** Commands that run side by side. */
const AT_ONCE = 4;
const EXPLAIN_TIMEOUT_MS = 300_000;
const hashOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);

/** Hashes of the bytes of all documents, as clients are told them. */
async function published(client: ApiClient): Promise<Documents> {
  const { paths } = await client.get<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
  const hashes = Object.entries(paths).map(([path, { serverRelativeURL }]): [string, string] => {
    return [path, new URL(serverRelativeURL, 'https://localhost').searchParams.get('hash')!.slice(0, HASH_LENGTH)];
  });
  const { headers } = await client.expect(200, { path: '/openapi/v2' });
  return { v2: String(headers.etag).slice(1, 1 + HASH_LENGTH), v3: Object.fromEntries(hashes) };
}

/** Each command with what it printed, where that is not what the reference printed. */
async function differences(clients: Clients, commands: readonly Explained[]): Promise<string[]> {
  const different: string[] = [];
  const waiting = [...commands];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { args, exit, hash } = next;
      const result = await clients.tryKubectl(`explain ${args}`);
      const printed = result.stdout + result.stderr;
      if (result.exit !== exit || hashOf(printed) !== hash) different.push(`kubectl explain ${args}\n${printed.split('\n').slice(0, 12).join('\n')}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return different;
}

/** The keys of which the text is not the recorded one. */
const wrong = (texts: Record<string, string>, textOf: (key: string) => string | undefined): string[] =>
  Object.entries(texts)
    .filter(([key, hash]) => hashOf(textOf(key)) !== hash)
    .map(([key]) => key);

/** The types and fields, `type` or `type.field`, of which the text is not the recorded one; also where there should be none. */
const wrongTypes = (types: Record<string, Described>, names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const { description, properties = {} } = types[name] ?? {};
    const texts: Record<string, string> = recorded.definitions[name]!;
    const all = new Map([['', description], ...Object.entries(properties).map(([field, schema]): [string, string | undefined] => [field, schema.description])]);
    for (const field of Object.keys(texts)) if (!all.has(field)) all.set(field, undefined);
    return [...all].filter(([field, text]) => hashOf(text) !== texts[field]).map(([field]) => `${name}.${field}`);
  });

describe('of built-in resources', () => {
  let client: ApiClient;
  let clients: Clients;
  beforeAll(async () => {
    const server = await startServer();
    client = server.client();
    clients = new Clients(server);
  });

  test('every description is upstream’s', async () => {
    const v2 = await client.get<DocumentV2>('/openapi/v2');
    expect(wrongTypes(v2.definitions, Object.keys(recorded.definitions))).toEqual([]);
    expect(wrong(recorded.parameters, (name) => v2.parameters[name]?.description)).toEqual([]);
    const operationAt = (key: string): string | undefined => {
      const [method, path] = key.split(' ') as [string, string];
      return v2.paths[path]?.[method]?.description;
    };
    expect(wrong(recorded.operations, operationAt)).toEqual([]);
    for (const [path, names] of Object.entries(recorded.v3)) {
      const { components } = await client.get<{ components: { schemas?: Record<string, Described> } }>(`/openapi/v3/${path}`);
      expect({ path, wrong: wrongTypes(components.schemas ?? {}, names) }).toEqual({ path, wrong: [] });
    }
  });

  test('every document is upstream’s, byte for byte', async () => expect(await published(client)).toEqual(documents.plain));

  test('kubectl explains every resource', async () => expect(await differences(clients, explained.plain)).toEqual([]), EXPLAIN_TIMEOUT_MS);
});

describe('of custom resources', () => {
  let client: ApiClient;
  let clients: Clients;
  beforeAll(async () => {
    const server = await startServer();
    client = server.client();
    clients = new Clients(server);
    const list = { apiVersion: 'v1', kind: 'List', items: definitions };
    await clients.kubectl('create -f -', JSON.stringify(list));
    await clients.kubectl('wait --for=condition=Established crd --all');
  });

  test('every document is upstream’s, byte for byte', async () => {
    const { v2, v3 } = await published(client);
    const { v3: expected } = documents.withCustom;
    expect({ v2, v3: Object.fromEntries(Object.keys(expected).map((path) => [path, v3[path]])) }).toEqual(documents.withCustom);
  });

  test('kubectl explains them', async () => expect(await differences(clients, explained.withCustom)).toEqual([]), EXPLAIN_TIMEOUT_MS);

  test('lists are of the kind that the definition names', async () => {
    expect((await client.get('/apis/sea.example.com/v1/ships')).kind).toBe('Fleet');
  });
});
