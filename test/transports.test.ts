import { request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { Answer, ApiClient, TestEvent, TestList, TestObject } from './support/api-client.ts';
import { Http2Client } from './support/http2-client.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* Every representation of objects over the real port, and the headers around them. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SHOWN = `${CONFIG_MAPS}/shown`;
const WATCH_SHOWN = `${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name=shown&resourceVersion=0`;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = 'as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const PARTIAL_LIST = 'as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
/** What an object in protobuf begins with (apimachinery/pkg/runtime/serializer/protobuf). */
const PROTOBUF_MAGIC = Buffer.from('k8s\0');

const FLAGS = [
  '--cors-allowed-origins=^https://console\\.example$',
  '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
  '--max-requests-inflight=400',
  '--max-mutating-requests-inflight=1',
  '--enable-priority-and-fairness=false',
];

let server: ServerProcess;
let client: ApiClient;

beforeAll(async () => {
  server = await startServer({ flags: FLAGS });
  client = server.client();
  await client.create(CONFIG_MAPS, { metadata: { name: 'shown', labels: { a: 'b' } }, data: { key: 'value' } });
});
afterAll(() => server.stop());

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> => client.send({ path, headers });
const accept = (type: string): Record<string, string> => ({ accept: type });

interface Table {
  kind: string;
  columnDefinitions: { name: string }[] | null;
  rows: { cells: unknown[]; object: TestObject }[];
}

describe('an object', () => {
  test.each(['', '*/*', 'application/json', 'text/html, application/json;q=0.9', 'application/cbor;q=0.1, application/json'])(
    'as JSON for "%s"',
    async (type) => {
      const answer = await get(SHOWN, type === '' ? {} : accept(type));
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
      expect(answer.json()).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'shown' }, data: { key: 'value' } });
      expect(answer.text.endsWith('}\n')).toBe(true);
    },
  );

  test('as YAML', async () => {
    const answer = await get(SHOWN, accept('application/yaml'));
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/yaml']);
    expect(parseYaml(answer.text)).toEqual((await get(SHOWN)).json());
  });

  test('as protobuf, which can be sent back as it came', async () => {
    const answer = await get(SHOWN, accept(PROTOBUF));
    expect([answer.status, answer.headers['content-type']]).toEqual([200, PROTOBUF]);
    expect(answer.body.subarray(0, 4)).toEqual(PROTOBUF_MAGIC);
    const back = await client.expect(200, { method: 'PUT', path: SHOWN, body: answer.body, headers: { 'content-type': PROTOBUF } });
    expect(back.json()).toEqual((await get(SHOWN)).json());
  });

  test('as a table', async () => {
    const answer = await get(SHOWN, accept(`application/json;${TABLE}`));
    const table = answer.json<Table>();
    expect(table.kind).toBe('Table');
    expect(table.columnDefinitions?.map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
    expect(table.rows).toMatchObject([
      { cells: ['shown', 1, expect.stringMatching(/^\d+[smh]/)], object: { kind: 'PartialObjectMetadata', metadata: { name: 'shown' } } },
    ]);
    const yaml = parseYaml((await get(SHOWN, accept(`application/yaml;${TABLE}`))).text) as Table;
    expect(yaml.rows[0]!.cells[0]).toBe('shown');
    expect((await get(SHOWN, accept(`${PROTOBUF};${TABLE}`))).status).toBe(406);
    // What kubectl sends: the first that can be had.
    expect((await get(SHOWN, accept(`${PROTOBUF};${TABLE},application/json;${TABLE},application/json`))).json<Table>().kind).toBe('Table');
  });

  test('as its metadata alone', async () => {
    const answer = await get(SHOWN, accept(`application/json;${PARTIAL}`));
    expect(answer.json()).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'shown', labels: { a: 'b' } } });
    expect(answer.json()).not.toHaveProperty('data');
    const protobuf = await get(SHOWN, accept(`${PROTOBUF};${PARTIAL}`));
    expect([protobuf.headers['content-type'], protobuf.body.subarray(0, 4)]).toEqual([PROTOBUF, PROTOBUF_MAGIC]);
    expect(protobuf.body.includes('PartialObjectMetadata')).toBe(true);
    expect(parseYaml((await get(SHOWN, accept(`application/yaml;${PARTIAL}`))).text)).toMatchObject({ kind: 'PartialObjectMetadata' });
  });

  // Upstream's router knows no `application/*`.
  test.each(['text/plain', 'application/*'])('not as %s', async (type) => {
    const answer = await get(SHOWN, accept(type));
    expect([answer.status, answer.json<{ reason: string }>().reason]).toEqual([406, 'NotAcceptable']);
  });
});

