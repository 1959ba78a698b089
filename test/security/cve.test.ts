import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, ApiRequest, TestList } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';

/*
 * One test for each fault of docs/security-cases.md that requests over HTTP can meet, named by its CVE; those of HTTP/2 stand in cve-http2.test.ts. That page names
 * the tests of the others, which stand beside the parts that they concern.
 */

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SECRET_TEXT = 'c2VjcmV0LXRleHQ=';

let server: ServerProcess;
let admin: ApiClient;

beforeAll(async () => {
  server = await startServer({ flags: ['-v=10', '--disable-admission-plugins=ServiceAccount'] });
  admin = server.client();
  for (const name of ['team', 'team-b', 'vault']) await admin.create('/api/v1/namespaces', { metadata: { name } });
  await admin.create('/api/v1/namespaces/vault/secrets', { metadata: { name: 'gold' }, data: { key: SECRET_TEXT } });
});
afterAll(async () => {
  // Whatever the tests did, the process lives, and ends as it should.
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

interface Failure {
  kind: string;
  code: number;
  reason: string;
  message: string;
}

const failureOf = async (client: ApiClient, request: ApiRequest): Promise<Failure> => (await client.send(request)).json<Failure>();
const codeOf = async (client: ApiClient, request: ApiRequest): Promise<number> => (await client.send(request)).status;
const patch = (path: string, type: string, body: object | string): ApiRequest => ({
  method: 'PATCH',
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': type },
});

describe('CVE-2015-5305: names never lead out of their place in the store', () => {
  test.each([
    '/api/v1/namespaces/team/configmaps/..%2f..%2fsecrets%2fvault%2fgold',
    '/api/v1/namespaces/team/configmaps/../../secrets/vault/gold',
    '/api/v1/namespaces/team/configmaps/%2e%2e/%2e%2e/secrets/vault/gold',
    '/api/v1/namespaces/team/configmaps/..',
    '/api/v1/namespaces/team/configmaps/%2e%2e%2fvault',
    '/api/v1/namespaces/..%2fsecrets/configmaps/gold',
    '/api/v1/namespaces/team%2f..%2fvault/secrets/gold',
    '/api/v1/namespaces/team/secrets/%252e%252e%252fvault%252fgold',
    '/api/v1/namespaces/team/secrets/gold%00',
    '/api/v1/namespaces/team/secrets;vault/gold',
    '/api/v1/namespaces/team/../vault/secrets/gold',
    '/api/v1/namespaces/team//vault/secrets/gold',
  ])('%s', async (path) => {
    const answer = await admin.send({ path });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.json<Failure>().kind).toBe('Status');
    expect(answer.text).not.toContain(SECRET_TEXT);
  });

  test.each(['..', '.', 'a/b', '../secrets/vault/gold', 'a%2fb', 'a\u0000b'])('no object is called %j', async (name) => {
    expect(await codeOf(admin, { method: 'POST', path: CONFIG_MAPS, body: { metadata: { name } } })).toBe(422);
  });

  test('nor does a continue token', async () => {
    for (const start of ['../../secrets/vault/a\0', '/../secrets/vault/a', 'a/../../secrets', './x', 'a//b']) {
      const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start })).toString('base64url');
      expect(await failureOf(admin, { path: `${CONFIG_MAPS}?limit=500&continue=${token}` })).toMatchObject({ code: 400, reason: 'BadRequest' });
    }
  });
});

