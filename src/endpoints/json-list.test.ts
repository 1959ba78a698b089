import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { schemaOfKind } from '../apis/facts/schemas.ts';
import { decodeEnvelope, decodeProtobuf } from '../schema/protobuf.ts';
import { prettyJson } from '../encoding/json.ts';
import { toYaml } from '../encoding/yaml.ts';
import { configMap, configMaps, serve } from './test-support.ts';

const PATH = '/api/v1/namespaces/ns/configmaps';
const TABLE = ';as=Table;v=v1;g=meta.k8s.io';
const METADATA = ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

/** So many that some forms take more than a slice, and all more than a chunk. */
const COUNTS = [0, 1, 2, 3_000];

function target(count: number): ReturnType<typeof configMaps> {
  const made = configMaps();
  for (let index = 0; index < count; index++)
    made.store.put(configMap(`c${index}`, { a: '<x>'.repeat(40), 'b.txt': `line\n${'y '.repeat(60)}\n`, c: String(index) }));
  return made;
}

async function body(from: ReturnType<typeof configMaps>, accept: string, query = '', headers: Record<string, string> = {}): Promise<Buffer> {
  const { exchange } = await serve(from, 'GET', PATH + query, { headers: { accept, ...headers } });
  expect([exchange.status, exchange.isEnded]).toEqual([200, true]);
  return exchange.body;
}

describe.each(COUNTS)('a list of %i, made in slices, is what it is made at once', (count) => {
  const from = target(count);

  test.each(['', TABLE, METADATA])('as pretty JSON and YAML%s', async (transform) => {
    const json = JSON.parse((await body(from, `application/json${transform}`)).toString()) as { items?: unknown[]; rows?: unknown[] };
    expect((json.items ?? json.rows ?? []).length).toBe(count);
    expect((await body(from, `application/json${transform}`, '?pretty=true')).toString()).toBe(prettyJson(json));
    expect((await body(from, `application/yaml${transform}`)).toString()).toBe(toYaml(json as never));
    const gzipped = await body(from, `application/yaml${transform}`, '', { 'accept-encoding': 'gzip' });
    expect((count > 2 ? gunzipSync(gzipped) : gzipped).toString()).toBe(toYaml(json as never));
  });

  test('as protobuf', async () => {
    const { kind, raw } = decodeEnvelope(await body(from, 'application/vnd.kubernetes.protobuf'));
    const list = decodeProtobuf(schemaOfKind('', 'v1', 'ConfigMapList'), raw) as { items?: { metadata: { name: string } }[] };
    expect([kind, (list.items ?? []).length]).toEqual(['ConfigMapList', count]);
    expect(decodeEnvelope(await body(from, `application/vnd.kubernetes.protobuf${METADATA}`)).kind).toBe('PartialObjectMetadataList');
  });
});