describe('a list', () => {
  const list = `${CONFIG_MAPS}?fieldSelector=metadata.name=shown`;

  test('as JSON, YAML, protobuf, a table and metadata', async () => {
    const json = (await get(list)).json<TestList>();
    expect(json).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'shown' } }] });
    expect(json.items[0]).not.toHaveProperty('kind');
    expect(parseYaml((await get(list, accept('application/yaml'))).text)).toMatchObject({ kind: 'ConfigMapList', items: json.items });
    const protobuf = await get(list, accept(PROTOBUF));
    expect([protobuf.headers['content-type'], protobuf.body.subarray(0, 4)]).toEqual([PROTOBUF, PROTOBUF_MAGIC]);
    expect((await get(list, accept(`application/json;${TABLE}`))).json<Table>().rows).toHaveLength(1);
    expect((await get(list, accept(`application/json;${PARTIAL_LIST}`))).json<TestList>()).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'shown' } }],
    });
    expect((await get(list, accept(`${PROTOBUF};${PARTIAL_LIST}`))).body.includes('PartialObjectMetadataList')).toBe(true);
  });
});

const firstEvent = async (type: string): Promise<TestEvent> => {
  const response = await client.open({ path: WATCH_SHOWN, headers: accept(type) });
  expect(response.statusCode).toBe(200);
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  response.destroy();
  return JSON.parse(text.slice(0, text.indexOf('\n'))) as TestEvent;
};

describe('a watch', () => {
  test('as JSON lines', async () => {
    const response = await client.open({ path: WATCH_SHOWN });
    expect([response.headers['content-type'], response.headers['transfer-encoding']]).toEqual(['application/json', 'chunked']);
    response.destroy();
    expect(await firstEvent('application/json')).toMatchObject({ type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'shown' } } });
    expect(await firstEvent('application/json;stream=watch')).toMatchObject({ type: 'ADDED' });
  });

  test('of tables and of metadata', async () => {
    expect(await firstEvent(`application/json;${TABLE}`)).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', rows: [{ cells: ['shown', 1, expect.any(String)] }] },
    });
    expect(await firstEvent(`application/json;${PARTIAL}`)).toMatchObject({
      type: 'ADDED',
      object: { kind: 'PartialObjectMetadata', metadata: { name: 'shown' } },
    });
  });

  test('as protobuf in frames of a length and an event', async () => {
    const response = await client.open({ path: WATCH_SHOWN, headers: accept(`${PROTOBUF};stream=watch`) });
    expect(response.headers['content-type']).toBe(`${PROTOBUF};stream=watch`);
    let received = Buffer.alloc(0);
    for await (const chunk of response) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) break;
    }
    response.destroy();
    const frame = received.subarray(4, 4 + received.readUInt32BE(0));
    // meta/v1 WatchEvent: type 1, object 2 (RawExtension: raw 1), the object with its own envelope.
    expect(frame.subarray(0, 7)).toEqual(Buffer.from('\x0a\x05ADDED'));
    expect([frame.includes(PROTOBUF_MAGIC), frame.includes('shown')]).toEqual([true, true]);
  });

  test('not as YAML', async () => {
    expect((await get(WATCH_SHOWN, accept('application/yaml'))).status).toBe(406);
  });
});

describe('what is sent', () => {
  test('may be YAML', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-yaml\ndata:\n  key: "on"\n';
    const answer = await client.expect(201, { method: 'POST', path: CONFIG_MAPS, body, headers: { 'content-type': 'application/yaml' } });
    expect(answer.json()).toMatchObject({ data: { key: 'on' } });
  });

  test('must be of a known type, and not too large', async () => {
    const unknown = await client.send({ method: 'POST', path: CONFIG_MAPS, body: 'x', headers: { 'content-type': 'text/plain' } });
    expect([unknown.status, unknown.json<{ reason: string }>().reason]).toEqual([415, 'UnsupportedMediaType']);
    const large = await client.send({ method: 'POST', path: CONFIG_MAPS, body: Buffer.alloc(3 * 1024 * 1024 + 1, ' ') });
    expect([large.status, large.json<{ reason: string }>().reason]).toEqual([413, 'RequestEntityTooLarge']);
  });

  test('is warned about in the Warning header', async () => {
    const body = { metadata: { name: 'warned' }, unknown: 1 };
    const answer = await client.expect(201, { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body });
    expect(answer.headers.warning).toBe('299 - "unknown field \\"unknown\\""');
  });
});