test('CVE-2016-1905: what a patch makes goes through admission, whichever way it is made', async () => {
  // The right to patch roles is not the right to give what one does not hold: admission is who says so, of the object as patched.
  const role = `${RBAC}/namespaces/team/roles/grow`;
  await admin.create(`${RBAC}/namespaces/team/roles`, {
    metadata: { name: 'editor' },
    rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['get', 'patch'] }],
  });
  await bind('team', 'alice', 'editor');
  await admin.create(`${RBAC}/namespaces/team/roles`, { metadata: { name: 'grow' }, rules: [] });
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
  const patches = [
    patch(role, 'application/json-patch+json', [{ op: 'add', path: '/rules', value: rules }]),
    patch(role, 'application/merge-patch+json', { rules }),
    patch(role, 'application/strategic-merge-patch+json', { rules }),
    patch(`${role}?fieldManager=m&force=true`, 'application/apply-patch+yaml', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'grow' },
      rules,
    }),
  ];
  for (const each of patches) {
    const failure = await failureOf(server.client('alice'), each);
    expect(failure).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(failure.message).toContain('is attempting to grant RBAC permissions not currently held');
  }
  expect(await codeOf(server.client('alice'), patch(role, 'application/merge-patch+json', { metadata: { labels: { a: 'b' } } }))).toBe(200);
});

