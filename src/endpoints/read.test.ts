import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeEnvelope, decodeProtobuf } from '../schema/protobuf.ts';
import { schemaOf } from '../apis/facts/schemas.ts';
import { configMap, configMaps, serve, targetOf } from './test-support.ts';

const ITEM = '/api/v1/namespaces/ns/configmaps/a';
const COLLECTION = '/api/v1/namespaces/ns/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

function threeConfigMaps() {
  const target = configMaps();
  for (const name of ['a', 'b', 'c']) target.store.put(configMap(name, { a: '<1>' }, { on: name === 'a' ? 'yes' : 'no' }));
  return target;
}

describe('get', () => {
  test('answers with the stored bytes and a line end', async () => {
    const target = threeConfigMaps();
    const { exchange } = await serve(target, 'GET', ITEM);
    expect(exchange.status).toBe(200);
    expect(exchange.answerHeaders).toEqual({ 'content-type': 'application/json' });
    expect(exchange.text).toBe(`${target.store.entries.get('a')!.bytes}\n`);
    expect(target.store.entries.get('a')!.made).toEqual([]);
  });

  test('pretty for people', async () => {
    const { exchange } = await serve(threeConfigMaps(), 'GET', `${ITEM}?pretty=true`);
    expect(exchange.text.startsWith('{\n  "kind": "ConfigMap",\n  "apiVersion": "v1",\n  "metadata": {\n    "name": "a",')).toBe(true);
    expect(exchange.text.endsWith('}')).toBe(true);
    const byAgent = await serve(threeConfigMaps(), 'GET', ITEM, { headers: { 'user-agent': 'curl/8' } });
    expect(byAgent.exchange.text).toBe(exchange.text);
    const refused = await serve(threeConfigMaps(), 'GET', `${ITEM}?pretty=0`, { headers: { 'user-agent': 'curl/8' } });
    expect(refused.exchange.text.endsWith('}\n')).toBe(true);
  });

  test('protobuf, made once', async () => {
    const target = threeConfigMaps();
    await serve(target, 'GET', ITEM, { headers: { accept: PROTOBUF } });
    const { exchange } = await serve(target, 'GET', ITEM, { headers: { accept: PROTOBUF } });
    const envelope = decodeEnvelope(exchange.body);
    expect(envelope).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(decodeProtobuf(target.served.schema, envelope.raw)).toMatchObject({ metadata: { name: 'a' }, data: { a: '<1>' } });
    expect(target.store.entries.get('a')!.made).toEqual(['protobuf v1 ConfigMap']);
  });

  test('YAML', async () => {
    const { exchange } = await serve(threeConfigMaps(), 'GET', ITEM, { headers: { accept: 'application/yaml' } });
    expect(exchange.answerHeaders).toEqual({ 'content-type': 'application/yaml' });
    expect(exchange.text).toMatch(/^apiVersion: v1\ndata:\n {2}a: <1>\nkind: ConfigMap\nmetadata:\n/);
  });

  test('only the metadata', async () => {
    const { exchange } = await serve(threeConfigMaps(), 'GET', ITEM, { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } });
    expect(exchange.json).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: expect.objectContaining({ name: 'a', labels: { on: 'yes' } }),
    });
  });

  test('a table of one row', async () => {
    const { exchange } = await serve(threeConfigMaps(), 'GET', `${ITEM}?includeObject=None`, { headers: { accept: TABLE } });
    expect(exchange.json).toMatchObject({
      kind: 'Table',
      metadata: { resourceVersion: '101' },
      rows: [{ cells: ['a', '2026-01-01T00:00:00Z'], object: null }],
    });
  });

  test.each([
    [`${ITEM}?resourceVersion=x`, '', 500, 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'],
    [`${ITEM}?export=true`, '', 400, 'the export parameter, deprecated since v1.14, is no longer supported'],
    ['/api/v1/namespaces/ns/configmaps/none', '', 404, 'configmaps "none" not found'],
    [
      `${ITEM}?includeObject=All`,
      TABLE,
      400,
      `Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`,
    ],
    [
      ITEM,
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      406,
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ],
  ])('%s as %s is refused', async (path, accept, status, message) => {
    const { exchange } = await serve(threeConfigMaps(), 'GET', path, { headers: { accept } });
    expect([exchange.status, exchange.json.message]).toEqual([status, message]);
  });
});

