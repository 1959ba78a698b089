import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, ApiRequest, TestList, TestObject } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { stallOf } from './measure.ts';

/* Faults that this language invites: keys that mean something to it, numbers that it cannot hold, and one thread for everybody. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

let server: ServerProcess;
let admin: ApiClient;

beforeAll(async () => {
  server = await startServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
  admin = server.client();
});
afterAll(async () => {
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

const send = (method: string, path: string, type: string, body: string | Buffer): ApiRequest => ({ method, path, body, headers: { 'content-type': type } });

describe('keys such as __proto__ are data', () => {
  const ODD_KEYS = ['__proto__', 'constructor', 'hasOwnProperty', 'prototype', 'toString', 'valueOf', '__defineGetter__'];
  const ODD_DATA = `{${ODD_KEYS.map((key) => `"${key}":"value of ${key}"`).join(',')}}`;
  /** Labels may not begin with an underscore. */
  const ODD_LABELS = `{${ODD_KEYS.filter((key) => !key.startsWith('_'))
    .map((key) => `"${key}":"x"`)
    .join(',')}}`;
  /** JSON.parse makes own properties of them all. */
  const entriesOf = (text: string): [string, unknown][] => Object.entries(JSON.parse(text) as object).toSorted(([a], [b]) => (a < b ? -1 : 1));

  const expectOdd = (object: TestObject): void => {
    expect(entriesOf(JSON.stringify(object.data))).toEqual(entriesOf(ODD_DATA));
    expect(entriesOf(JSON.stringify(object.metadata.labels ?? {}))).toEqual(entriesOf(ODD_LABELS));
  };
  const get = async (name: string, accept = 'application/json'): Promise<TestObject> =>
    (await admin.expect(200, { path: `${CONFIG_MAPS}/${name}`, headers: { accept } })).json();

  test('in JSON, and back in every form', async () => {
    await admin.expect(201, send('POST', CONFIG_MAPS, 'application/json', `{"metadata":{"name":"constructor","labels":${ODD_LABELS}},"data":${ODD_DATA}}`));
    expectOdd(await get('constructor'));
    const { body } = await admin.expect(200, { path: `${CONFIG_MAPS}/constructor`, headers: { accept: PROTOBUF } });
    expectOdd((await admin.expect(200, send('PUT', `${CONFIG_MAPS}/constructor`, PROTOBUF, body))).json());
    const yaml = await admin.expect(200, { path: `${CONFIG_MAPS}/constructor`, headers: { accept: 'application/yaml' } });
    expectOdd((await admin.expect(200, send('PUT', `${CONFIG_MAPS}/constructor`, 'application/yaml', yaml.body))).json());
  });

  test.each([
    [
      'application/merge-patch+json',
      `{"data":${ODD_DATA},"metadata":{"labels":${ODD_LABELS}},"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}`,
    ],
    ['application/strategic-merge-patch+json', `{"data":${ODD_DATA},"metadata":{"labels":${ODD_LABELS}},"__proto__":{"polluted":"yes"}}`],
    ['application/json-patch+json', `[{"op":"add","path":"/data","value":${ODD_DATA}},{"op":"add","path":"/metadata/labels","value":${ODD_LABELS}}]`],
    ['application/apply-patch+yaml', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched","labels":${ODD_LABELS}},"data":${ODD_DATA}}`],
  ])('in %s', async (type, body) => {
    await admin.create(CONFIG_MAPS, { metadata: { name: 'patched' } });
    await admin.expect(200, send('PATCH', `${CONFIG_MAPS}/patched?fieldManager=m${type.includes('apply') ? '&force=true' : ''}`, type, body));
    expectOdd(await get('patched'));
    const { items } = await admin.get<TestList>(`${CONFIG_MAPS}?labelSelector=constructor%3Dx`);
    expect(items.map(({ metadata }) => metadata.name)).toContain('patched');
    await admin.delete(`${CONFIG_MAPS}/patched`);
  });

  test('a path of them leads nowhere, and poisons nothing', async () => {
    await admin.create(CONFIG_MAPS, { metadata: { name: 'plain' }, data: { a: 'b' } });
    for (const path of ['/__proto__/polluted', '/constructor/prototype/polluted', '/data/__proto__/polluted', '/metadata/constructor/prototype/polluted']) {
      const answer = await admin.send(
        send('PATCH', `${CONFIG_MAPS}/plain`, 'application/json-patch+json', JSON.stringify([{ op: 'add', path, value: 'yes' }])),
      );
      expect([path, answer.status]).toEqual([path, 422]);
    }
    const text = (await admin.send({ path: `${CONFIG_MAPS}/plain` })).text;
    expect(text).not.toContain('polluted');
    expect(entriesOf(JSON.stringify((JSON.parse(text) as TestObject).data))).toEqual([['a', 'b']]);
    expect((await admin.send({ path: `${CONFIG_MAPS}?labelSelector=constructor,!hasOwnProperty` })).json<TestList>().items).toEqual([]);
    expect((await admin.send({ path: `${CONFIG_MAPS}?labelSelector=!constructor&fieldSelector=metadata.name%3Dplain` })).json<TestList>().items).toHaveLength(
      1,
    );
  });

  test.each([
    '/api/v1/constructor',
    '/api/v1/__proto__',
    '/api/v1/namespaces/default/toString',
    '/api/v1/namespaces/default/pods/p/constructor',
    '/api/v1/namespaces/default/pods/p/__proto__',
    '/api/constructor/pods',
    '/apis/constructor/v1/pods',
    '/apis/apps/__proto__/deployments',
    '/apis/__proto__/__proto__/__proto__/__proto__',
    '/__proto__',
    '/constructor',
    '/healthz/constructor',
    '/openapi/v3/__proto__',
  ])('%s is not found', async (path) => {
    expect((await admin.send({ path })).status).toBe(404);
  });

  test.each<[ApiRequest, number]>([
    [{ path: `${CONFIG_MAPS}?fieldSelector=constructor%3Dx` }, 400],
    [{ path: `${CONFIG_MAPS}?fieldSelector=__proto__%3Dx` }, 400],
    [{ path: `${PODS}?fieldSelector=toString%3Dx` }, 400],
    [{ path: CONFIG_MAPS, headers: { accept: '__proto__/constructor' } }, 406],
    [send('POST', CONFIG_MAPS, 'constructor', '{}'), 415],
    [send('PATCH', `${CONFIG_MAPS}/plain`, '__proto__', '{}'), 415],
    [send('POST', CONFIG_MAPS, 'application/json', '{"kind":"constructor","apiVersion":"__proto__"}'), 400],
    [send('POST', CONFIG_MAPS, 'application/yaml', '__proto__: {polluted: yes}\nkind: toString\n'), 400],
    [send('POST', CONFIG_MAPS, 'application/yaml', '"__proto__": &a {polluted: yes}\n<<: *a\nmetadata: {}\n'), 422],
  ])('%j', async (request, code) => {
    expect((await admin.send(request)).status).toBe(code);
  });
});

