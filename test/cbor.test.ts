import { beforeAll, describe, expect, test } from 'vitest';
import { encodeCbor } from '../src/schema/cbor-encode.ts';
import { CborReader, decodeCbor } from '../src/encoding/cbor-reader.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import { NAMESPACE, exampleKinds, freshCopy } from './kinds/examples.ts';
import type { Answer, ApiClient } from './support/api-client.ts';
import { openEngine } from '../src/storage/open.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { startServer } from './support/server.ts';

/* CBOR (KEP-4222), with its gate on. What is expected was asked of a kube-apiserver v1.36.4 with the same gate. */

const CBOR = 'application/cbor';
const FORMS = { accept: CBOR, 'content-type': CBOR };
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = `/apis/c.example/v1/namespaces/${NAMESPACE}/things`;

let api: ApiClient;

beforeAll(async () => {
  api = (await startServer({ flags: ['--feature-gates=CBORServingAndStorage=true'] })).client();
  await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
});

const cbor = (value: Json): Buffer => encodeCbor(value, undefined);
const send = (method: string, path: string, body?: Buffer, headers: Record<string, string> = FORMS): Promise<Answer> =>
  api.send({ method, path, headers, ...(body && { body }) });
const read = (answer: Answer): JsonObject => {
  expect(answer.headers['content-type']).toBe(CBOR);
  return decodeCbor(answer.body) as JsonObject;
};
const told = (answer: Answer): unknown[] => [answer.status, read(answer)['message']];
const configMap = (name: string, more: JsonObject = {}): JsonObject => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, ...more });

describe('every kind', () => {
  test.each(exampleKinds().map((kind) => [kind.name, kind] as const))('%s goes in and comes out as it does in JSON', async (_name, kind) => {
    const [example] = kind.examples;
    if (example === undefined) return;
    const object = freshCopy(kind, example);
    const created = await send('POST', kind.path, encodeCbor(object, kind.schema));
    if (created.status !== 201) {
      // What is refused, is so in the same words.
      const asJson = await api.send({ method: 'POST', path: kind.path, body: object });
      expect(told(created)).toEqual([asJson.status, asJson.json<{ message: string }>().message]);
      return;
    }
    const path = `${kind.path}/${encodeURIComponent((read(created)['metadata'] as { name: string }).name)}`;
    const body = await send('GET', path);
    const json = (await api.expect(200, { path })).json<unknown>();
    expect(decodeCbor(body.body)).toEqual(json);
    const put = await send('PUT', path, body.body);
    expect([put.status, put.headers['content-type']]).toEqual([200, CBOR]);
    await send('DELETE', path, cbor({ kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, propagationPolicy: 'Background' }));
  });
});

test('bytes are bytes: a Secret has them in tag 22', async () => {
  const path = `/api/v1/namespaces/${NAMESPACE}/secrets`;
  const answer = await send('POST', path, cbor({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 's' }, data: { a: 'aGk=' } }));
  expect(answer.body.includes(Buffer.from('4161d6426869', 'hex'))).toBe(true);
  expect(read(answer)['data']).toEqual({ a: 'aGk=' });
});