/** Gives a user a role of a namespace. */
const bind = (namespace: string, user: string, role: string): Promise<unknown> =>
  admin.create(`${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { generateName: 'bound-' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });

describe('CVE-2019-11247: a role of a namespace gives nothing of the cluster', () => {
  beforeAll(async () => {
    await admin.create(`${RBAC}/namespaces/team/roles`, { metadata: { name: 'all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
    await bind('team', 'bob', 'all');
  });

  test.each([
    'api/v1/namespaces/team/nodes',
    'api/v1/namespaces/team/persistentvolumes',
    'api/v1/namespaces/team/namespaces',
    'api/v1/namespaces/team/namespaces/vault',
    'api/v1/watch/namespaces/team/nodes',
    'apis/rbac.authorization.k8s.io/v1/namespaces/team/clusterroles',
    'apis/rbac.authorization.k8s.io/v1/namespaces/team/clusterroles/cluster-admin',
    'apis/apiextensions.k8s.io/v1/namespaces/team/customresourcedefinitions',
    'apis/apiregistration.k8s.io/v1/namespaces/team/apiservices',
    'apis/certificates.k8s.io/v1/namespaces/team/certificatesigningrequests',
  ])('GET /%s', async (path) => {
    expect(await failureOf(server.client('bob'), { path: `/${path}` })).toMatchObject({
      code: 404,
      message: 'the server could not find the requested resource',
    });
  });

  test('writes neither', async () => {
    const bob = server.client('bob');
    const binding = {
      metadata: { name: 'mine' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', name: 'bob' }],
    };
    expect(await codeOf(bob, { method: 'POST', path: `${RBAC}/namespaces/team/clusterrolebindings`, body: binding })).toBe(404);
    expect(await codeOf(bob, { method: 'DELETE', path: '/api/v1/namespaces/team/namespaces/vault' })).toBe(404);
    expect(await codeOf(bob, { method: 'DELETE', path: '/api/v1/namespaces/team/nodes' })).toBe(404);
    expect(await codeOf(bob, { path: '/api/v1/namespaces/team/configmaps' })).toBe(200);
  });
});

describe('of the same kind: the verb that is authorized is the verb that is done', () => {
  beforeAll(async () => {
    await admin.create(`${RBAC}/namespaces/team-b/roles`, {
      metadata: { name: 'look' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'proxy'] }],
    });
    await bind('team-b', 'mallory', 'look');
    await admin.create('/api/v1/namespaces/team-b/serviceaccounts', { metadata: { name: 'robot' } });
    await admin.create('/api/v1/namespaces/team-b/configmaps', { metadata: { name: 'kept' } });
  });

  test.each([
    ['POST', 'watch/namespaces/team-b/serviceaccounts/robot/token', 404],
    ['PUT', 'watch/namespaces/team-b/pods/p/status', 404],
    ['GET', 'watch/namespaces/team-b/pods/p/exec', 404],
    ['POST', 'watch/namespaces/team-b/pods/p/eviction', 404],
    ['DELETE', 'watch/namespaces/team-b/configmaps', 405],
    ['DELETE', 'watch/namespaces/team-b/configmaps/kept', 405],
    ['POST', 'watch/namespaces/team-b/configmaps', 405],
    ['PUT', 'watch/namespaces/team-b/configmaps/kept', 405],
    ['DELETE', 'proxy/namespaces/team-b/configmaps', 404],
    ['DELETE', 'proxy/namespaces/team-b/configmaps/kept', 404],
    ['PUT', 'proxy/namespaces/team-b/configmaps/kept', 404],
    ['GET', '%77atch/namespaces/team-b/pods/p/exec', 404],
  ])('%s /api/v1/%s', async (method, path, code) => {
    const mallory = server.client('mallory');
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: { metadata: { name: 'kept' }, data: { a: 'b' } } };
    expect(await failureOf(mallory, { method, path: `/api/v1/${path}`, ...body })).toMatchObject({ kind: 'Status', code });
    expect(await admin.get('/api/v1/namespaces/team-b/configmaps/kept')).not.toHaveProperty('data');
  });

  test('a watch of one name needs the right to that name', async () => {
    await admin.create(`${RBAC}/namespaces/vault/roles`, {
      metadata: { name: 'one' },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['lead'], verbs: ['list', 'watch'] }],
    });
    await bind('vault', 'mallory', 'one');
    const mallory = server.client('mallory');
    const list = (selector: string): Promise<number> => codeOf(mallory, { path: `/api/v1/namespaces/vault/secrets?fieldSelector=${selector}` });
    expect(await list('metadata.name%3Dlead')).toBe(200);
    // Two names, another name, no name, a name that is only excluded, the name in the second of two selectors: each asks for more than the one.
    for (const selector of [
      'metadata.name%3Dgold',
      'metadata.name!%3Dlead',
      '',
      'metadata.namespace%3Dvault',
      'metadata.name%3Dgold&fieldSelector=metadata.name%3Dlead',
    ]) {
      expect([selector, await list(selector)]).toEqual([selector, 403]);
    }
    expect(
      (await mallory.send({ path: '/api/v1/namespaces/vault/secrets?fieldSelector=metadata.name%3Dlead&fieldSelector=metadata.name%3Dgold' })).text,
    ).not.toContain(SECRET_TEXT);
    expect(await codeOf(mallory, { path: '/api/v1/watch/namespaces/vault/secrets/gold?fieldSelector=metadata.name%3Dlead' })).toBe(403);
  });
});

describe('CVE-2019-11253, GO-2022-0965: documents that unfold or nest without end', () => {
  const yaml = (body: string): ApiRequest => ({ method: 'POST', path: CONFIG_MAPS, body, headers: { 'content-type': 'application/yaml' } });

  test('a YAML bomb', async () => {
    const levels = [...'bcdefghi'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`);
    const failure = await failureOf(admin, yaml(`a: &a [x,x,x,x,x,x,x,x,x]\n${levels.join('\n')}\n`));
    expect(failure).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(failure.message).toContain('yaml: document contains excessive aliasing');
  });

  test('one long text, named often', async () => {
    const failure = await failureOf(admin, yaml(`a: &a "${'x'.repeat(1_000_000)}"\nb: [${Array(10_000).fill('*a').join(',')}]\n`));
    expect(failure.message).toContain('yaml: document contains excessive aliasing');
  });

  test('an anchor inside itself', async () => {
    expect((await failureOf(admin, yaml('a: &a [*a]'))).message).toContain("yaml: anchor 'a' value contains itself");
  });

  test.each([
    ['JSON lists', '['.repeat(1_000_000), 'application/json'],
    ['JSON objects', '{"a":'.repeat(500_000), 'application/json'],
    ['YAML lists', '['.repeat(90_000), 'application/yaml'],
    ['YAML maps', Array.from({ length: 1_500 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join(''), 'application/yaml'],
    ['YAML dashes', '- '.repeat(40_000), 'application/yaml'],
  ])('%s', async (_what, body, type) => {
    expect(await failureOf(admin, { method: 'POST', path: CONFIG_MAPS, body, headers: { 'content-type': type } })).toMatchObject({ kind: 'Status', code: 400 });
  });

  test('more than three mebibytes', async () => {
    const failure = await failureOf(admin, {
      method: 'POST',
      path: CONFIG_MAPS,
      body: JSON.stringify({ metadata: { name: 'x' }, data: { a: 'x'.repeat(3 * 1024 * 1024) } }),
    });
    expect(failure).toMatchObject({ code: 413, message: 'Request entity too large: limit is 3145728' });
  });

  test('more values than a cluster has use for', async () => {
    for (const body of [
      `{"metadata":{"finalizers":[${'"a",'.repeat(200_000)}"a"]}}`,
      `{"data":{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":""`).join(',')}}}`,
    ]) {
      const failure = await failureOf(admin, { method: 'POST', path: CONFIG_MAPS, body });
      expect(failure).toMatchObject({ code: 413, message: 'Request entity too large: limit is 100000 values' });
    }
  });
});

test('CVE-2019-11254: YAML that takes long to read', async () => {
  const dense = [
    '- a\n'.repeat(700_000),
    '\n'.repeat(3_000_000),
    `[${'a,'.repeat(1_000_000)}]`,
    '? a\n'.repeat(500_000),
    'a:\t'.repeat(700_000),
    '# c\n'.repeat(700_000),
  ];
  for (const body of dense) {
    const failure = await failureOf(admin, { method: 'POST', path: CONFIG_MAPS, body, headers: { 'content-type': 'application/yaml' } });
    const message = expect.stringMatching(/^Request entity too large: limit is (100000 YAML tokens|1500000 characters of a plain YAML text)$/) as string;
    expect(failure).toMatchObject({ code: 413, message });
  }
  // Long text is not much to read.
  const block = `metadata:\n  name: long-block\ndata:\n  a: |\n${'    line, with: [marks]\n'.repeat(20_000)}`;
  expect(await codeOf(admin, { method: 'POST', path: CONFIG_MAPS, body: block, headers: { 'content-type': 'application/yaml' } })).toBe(201);
});

describe('CVE-2019-1002100: patches that grow', () => {
  const TYPE = 'application/json-patch+json';
  const path = `${CONFIG_MAPS}/patched`;
  beforeAll(() => admin.create(CONFIG_MAPS, { metadata: { name: 'patched' }, data: { a: 'x'.repeat(100_000) } }));

  test('too many operations', async () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/metadata/name', value: 'patched' }));
    expect(await failureOf(admin, patch(path, TYPE, operations))).toMatchObject({
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
    expect(await codeOf(admin, patch(path, TYPE, operations.slice(1)))).toBe(200);
  });

  test('copies of copies', async () => {
    const operations = Array.from({ length: 30 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/copy${i}` }));
    expect(await failureOf(admin, patch(path, TYPE, operations))).toMatchObject({ code: 422 });
  });

  test('values put into each other', async () => {
    const deep = `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`;
    const operations = Array.from({ length: 20 }, (_, i) => `{"op":"add","path":"/data/d${'/a'.repeat(899 * i)}","value":${deep}}`);
    expect(await failureOf(admin, patch(path, TYPE, `[${operations.join(',')}]`))).toMatchObject({ code: 422 });
  });

  test('one after the other', async () => {
    const pod = '/api/v1/namespaces/default/pods/growing';
    await admin.create('/api/v1/namespaces/default/pods', { metadata: { name: 'growing' }, spec: { containers: [{ name: 'a', image: 'b' }] } });
    const codes: number[] = [];
    for (let round = 0; round < 3; round++) {
      const finalizers = Array.from({ length: 20_000 }, (_, i) => `example.org/${'long-'.repeat(8)}${round}-${i}`);
      codes.push(await codeOf(admin, patch(pod, 'application/strategic-merge-patch+json', { metadata: { finalizers } })));
    }
    // Upstream passes on what etcd says, in these words and with this code.
    expect(codes).toContain(500);
    expect((await admin.send({ path: pod })).body.length).toBeLessThan(3 * 1024 * 1024 + 1024);
  });
});