describe('integers beyond 2^53 are exact where the type is int64', () => {
  const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
  const EXACT = ['9007199254740993', '9223372036854775807', '1152921504606846977'];

  test.each(EXACT)('%s, through every form', async (number) => {
    const name = `r${number}`;
    const path = `${REVISIONS}/${name}`;
    const has = (text: string): void => {
      expect(text).toMatch(new RegExp(`"?revision"?: ?${number}\\b`));
      expect(text).toMatch(new RegExp(`"?any"?: ?${number}\\b`));
    };
    has(
      (await admin.expect(201, send('POST', REVISIONS, 'application/json', `{"metadata":{"name":"${name}"},"revision":${number},"data":{"any":${number}}}`)))
        .text,
    );
    const protobuf = await admin.expect(200, { path, headers: { accept: PROTOBUF } });
    has((await admin.expect(200, send('PUT', path, PROTOBUF, protobuf.body))).text);
    const yaml = await admin.expect(200, { path, headers: { accept: 'application/yaml' } });
    has(yaml.text);
    has((await admin.expect(200, send('PUT', path, 'application/yaml', yaml.body))).text);
    has((await admin.expect(200, send('PATCH', path, 'application/merge-patch+json', '{"metadata":{"labels":{"a":"b"}}}'))).text);
    has((await admin.send({ path: `${REVISIONS}?fieldSelector=metadata.name%3D${name}` })).text);
  });

  test('what does not fit is refused', async () => {
    const answer = await admin.send(send('POST', REVISIONS, 'application/json', '{"metadata":{"name":"x"},"revision":9223372036854775808,"data":{}}'));
    expect([answer.status, answer.json<{ message: string }>().message]).toEqual([400, expect.stringContaining('cannot unmarshal number 9223372036854775808')]);
  });
});