describe('list', () => {
  test('splices the stored bytes, without the type of each item', async () => {
    const target = threeConfigMaps();
    const { exchange } = await serve(target, 'GET', COLLECTION);
    const items = [...target.store.entries.values()].map((entry) => `{${entry.bytes.subarray(entry.typePrefixLength)}`);
    expect(exchange.text).toBe(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"103"},"items":[${items.join(',')}]}\n`);
  });

  test('pages and selectors', async () => {
    const { exchange } = await serve(threeConfigMaps(), 'GET', `${COLLECTION}?limit=1&labelSelector=on%3Dno`);
    expect(exchange.json).toMatchObject({
      metadata: { resourceVersion: '103', continue: 'next', remainingItemCount: 1 },
      items: [{ metadata: { name: 'b' } }],
    });
    const empty = await serve(configMaps(), 'GET', `${COLLECTION}?limit=-1`);
    expect(empty.exchange.json.items).toEqual([]);
  });

  test('custom items keep their type', async () => {
    const target = { ...threeConfigMaps(), isCustom: true };
    const { exchange } = await serve(target, 'GET', COLLECTION);
    expect(exchange.json.items[0]).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
  });

  test('a long one is streamed, and comes out whole', async () => {
    const target = configMaps();
    for (let i = 0; i < 2000; i++) target.store.put(configMap(`c${i}`, { text: 'x'.repeat(i) }));
    target.store.put(configMap('huge', { text: 'y'.repeat(600_000) }));
    const { exchange } = await serve(target, 'GET', COLLECTION);
    expect(exchange.isEnded).toBe(true);
    expect(exchange.json.items.map((item) => item.metadata.name)).toEqual([...target.store.entries.keys()]);

    const zipped = await serve(target, 'GET', COLLECTION, { headers: { 'accept-encoding': 'br, gzip' } });
    expect(zipped.exchange.answerHeaders).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(zipped.exchange.body).equals(exchange.body)).toBe(true);
  });

  test('as a table, with metadata or whole objects beside the cells', async () => {
    const target = threeConfigMaps();
    target.store.definition.table = {
      columns: [
        {
          name: 'Data',
          type: 'string',
          format: '',
          description: 'd',
          priority: 0,
          cell: (object) => Object.keys((object as unknown as { data: object }).data).length,
        },
      ],
    };
    const { exchange } = await serve(target, 'GET', `${COLLECTION}?limit=1`, { headers: { accept: `${TABLE},application/json` } });
    expect(exchange.json).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '103', continue: 'next', remainingItemCount: 2 },
      columnDefinitions: [{ name: 'Data', type: 'string', format: '', description: 'd', priority: 0 }],
      rows: [{ cells: [1], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: expect.objectContaining({ name: 'a' }) } }],
    });
    const whole = await serve(target, 'GET', `${COLLECTION}?includeObject=Object`, { headers: { accept: TABLE.replace('v=v1', 'v=v1beta1') } });
    expect(whole.exchange.json).toMatchObject({ apiVersion: 'meta.k8s.io/v1beta1', rows: [{ object: { kind: 'ConfigMap', data: { a: '<1>' } } }, {}, {}] });
  });

  test('as protobuf, whole and as metadata', async () => {
    const { exchange } = await serve(threeConfigMaps(), 'GET', `${COLLECTION}?limit=2`, { headers: { accept: PROTOBUF } });
    const envelope = decodeEnvelope(exchange.body);
    expect(envelope).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMapList' });
    expect(decodeProtobuf(schemaOf('io.k8s.api.core.v1.ConfigMapList'), envelope.raw)).toMatchObject({
      metadata: { resourceVersion: '103', continue: 'next', remainingItemCount: 1 },
      items: [{ metadata: { name: 'a' } }, {}],
    });
    const partial = await serve(threeConfigMaps(), 'GET', COLLECTION, { headers: { accept: `${PROTOBUF};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io` } });
    const partialEnvelope = decodeEnvelope(partial.exchange.body);
    expect(decodeProtobuf(schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList'), partialEnvelope.raw)).toMatchObject({
      items: [{ metadata: { name: 'a' } }, {}, {}],
    });
  });

  test.each([
    ['limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['labelSelector=%3Dx', 400, "found '=', expected: !, identifier, or 'end of string'"],
    ['fieldSelector=spec.x%3D1', 400, '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['resourceVersion=abc', 400, 'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'],
    [
      'resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    ['sendInitialEvents=true', 422, 'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
  ])('?%s is refused', async (query, status, message) => {
    const { exchange } = await serve(configMaps(), 'GET', `${COLLECTION}?${query}`);
    expect([exchange.status, exchange.json.message]).toEqual([status, message]);
  });

  test('a kind with selectable fields refuses others in its own words', async () => {
    const target = targetOf('Pod', 'pods', '', 'v1', { selectable: { 'spec.nodeName': () => '' } });
    const { exchange } = await serve(target, 'GET', '/api/v1/namespaces/ns/pods?fieldSelector=spec.size%3D1');
    expect(exchange.json).toMatchObject({ code: 400, message: 'field label not supported: spec.size' });
  });
});

const fromStored = (object: { data?: object; kind: string }) => ({ ...object, kind: 'Secret', data: { b: 'Mg==' } });

function converted() {
  const target = configMaps();
  target.store.put(configMap('a'));
  return {
    ...target,
    served: { group: '', version: 'v1', kind: 'Secret', schema: targetOf('Secret', 'secrets').served.schema, fromStored: fromStored as never },
  };
}

describe('another version than the stored one', () => {
  test('is made once for reads, and items leave out its own type', async () => {
    const target = converted();
    const { exchange } = await serve(target, 'GET', ITEM);
    expect(exchange.json).toMatchObject({ kind: 'Secret', data: { b: 'Mg==' } });
    const listed = await serve(target, 'GET', COLLECTION);
    expect(listed.exchange.json).toMatchObject({ kind: 'SecretList', items: [{ metadata: { name: 'a' }, data: { b: 'Mg==' } }] });
    expect(listed.exchange.json.items[0]!.kind).toBeUndefined();
    expect(target.store.entries.get('a')!.made).toEqual(['json v1 Secret']);
    expect(target.store.entries.get('a')!.object()).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
  });
});

describe('methods', () => {
  test.each([
    ['PUT', COLLECTION],
    ['PATCH', COLLECTION],
    ['POST', ITEM],
    ['FOO', COLLECTION],
    ['HEAD', ITEM],
    ['POST', '/api/v1/configmaps'],
    ['DELETE', '/api/v1/configmaps'],
  ])('%s %s is not allowed', async (method, path) => {
    const { exchange } = await serve(configMaps(), method, path);
    expect(exchange.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'the server does not allow this method on the requested resource',
      reason: 'MethodNotAllowed',
      details: {},
      code: 405,
    });
  });

  test('of a custom resource it is said what is not supported, and HEAD reads', async () => {
    const custom = { ...threeConfigMaps(), isCustom: true };
    expect((await serve(custom, 'PATCH', COLLECTION)).exchange.json).toMatchObject({ message: 'name must be provided', code: 400 });
    expect((await serve(custom, 'PATCH', '/api/v1/configmaps')).exchange.json).toMatchObject({
      message: expect.stringMatching(/^\w* ?is not supported on resources of kind "configmaps"$/),
      code: 405,
    });
    expect((await serve(custom, 'HEAD', COLLECTION)).exchange.status).toBe(200);
    expect((await serve(custom, 'HEAD', `${COLLECTION}/nope`)).exchange.status).toBe(404);
  });

  test('of a deprecated resource those are told who get past the router', async () => {
    const target = configMaps();
    const served = { ...target.served, deprecation: 'v1 ConfigMap is old' };
    const warnings = async (method: string, path: string, headers: Record<string, string>): Promise<readonly string[]> =>
      (await serve({ ...target, served }, method, path, { headers })).warnings;
    expect(await warnings('GET', COLLECTION, { accept: 'application/json;as=Nothing;v=v1;g=meta.k8s.io' })).toEqual(['v1 ConfigMap is old']);
    expect(await warnings('GET', COLLECTION, { accept: 'text/html' })).toEqual([]);
    expect(await warnings('PATCH', ITEM, { 'content-type': 'text/html' })).toEqual([]);
  });

  test('nor is what the resource does not offer', async () => {
    const target = targetOf('ConfigMap', 'configmaps', '', 'v1', { verbs: ['create', 'get', 'list'] });
    expect((await serve(target, 'DELETE', ITEM)).exchange.status).toBe(405);
    expect((await serve(target, 'GET', `${COLLECTION}?watch=1`)).exchange.json.message).toBe('watch is not supported on resources of kind "configmaps"');
  });
});