test('CVE-2019-11250, CVE-2020-8565: no token reaches the log, at any verbosity', async () => {
  const tokens = ['admin-token', 'nobody-knows-this-token', 'token-in-a-subprotocol', 'basic-pass-word'];
  await admin.get('/api/v1/namespaces');
  await admin.send({ path: '/api', headers: { authorization: 'Bearer nobody-knows-this-token' } });
  await admin.send({ path: '/api', headers: { authorization: 'Bearer  nobody-knows-this-token' } });
  await admin.send({ path: '/api', headers: { authorization: `Basic ${Buffer.from('user:basic-pass-word').toString('base64')}` } });
  const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from('token-in-a-subprotocol').toString('base64url')}, v4.channel.k8s.io`;
  await admin.send({ path: '/api', headers: { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocol, authorization: '' } });
  await admin.send({ path: '/api/v1/namespaces/default/pods/none/exec?command=sh', headers: { 'impersonate-user': 'alice' } });
  await admin.send({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: '{"data":{"key":"bm90IGZvciB0aGUgbG9n"},"metadata":{}}' });
  await server.client('mallory').send({ path: '/metrics' });
  const log = server.lines.join('\n');
  expect(log).toContain('/api/v1/namespaces'); // it does log requests
  for (const secret of [...tokens, Buffer.from('token-in-a-subprotocol').toString('base64url'), 'bm90IGZvciB0aGUgbG9n']) expect(log).not.toContain(secret);
});

test('CVE-2020-8552: what clients make up does not become a label', async () => {
  const linesBefore = (await admin.send({ path: '/metrics' })).text.split('\n').length;
  const made = randomUUID();
  const up = (path: string): string => path.replaceAll('X', `${made}x${Math.floor(Math.random() * 1e9)}`);
  for (let i = 0; i < 100; i++) {
    for (const path of [
      '/X',
      '/api/v1/X',
      '/apis/X/v1/pods',
      '/apis/apps/X/deployments',
      '/api/v1/namespaces/default/pods/p/X',
      '/api/v1/namespaces/X/pods',
      '/healthz/X',
    ]) {
      await admin.send({ path: up(path), headers: { 'user-agent': up('X') } });
    }
    await admin.send({ path: up('/api/v1/namespaces/default/configmaps/c?dryRun=X'), method: 'PUT', body: {} });
  }
  const metrics = (await admin.send({ path: '/metrics' })).text;
  expect(metrics).not.toContain(made);
  expect(metrics.split('\n').length - linesBefore).toBeLessThan(400);
});

test('CVE-2021-29923, canary: leading zeros of an IPv4 address are decimal, as they always were', async () => {
  // Upstream took them until v1.36 (StrictIPCIDRValidation); now it refuses them, and nothing else has changed: 0177 is not 127, the loopback.
  const problemsOf = async (ip: string): Promise<string> => {
    const body = { metadata: { name: 'zeros' }, subsets: [{ addresses: [{ ip }], ports: [{ port: 1 }] }] };
    return (await failureOf(admin, { method: 'POST', path: '/api/v1/namespaces/default/endpoints', body })).message;
  };
  const zeros = (ip: string): string => `subsets[0].addresses[0].ip: Invalid value: "${ip}": must not have leading 0s`;
  expect(await problemsOf('010.020.030.040')).toBe(`Endpoints "zeros" is invalid: ${zeros('010.020.030.040')}`);
  expect(await problemsOf('0177.0.0.1')).toBe(`Endpoints "zeros" is invalid: ${zeros('0177.0.0.1')}`);
  expect(await problemsOf('127.000.000.001')).toContain('may not be in the loopback range');
});

describe('CVE-2021-3121: protobuf that lies about its lengths', () => {
  const envelope = (raw: Buffer): Buffer => {
    const type = Buffer.concat([Buffer.from([0x0a, 2]), Buffer.from('v1'), Buffer.from([0x12, 9]), Buffer.from('ConfigMap')]);
    const length = [(raw.length & 0x7f) | 0x80, ((raw.length >> 7) & 0x7f) | 0x80, (raw.length >> 14) & 0x7f];
    return Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0a, type.length]), type, Buffer.from([0x12, ...length]), raw]);
  };
  const post = (bytes: Buffer): ApiRequest => ({
    method: 'POST',
    path: CONFIG_MAPS,
    body: bytes,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  });

  test.each([
    ['a length beyond the end', [0x0a, 0x7f, 0x01]],
    ['a length of 2^63', [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
    ['a length that overflows', [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
    ['a tag of zero', [0x00, 0x00]],
    ['a tag cut off', [0x80]],
    ['an end of a group', [0x0c]],
    ['groups in groups', Array(5_000).fill(0x7b)],
    ['a wire type that is none', [0x0f, 0x01]],
    ['a wire type that is another', [0x08, 0x01]],
    ['a varint without end', Array(50).fill(0xff)],
  ])('%s', async (_what, bytes) => {
    expect(await failureOf(admin, post(envelope(Buffer.from(bytes))))).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' });
  });

  test('a million empty messages', async () => {
    const metadata = Buffer.alloc(2_000_000, Buffer.from([0x6a, 0x00]));
    const length = [(metadata.length & 0x7f) | 0x80, ((metadata.length >> 7) & 0x7f) | 0x80, (metadata.length >> 14) & 0x7f];
    expect(await failureOf(admin, post(envelope(Buffer.concat([Buffer.from([0x0a, ...length]), metadata]))))).toMatchObject({ code: 413 });
  });

  test('a quantity that is none, where JSON would not have let it in', async () => {
    await admin.create('/api/v1/namespaces/default/pods', {
      metadata: { name: 'sized' },
      spec: { containers: [{ name: 'a', image: 'b', resources: { limits: { memory: '123Mi' } } }] },
    });
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf', accept: 'application/json' };
    const { body } = await admin.expect(200, { path: '/api/v1/namespaces/default/pods/sized', headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    body.write('zzzzz', body.indexOf('123Mi'));
    const failure = await failureOf(admin, { method: 'PUT', path: '/api/v1/namespaces/default/pods/sized', body, headers });
    expect([failure.code, failure.message]).toEqual([400, expect.stringContaining('quantities must match the regular expression')]);
  });

  test('an envelope that is none', async () => {
    for (const bytes of ['', 'k8s', 'k8s\0', 'k8s\u0001\u0001', 'k8s\0\u00ff']) {
      expect((await failureOf(admin, post(Buffer.from(bytes, 'latin1')))).code).toBeGreaterThanOrEqual(400);
    }
  });
});

test('CVE-2022-3162: one resource does not read the keys of another, nor one namespace those of its neighbour', async () => {
  await admin.create('/api/v1/namespaces/team/configmaps', { metadata: { name: 'own' } });
  await admin.create('/api/v1/namespaces/team-b/configmaps', { metadata: { name: 'theirs' } });
  const names = async (path: string): Promise<string[]> => (await admin.get<TestList>(path)).items.map(({ metadata }) => metadata.name);
  expect(await names('/api/v1/namespaces/team/configmaps')).toEqual(['own']);
  expect(await names('/api/v1/namespaces/tea/configmaps')).toEqual([]);
  // `roles` is a beginning of `rolebindings`, and both stand in one group.
  const roles = await admin.get<TestList>(`${RBAC}/roles`);
  expect(roles.items.every((item) => 'rules' in item && !('roleRef' in item))).toBe(true);
  const watch = await admin.watch(
    '/api/v1/namespaces/team/configmaps?watch=true&resourceVersion=0&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  );
  const events = await watch.take(2);
  watch.stop();
  expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
    ['ADDED', 'own'],
    ['BOOKMARK', undefined],
  ]);
});

test('CVE-2025-61726: a query of too many parameters', async () => {
  const anonymous = server.client('');
  for (const pair of ['+&', '%77atch&', 'a=b&']) {
    expect(await failureOf(anonymous, { path: `/api/v1/pods?${pair.repeat(20_000)}` })).toMatchObject({
      code: 400,
      message: 'the query has more than 10000 parameters',
    });
  }
});