describe('an answer', () => {
  test('is compressed when it is long and the client can read that', async () => {
    for (let part = 0; part < 3; part++)
      await client.create(CONFIG_MAPS, { metadata: { name: `long-${part}`, labels: { long: 'yes' } }, data: { text: 'x'.repeat(60_000) } });
    const long = `${CONFIG_MAPS}?labelSelector=long`;
    const plain = await get(long);
    const packed = await get(long, { 'accept-encoding': 'gzip' });
    expect([plain.headers['content-encoding'], packed.headers['content-encoding'], packed.headers.vary]).toEqual([undefined, 'gzip', 'Accept-Encoding']);
    expect(packed.body.length).toBeLessThan(plain.body.length / 10);
    expect(JSON.parse(gunzipSync(packed.body).toString())).toMatchObject({ items: plain.json<TestList>().items });
    expect((await get(SHOWN, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined();
  });

  test('is laid out for people who ask for it', async () => {
    const laidOut = JSON.stringify((await get(SHOWN)).json(), null, 2);
    expect((await get(`${SHOWN}?pretty=true`)).text).toBe(laidOut);
    expect((await get(SHOWN, { 'user-agent': 'curl/8.0' })).text).toBe(laidOut);
    expect((await get(`${SHOWN}?pretty=false`, { 'user-agent': 'curl/8.0' })).text).not.toBe(laidOut);
  });

  test('is the same over HTTP/2', async () => {
    const http2 = new Http2Client({ port: server.port, ca: server.ca, token: 'admin-token' });
    const answer = await http2.send(SHOWN);
    expect(answer.body).toEqual((await get(SHOWN)).body);
    expect(answer.headers['content-type']).toBe('application/json');
    http2.close();
  });

  test('carries the headers that every answer has', async () => {
    const { headers } = await get(SHOWN);
    expect(headers).toMatchObject({ 'cache-control': 'no-cache, private', 'strict-transport-security': 'max-age=31536000; includeSubDomains' });
    expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect((await get(SHOWN, { 'audit-id': 'mine-1' })).headers['audit-id']).toBe('mine-1');
    expect((await get(SHOWN, { 'audit-id': 'x'.repeat(300) })).headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('methods', () => {
  test('HEAD has the head of GET where there is one', async () => {
    const head = await client.send({ method: 'HEAD', path: '/livez' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect((await client.send({ method: 'HEAD', path: '/version' })).status).toBe(405);
  });

  test.each(['HEAD', 'OPTIONS', 'TRACE'])('%s is none of a resource', async (method) => {
    expect((await client.send({ method, path: SHOWN })).status).toBe(405);
  });

  test('CORS: the origins that are allowed, and no others', async () => {
    const preflight = await client.send({ method: 'OPTIONS', path: SHOWN, headers: { origin: 'https://console.example' } });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, 'https://console.example']);
    expect(preflight.headers['access-control-allow-methods']).toContain('PATCH');
    expect((await get(SHOWN, { origin: 'https://console.example' })).headers).toMatchObject({
      'access-control-allow-origin': 'https://console.example',
      'access-control-allow-credentials': 'true',
    });
    expect((await get(SHOWN, { origin: 'https://console.example.evil' })).headers['access-control-allow-origin']).toBeUndefined();
  });
});

/** A creation whose body never comes to its end. */
function hangingCreate(query: string, token: string): { answer: Promise<number>; cancel(): void } {
  const request = httpsRequest({
    host: '127.0.0.1',
    port: server.port,
    ca: server.ca,
    agent: false,
    method: 'POST',
    path: `${CONFIG_MAPS}${query}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': '1000' },
  });
  const answer = new Promise<number>((resolve) => {
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on('error', () => resolve(0));
  });
  request.write('{');
  const cancel = (): void => void request.destroy();
  onTestFinished(cancel);
  return { answer, cancel };
}

describe('limits', () => {
  test('?timeout= is a deadline', async () => {
    expect(await hangingCreate('?timeout=100ms', 'admin-token').answer).toBe(504);
    const bad = await get(`${SHOWN}?timeout=soon`);
    expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('invalid timeout specified in the request URL')]);
  });

  test('beyond the requests in flight 429 says to come again; administrators always get an answer', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    await client.create(`${rbac}/roles`, { metadata: { name: 'writer' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }] });
    await client.create(`${rbac}/rolebindings`, {
      metadata: { name: 'alice-writes' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'writer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
    const alice = server.client('alice');
    while ((await alice.send({ path: SHOWN })).status === 403);
    const hanging = hangingCreate('', 'alice-token');
    const tryAgain = (): Promise<Answer> => alice.send({ method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: { metadata: { name: 'tried' } } });
    let refused = await tryAgain();
    while (refused.status !== 429) refused = await tryAgain();
    expect([refused.headers['retry-after'], refused.text.trim()]).toEqual(['1', 'Too many requests, please try again later.']);
    expect((await alice.send({ path: SHOWN })).status).toBe(200);
    expect((await client.send({ method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: { metadata: { name: 'admin' } } })).status).toBe(201);
    hanging.cancel();
    let admitted = await tryAgain();
    while (admitted.status === 429) admitted = await tryAgain();
    expect(admitted.status).toBe(201);
  });
});