describe('lists and watches', () => {
  beforeAll(() => send('POST', CONFIG_MAPS, cbor(configMap('listed', { data: { a: 'b' } }))));
  const selected = `${CONFIG_MAPS}?fieldSelector=metadata.name%3Dlisted`;

  test('a list is that of JSON', async () => {
    const list = await send('GET', selected);
    expect(read(list)).toEqual((await api.expect(200, { path: selected })).json());
    expect(list.body.subarray(0, 3).toString('hex')).toBe('d9d9f7');
  });

  test('PartialObjectMetadata is, but there are no tables', async () => {
    const partial = await send('GET', selected, undefined, { accept: `${CBOR};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io` });
    expect(read(partial)).toMatchObject({ kind: 'PartialObjectMetadataList', items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'listed' } }] });
    const table = await send('GET', selected, undefined, { accept: `${CBOR};as=Table;v=v1;g=meta.k8s.io` });
    expect([table.status, table.headers['content-type']]).toEqual([406, 'application/json']);
  });

  test('a watch is a sequence of events, each with a tag, and so its object', async () => {
    const answer = await send('GET', `${selected}&watch=1&resourceVersion=0&timeoutSeconds=1`);
    expect(answer.headers['content-type']).toBe('application/cbor-seq');
    expect(answer.body.subarray(0, 26).toString('hex')).toBe('d9d9f7a24474797065454144444544466f626a656374d9d9f7a4');
    expect(eventsIn(answer.body)).toMatchObject([{ type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'listed' }, data: { a: 'b' } } }]);
  });

  test('a client must ask for application/cbor', async () => {
    const answer = await send('GET', `${CONFIG_MAPS}?watch=1`, undefined, { accept: 'application/cbor-seq' });
    expect(answer.status).toBe(406);
    expect(answer.json<{ message: string }>().message).toMatch(/application\/vnd.kubernetes.protobuf, application\/cbor$/);
  });
});

function eventsIn(sequence: Buffer): Json[] {
  const events: Json[] = [];
  for (let rest = sequence; rest.length > 0;) {
    const end = rest.indexOf(Buffer.from('d9d9f7a24474797065', 'hex'), 1);
    const event = end < 0 ? rest : rest.subarray(0, end);
    events.push(new CborReader(event).any());
    rest = rest.subarray(event.length);
  }
  return events;
}

describe('what is refused', () => {
  const unrecognized = (why: string, summary: string): [number, string] => [
    400,
    `the object provided is unrecognized (must be of type ConfigMap): ${why} (${summary})`,
  ];
  const unknownType = 'unable to determine group/version/kind: ';

  test.each<[string, [number, string]]>([
    ['', unrecognized(`${unknownType}EOF`, '<empty>')],
    ['a1', unrecognized(`${unknownType}unexpected EOF`, 'a1')],
    ['f97e00', unrecognized(`${unknownType}cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN`, 'f97e00')],
    [
      '80',
      unrecognized(
        `${unknownType}cbor: cannot unmarshal array into Go value of type v1.TypeMeta (cannot decode CBOR array to struct without toarray option)`,
        '80',
      ),
    ],
    [
      'a2446b696e6449436f6e6669674d6170646461746101',
      [
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.data of type map[string]string',
      ],
    ],
  ])('%s', async (hex, expected) => expect(told(await send('POST', CONFIG_MAPS, Buffer.from(hex, 'hex')))).toEqual(expected));

  test('unknown fields, where clients want them refused; else they are warned', async () => {
    const body = cbor(configMap('u', { zzz: 1 }));
    const strict = await send('POST', `${CONFIG_MAPS}?fieldValidation=Strict`, body);
    const message = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: cbor: found unknown field at map element index 0';
    expect(told(strict)).toEqual([400, message]);
    const warned = await send('POST', `${CONFIG_MAPS}?dryRun=All`, body);
    expect([warned.status, warned.headers['warning']]).toEqual([201, '299 - "cbor: found unknown field at map element index 0"']);
  });

  test('what the server says before it comes to a resource is JSON', async () => {
    expect((await send('GET', '/api/v1/nosuch')).headers['content-type']).toBe('application/json');
    expect((await send('GET', '/apis')).status).toBe(406);
    expect(read(await send('GET', '/apis/apps/v1'))).toMatchObject({ kind: 'APIResourceList', groupVersion: 'apps/v1' });
    expect(told(await send('GET', `${CONFIG_MAPS}/none`))).toEqual([404, 'configmaps "none" not found']);
  });
});