describe('one body does not keep everybody else waiting', () => {
  /** An idle machine keeps to 250 ms, but for 30,000 variables or ports (400 ms, a third of it garbage collection); the machine that runs this may be anything but idle. */
  const BUSY_MS_MAX = 600;
  const MIB = 1024 * 1024;
  const list = (count: number, item: (index: number) => string): string => Array.from({ length: count }, (_, index) => item(index)).join(',');
  const named = (rest: string): string => `{"metadata":{"generateName":"x"},${rest}}`;
  const json = (body: string, path = CONFIG_MAPS): ApiRequest => send('POST', path, 'application/json', body);
  const yaml = (body: string): ApiRequest => send('POST', CONFIG_MAPS, 'application/yaml', body);
  const pod = (container: string, spec = ''): string => named(`"spec":{"containers":[{"name":"a","image":"b"${container}}]${spec}}`);
  const url = (query: string): ApiRequest => ({ path: `${CONFIG_MAPS}?${query}` });

  const WORK: [string, ApiRequest][] = [
    ['JSON, one long text', json(named(`"data":{"a":"${'x'.repeat(3 * MIB - 100)}"}`))],
    ['JSON, escapes', json(named(`"data":{"a":"${'\\n'.repeat(1.5 * MIB - 100)}"}`))],
    ['JSON, halves of characters', json(named(`"data":{"a":"${'\\ud800'.repeat(MIB / 2 - 100)}"}`))],
    ['JSON, a long number', json(named(`"x":${'9'.repeat(3 * MIB - 100)}`))],
    ['JSON, a long name', json(`{"metadata":{"name":"${'a'.repeat(3 * MIB - 100)}"}}`)],
    ['JSON, a long name of labels', json(`{"metadata":{"name":"${'a.'.repeat(1.5 * MIB - 100)}!"}}`)],
    ['JSON, a long unknown field', json(`{"${'k'.repeat(3 * MIB - 100)}":1}`)],
    ['JSON, keys', json(named(`"data":{${list(20_000, (i) => `"k${i}":""`)}}`))],
    ['JSON, bad keys', json(named(`"data":{${list(20_000, (i) => `"!${i}":""`)}}`))],
    ['JSON, bad labels', json(`{"metadata":{"name":"x","labels":{${list(20_000, (i) => `"!${i}":""`)}}}}`)],
    ['JSON, keys, too many', json(named(`"data":{${list(250_000, (i) => `"k${i}":""`)}}`))],
    ['JSON, one key again and again', json(named(list(400_000, () => '"a":1')))],
    ['JSON, a million empty containers', json(named(`"spec":{"containers":[${list(MIB - 100, () => '{}')}]}`), PODS)],
    ['JSON, 90,000 empty containers', json(named(`"spec":{"containers":[${list(90_000, () => '{}')}]}`), PODS)],
    ['JSON, 30,000 variables', json(pod(`,"env":[${list(30_000, (i) => `{"name":"E${i}","value":"v"}`)}]`), PODS)],
    ['JSON, 30,000 ports', json(pod(`,"ports":[${list(30_000, (i) => `{"containerPort":${i + 1}}`)}]`), PODS)],
    ['JSON, 30,000 tolerations', json(pod('', `,"tolerations":[${list(30_000, (i) => `{"key":"k${i}","operator":"Exists"}`)}]`), PODS)],
    ['JSON, 30,000 finalizers', json(`{"metadata":{"generateName":"x","finalizers":[${list(30_000, (i) => `"example.org/f${i}"`)}]}}`)],
    ['JSON, nested without end', json('['.repeat(3 * MIB - 100))],
    ['YAML, dense', yaml('- a\n'.repeat((3 * MIB) / 4 - 100))],
    ['YAML, 12,000 lines', yaml(`metadata: {generateName: x}\ndata:\n${Array.from({ length: 12_000 }, (_, i) => `  k${i}: v\n`).join('')}`)],
    ['YAML, commas', yaml(`[${','.repeat(99_000)}]`)],
    ['YAML, a block', yaml(`metadata: {generateName: x}\ndata:\n  a: |\n${'    line\n'.repeat(100_000)}`)],
    ['YAML, a text of many lines', yaml(`a:\n${'  x\n'.repeat(700_000)}`)],
    ['YAML, aliases', yaml(`a: &a "${'x'.repeat(100_000)}"\nb: [${list(20_000, () => '*a')}]`)],
    [
      'protobuf, empty messages',
      send(
        'POST',
        CONFIG_MAPS,
        PROTOBUF,
        Buffer.concat([Buffer.from('k8s\0\x12\x80\x80\x80\x01', 'latin1'), Buffer.alloc(2 * MIB, Buffer.from([0x0a, 0x00]))]),
      ),
    ],
    [
      'a JSON patch of 10,000 insertions',
      send(
        'PATCH',
        `${CONFIG_MAPS}/patched`,
        'application/json-patch+json',
        `[${list(10_000, (i) => `{"op":"add","path":"/metadata/finalizers/0","value":"example.org/f${i}"}`)}]`,
      ),
    ],
    [
      'a JSON patch of one long path',
      send('PATCH', `${CONFIG_MAPS}/patched`, 'application/json-patch+json', `[{"op":"add","path":"${'/a'.repeat(1.5 * MIB - 100)}","value":1}]`),
    ],
    [
      'an apply patch',
      send(
        'PATCH',
        `${CONFIG_MAPS}/patched?fieldManager=m&force=true`,
        'application/apply-patch+yaml',
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched"},"data":{${list(15_000, (i) => `"k${i}":"v"`)}}}`,
      ),
    ],
    ['a selector of 1,000 labels', url(`labelSelector=${list(1_000, (i) => `a!%3D${i}`)}`)],
    ['a selector of 100,000 labels', url(`labelSelector=${'a,'.repeat(100_000)}a`)],
    ['a selector of 20,000 values', url(`labelSelector=a+in+(${list(20_000, (i) => `v${i}`)})`)],
    ['a selector of 200,000 parentheses', url(`labelSelector=${'('.repeat(200_000)}`)],
    ['a path of 60,000 segments', { path: `/api/v1/${'%41/'.repeat(60_000)}` }],
    ['a selector of 300,000 labels', url(`labelSelector=${'a,'.repeat(300_000)}a`)],
    ['a selector of 100,000 values', url(`labelSelector=a+in+(${list(100_000, (i) => `v${i}`)})`)],
    ['a selector of parentheses', url(`labelSelector=${'('.repeat(1_000_000)}`)],
    ['a query of 10,000 parameters', url('%77atcX&'.repeat(9_999))],
    ['a query of more', url('+&'.repeat(500_000))],
    ['a path of segments', { path: `/api/v1/${'%41/'.repeat(250_000)}` }],
  ];

  beforeAll(async () => {
    await admin.create(CONFIG_MAPS, { metadata: { name: 'patched', finalizers: ['example.org/f'] } });
    for (let i = 0; i < 500; i++) await admin.create(CONFIG_MAPS, { metadata: { generateName: 'many-', labels: { a: 'b' } } });
  });

  test.each(WORK)('%s', { timeout: 30_000 }, async (what, request) => {
    let status = 0;
    const { busyMs, waitMs } = await stallOf(server, async () => {
      status = (await admin.send(request)).status;
    });
    expect([200, 201, 400, 403, 404, 413, 414, 422, 500]).toContain(status);
    if (process.env.SECURITY_FIGURES) console.log(`${what}: ${status}, busy ${busyMs?.toFixed(0)} ms, others waited ${waitMs.toFixed(0)} ms`);
    expect(busyMs ?? waitMs).toBeLessThan(BUSY_MS_MAX);
  });
});
