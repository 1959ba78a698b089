import type { IncomingMessage } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { type ConsoleServer, type SignedIn, startConsole } from './console-server.ts';

let server: ConsoleServer;

beforeAll(async () => {
  server = await startConsole();
});

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const NAMESPACES = '/api/v1/namespaces';

test('nothing is recorded while nobody is signed in', async () => {
  await server.send('GET', NAMESPACES, { as: server.admin });
  const { status, text } = await server.send('GET', '/console/requests', { as: server.admin });
  expect([status, text]).toEqual([200, '']);
  const session = await server.signInAs(server.admin);
  await server.send('GET', NAMESPACES, { as: server.admin });
  expect(linesOf((await server.send('GET', '/console/requests', { session })).text)).toHaveLength(1);
  await server.send('DELETE', '/console/session', { session });
  await server.send('GET', NAMESPACES, { as: server.admin });
  expect((await server.send('GET', '/console/requests', { as: server.admin })).text).toBe('');
});

test('requests are told as they end, and watches when they begin too', async () => {
  const session = await server.signInAs(server.admin);
  const stream = await follow(session);
  await server.send('GET', `${NAMESPACES}/default?x=y`, { as: server.user('jane'), headers: { 'user-agent': 'jane/1' } });
  await server.send('GET', `${NAMESPACES}?watch=true&timeoutSeconds=1`, { as: server.admin });
  await expect.poll(() => stream.lines().filter(({ isWatch }) => isWatch).length).toBe(2);
  stream.close();
  const [read, begun, ended] = stream.lines().slice(-3);
  expect(read).toEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    user: 'jane',
    userAgent: 'jane/1',
    sourceIP: '127.0.0.1',
    verb: 'get',
    method: 'GET',
    path: `${NAMESPACES}/default`,
    query: 'x=y',
    group: '',
    version: 'v1',
    resource: 'namespaces',
    subresource: '',
    namespace: 'default',
    name: 'default',
    code: 403,
    durationMs: expect.any(Number),
    auditID: expect.any(String),
    isWatch: false,
    isRunning: false,
    message: expect.stringContaining('User "jane" cannot get resource "namespaces"'),
  });
  expect([begun, ended]).toMatchObject([
    { verb: 'watch', isWatch: true, isRunning: true, code: 200, user: 'admin' },
    { verb: 'watch', isWatch: true, isRunning: false, code: 200 },
  ]);
  expect(ended!['durationMs']).toBeGreaterThan(900);
});

test('what is sent as a credential is in no line', async () => {
  const session = await server.signInAs(server.admin);
  const code = server.newCode();
  await server.signIn({ code });
  await server.send('GET', NAMESPACES, { session });
  await server.send('GET', NAMESPACES, { headers: { authorization: 'Bearer secret-token' } });
  const { text } = await server.send('GET', '/console/requests', { session });
  for (const secret of [code, 'secret-token', session.csrfToken, session.cookie.split('=')[1]!]) expect(text).not.toContain(secret);
});

test('texts are cut', async () => {
  const session = await server.signInAs(server.admin);
  await server.send('GET', `/${'x'.repeat(100_000)}?${'y'.repeat(100_000)}`, { as: server.admin, headers: { 'user-agent': 'z'.repeat(5_000) } });
  const last = linesOf((await server.send('GET', '/console/requests', { session })).text).at(-1)!;
  expect([(last['path'] as string).length, (last['query'] as string).length, (last['userAgent'] as string).length]).toEqual([513, 513, 257]);
});

test('activity has numbers of all that is there', async () => {
  const session = await server.signInAs(server.admin);
  const watch = await open(`${NAMESPACES}?watch=true`, session);
  for (let count = 0; count < 5; count++) await server.send('GET', NAMESPACES, { as: server.user('bob'), headers: { 'user-agent': 'bob/1' } });
  const { json } = await server.send('GET', '/console/activity', { session });
  watch.destroy();
  expect(json).toMatchObject({
    time: expect.any(String),
    uptimeSeconds: expect.any(Number),
    process: { heapUsedBytes: expect.any(Number), cpuSeconds: expect.any(Number) },
    eventLoop: { p50Ms: expect.any(Number), p99Ms: expect.any(Number), maxMs: expect.any(Number) },
    requests: { inFlightReadOnly: expect.any(Number), inFlightMutating: expect.any(Number) },
  });
  for (const name of ['rssBytes', 'heapUsedBytes', 'heapLimitBytes', 'externalBytes', 'cpuSeconds']) expect(json.process[name]).toBeGreaterThan(0);
  expect(json.store).toMatchObject({ backend: 'memory', sizeBytes: expect.any(Number) });
  expect(json.store.sizeBytes).toBeGreaterThan(10_000);
  expect(json.store.objects).toContainEqual({ group: '', resource: 'namespaces', count: 4 });
  expect(json.requests.byCode['403']).toBeGreaterThanOrEqual(5);
  expect(json.requests.total).toBeGreaterThan(json.requests.byCode['403']);
  expect(json.watches).toContainEqual({ user: 'admin', userAgent: '', group: '', resource: 'namespaces', count: 1 });
  expect(json.clients).toContainEqual({ user: 'bob', userAgent: 'bob/1', requests: 5, errors: 5, lastSeen: expect.any(String) });
  expect(json.priorityLevels.map(({ name }: { name: string }) => name)).toContain('global-default');
  expect([json.webhooks, json.policies]).toEqual([[], []]);
});

test.each(['/console/requests', '/console/activity'])('%s is for those who may read it', async (path) => {
  const jane = server.user('jane');
  expect((await server.send('GET', path)).status).toBe(403);
  const refused = await server.send('GET', path, { as: jane });
  expect([refused.status, refused.json.message]).toEqual([403, expect.stringContaining(`User "jane" cannot get path "${path}"`)]);
  expect((await server.send('POST', path, { as: server.admin, body: {} })).status).toBe(405);
  const rbac = '/apis/rbac.authorization.k8s.io/v1/';
  const name = path.slice(1).replace('/', '-');
  await server.send('POST', `${rbac}clusterroles`, { as: server.admin, body: { metadata: { name }, rules: [{ nonResourceURLs: [path], verbs: ['get'] }] } });
  await server.send('POST', `${rbac}clusterrolebindings`, {
    as: server.admin,
    body: {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    },
  });
  expect((await server.send('GET', path, { as: jane })).status).toBe(200);
});

const open = (path: string, session: SignedIn): Promise<IncomingMessage> => server.open(path, { session });

const follow = async (session: SignedIn) => reading(await open('/console/requests?watch=true', session));

function reading(response: IncomingMessage) {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (part: string) => void (text += part));
  response.on('error', () => undefined);
  response.resume();
  return { lines: () => linesOf(text.slice(0, text.lastIndexOf('\n') + 1)), close: () => void response.destroy() };
}