describe('apply', () => {
  const headers = { accept: CBOR, 'content-type': 'application/apply-patch+cbor' };
  const apply = (body: Buffer, query = 'fieldManager=me'): Promise<Answer> => send('PATCH', `${CONFIG_MAPS}/applied?${query}`, body, headers);

  test('creates, owns, and conflicts', async () => {
    const created = await apply(cbor(configMap('applied', { data: { a: '1' } })));
    expect(created.status).toBe(201);
    expect(read(created)).toMatchObject({ metadata: { managedFields: [{ manager: 'me', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } }] } });
    const other = await apply(cbor(configMap('applied', { data: { a: '2' } })), 'fieldManager=other');
    expect(told(other)).toEqual([409, 'Apply failed with 1 conflict: conflict with "me": .data.a']);
    expect((await apply(cbor(configMap('applied', { data: { a: '2' } })), 'fieldManager=other&force=true')).status).toBe(200);
  });

  test.each([
    ['a1', 'error decoding YAML: unexpected EOF'],
    ['80', 'error decoding YAML: cbor: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['a2416101416101', 'error decoding YAML: cbor: found duplicate map key "a" at map element index 1'],
  ])('refuses %s', async (hex, message) => expect(told(await apply(Buffer.from(hex, 'hex')))).toEqual([400, message]));
});

test('custom resources', async () => {
  const names = { plural: 'things', kind: 'Thing', singular: 'thing', listKind: 'ThingList' };
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { n: { type: 'integer' }, f: { type: 'number' } } } } };
  const spec = { group: 'c.example', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }] };
  const kind = { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' };
  expect((await send('POST', DEFINITIONS, cbor({ ...kind, metadata: { name: 'things.c.example' }, spec }))).status).toBe(201);
  await expect.poll(async () => (await api.send({ path: THINGS })).status).toBe(200);

  const thing = { kind: 'Thing', apiVersion: 'c.example/v1', metadata: { name: 't' }, spec: { n: 5, f: 1.5, unknown: true } };
  const created = await send('POST', `${THINGS}?fieldValidation=Strict`, cbor(thing));
  // Upstream prunes what it does not know, but does not look for it in CBOR.
  expect([created.status, read(created)['spec']]).toEqual([201, { n: 5, f: 1.5 }]);
  expect(read(await send('GET', THINGS))).toEqual((await api.expect(200, { path: THINGS })).json());
  const nameless = await send('POST', THINGS, Buffer.from('a1416101', 'hex'));
  expect(told(nameless)).toEqual([400, "the object provided is unrecognized (must be of type Thing): Object 'Kind' is missing in '{'a': 1}' (a1416101)"]);
});

describe.runIf(hasEtcd())('on etcd', () => {
  /** As a kube-apiserver v1.36.4 with the gate has it at this key, its uid and times aside. */
  test('custom resources are stored in CBOR, and read in both forms when the gate moves', async () => {
    const { endpoints } = await startEtcd();
    const definition = {
      metadata: { name: 'things.c.example' },
      spec: {
        group: 'c.example',
        names: { plural: 'things', kind: 'Thing' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
      },
    };
    const things = '/apis/c.example/v1/namespaces/default/things';
    const storedAt = async (name: string): Promise<Buffer> => {
      const engine = await openEngine({ backend: 'etcd3', endpoints: [...endpoints] });
      const stored = await engine.get(`/registry/c.example/things/default/${name}`);
      await engine.close();
      return Buffer.from(stored!.value);
    };
    const thing = (name: string) => ({ apiVersion: 'c.example/v1', kind: 'Thing', metadata: { name }, number: 7, text: 'text', list: [1.5, true, null] });
    let server = await startServerOnEtcd(endpoints, { flags: ['--feature-gates=CBORServingAndStorage=true'] });
    await server.client().create(DEFINITIONS, definition);
    await expect.poll(async () => (await server.client().send({ path: things })).status).toBe(200);
    await server.client().create(things, thing('one'));
    const stored = await storedAt('one');
    expect(stored.subarray(0, 3).toString('hex')).toBe('d9d9f7');
    expect(decodeCbor(stored)).toMatchObject({ ...thing('one'), metadata: { name: 'one' } });
    await server.stop();

    server = await startServerOnEtcd(endpoints);
    expect(await server.client().get(`${things}/one`)).toMatchObject(thing('one'));
    await server.client().create(things, thing('two'));
    expect((await storedAt('two')).subarray(0, 1).toString()).toBe('{');
    await server.stop();
  });
});
