import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, ApiRequest } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { head, sendRaw } from './raw.ts';

/* Ways around authentication and authorization: other spellings of a path, requests hidden in requests, and other people's names. */

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const SECRET_TEXT = 'c2VjcmV0LXRleHQ=';

let server: ServerProcess;
let admin: ApiClient;
let mallory: ApiClient;

beforeAll(async () => {
  server = await startServer();
  admin = server.client();
  mallory = server.client('mallory');
  await admin.create('/api/v1/namespaces', { metadata: { name: 'vault' } });
  await admin.create('/api/v1/namespaces/vault/secrets', { metadata: { name: 'gold' }, data: { key: SECRET_TEXT } });
});
afterAll(async () => {
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

describe('another spelling of a path is another path, or the same one with the same guard', () => {
  const spellings = [
    '/metrics',
    '//metrics',
    '/metrics/',
    '/./metrics',
    '/METRICS',
    '/metrics%2f',
    '/%6detrics',
    '/%2fmetrics',
    '/livez/../metrics',
    '/livez/..;/metrics',
    '/livez/%2e%2e/metrics',
    '/livez%2f..%2fmetrics',
    '/livez?/../metrics',
    '/livez#/../metrics',
    '/metrics.',
    '/metrics;x',
    '/metrics%00',
    '/metrics%20',
    '/healthz/..%5cmetrics',
    '/api/../metrics',
    '/.well-known/../metrics',
    '/version/../metrics',
    '/openapi/../../metrics',
    '/api/v1/secrets',
    '//api/v1/secrets',
    '/api//v1/secrets',
    '/API/v1/secrets',
    '/api/V1/secrets',
    '/api/v1/Secrets',
    '/api/v1/secrets/',
    '/api/v1/secrets//',
    '/api/v1/secrets.',
    '/api/v1/secrets%2f',
    '/api/v1/%73ecrets',
    '/%61pi/v1/secrets',
    '/apis//v1/secrets',
    '/apis/%00/v1/secrets',
    '/api/v1/watch/secrets?timeoutSeconds=1',
    '/api/v1/proxy/secrets',
    '/api/v1/namespaces/vault/secrets/gold',
    '/api/v1/namespaces/vault/secrets/gold/',
    '/api/v1/namespaces/vault/secrets/gold/status',
    '/api/v1/namespaces/vault/secrets?fieldSelector=metadata.name%3Dgold',
    '/api/v1/namespaces/kube-system/../vault/secrets/gold',
    '/livez/../api/v1/secrets',
    '/.well-known/openid-configuration/../../api/v1/secrets',
    'http://localhost/api/v1/secrets',
    'https://localhost/metrics',
    'https://localhost//api/v1/secrets',
  ];

  test.each(['', 'mallory'] as const)('for "%s"', async (user) => {
    for (const spelling of spellings) {
      const lines = user === '' ? ['Host: localhost'] : ['Host: localhost', `Authorization: Bearer ${user}-token`];
      const answer = await sendRaw(server, [`GET ${spelling} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'));
      // Health checks are everybody's, whatever follows the question mark.
      const isPublic = spelling.startsWith('/livez?');
      expect([spelling, answer.status]).toEqual([spelling, isPublic ? 200 : expect.toBeOneOf([400, 403, 404])]);
      expect(answer.text).not.toContain(SECRET_TEXT);
      expect(answer.text).not.toContain('apiserver_request_total');
    }
  });
});

describe('requests hidden in requests', () => {
  const hidden = 'GET /api/v1/namespaces/vault/secrets/gold HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer admin-token\r\n\r\n';

  test.each([
    ['two lengths', head('POST /api/v1/namespaces/default/configmaps', 'Content-Length: 2', 'Content-Length: 60')],
    ['a length and chunks', head('POST /api/v1/namespaces/default/configmaps', 'Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['chunks and a length', head('POST /api/v1/namespaces/default/configmaps', 'Transfer-Encoding: chunked', 'Content-Length: 5')],
    ['chunks that are none', head('POST /api/v1/namespaces/default/configmaps', 'Transfer-Encoding: xchunked')],
    ['a length with a sign', head('POST /api/v1/namespaces/default/configmaps', 'Content-Length: +5')],
    ['a negative length', head('POST /api/v1/namespaces/default/configmaps', 'Content-Length: -1')],
    ['a list of lengths', head('POST /api/v1/namespaces/default/configmaps', 'Content-Length: 5, 60')],
    ['a space before the colon', head('POST /api/v1/namespaces/default/configmaps', 'Content-Length : 5')],
    ['a header that goes on', head('POST /api/v1/namespaces/default/configmaps', 'X: a', ' Content-Length: 5')],
    ['a carriage return inside', head('POST /api/v1/namespaces/default/configmaps', 'X: a\rContent-Length: 5')],
  ])('%s: refused, and nothing behind it is read', async (_what, start) => {
    const answer = await sendRaw(server, `${start}0\r\n\r\n${hidden}`);
    // An encoding that is not ours is a 501, as Go's server says.
    expect([answer.isClosed, [400, 501].includes(answer.status)]).toEqual([true, true]);
    expect(answer.text).not.toContain(SECRET_TEXT);
  });

  test('one behind the other is answered in order, each as who asks for it', async () => {
    const body = '{"metadata":{"name":"first"}}';
    const first = `${head('POST /api/v1/namespaces/default/configmaps', 'Content-Type: application/json', `Content-Length: ${body.length}`)}${body}`;
    const second = 'GET /api/v1/namespaces/vault/secrets/gold HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer mallory-token\r\n\r\n';
    const third = 'GET /api/v1/namespaces/vault/secrets/gold HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const { text } = await sendRaw(server, first + second + third, { answers: 3 });
    expect([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(['201', '403', '403']);
    expect(text).toContain('User \\"mallory\\" cannot get resource');
    expect(text).toContain('User \\"system:anonymous\\" cannot get resource');
    expect(text).not.toContain(SECRET_TEXT);
  });

  test('what follows a refused body is not taken for a request', async () => {
    const start = head('POST /api/v1/namespaces/default/configmaps', 'Content-Type: application/json', `Content-Length: ${4 * 1024 * 1024}`);
    const answer = await sendRaw(server, `${start}${hidden}`);
    expect(answer.status).toBe(413);
    expect(answer.text).not.toContain(SECRET_TEXT);
  });

  test('what follows a refused upgrade is not taken for a request', async () => {
    const answer = await sendRaw(
      server,
      `${head('GET /api/v1/namespaces/vault/pods/p/exec', 'Connection: Upgrade', 'Upgrade: SPDY/3.1').replace('admin', 'mallory')}${hidden}`,
      { answers: 2 },
    );
    expect(answer.status).toBe(403);
    expect(answer.isClosed).toBe(true);
    expect(answer.text).not.toContain(SECRET_TEXT);
  });
});

describe("other people's names", () => {
  const as = (client: ApiClient, headers: Record<string, string>, path = '/api/v1/namespaces/vault/secrets'): ReturnType<ApiClient['send']> =>
    client.send({ path, headers });

  test('nobody may use them without the right to', async () => {
    const claims: Record<string, string>[] = [
      { 'impersonate-user': 'admin' },
      { 'impersonate-user': 'mallory', 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'system:serviceaccount:kube-system:default' },
      { 'impersonate-user': 'system:node:n1' },
      { 'impersonate-user': 'mallory', 'impersonate-extra-scopes': 'all' },
      { 'impersonate-user': 'mallory', 'impersonate-uid': 'u-admin' },
      { 'impersonate-user': 'system:anonymous' },
    ];
    for (const headers of claims) {
      const answer = await as(mallory, headers);
      expect([headers, answer.status]).toEqual([headers, 403]);
      expect(answer.json<{ message: string }>().message).toContain('impersonat');
      expect((await as(server.client(''), headers)).status).toBe(403);
    }
  });

  test('a group, uid or extra without a user is refused', async () => {
    const claims: Record<string, string>[] = [
      { 'impersonate-group': 'system:masters' },
      { 'impersonate-uid': 'u' },
      { 'impersonate-extra-a': 'b' },
      { 'impersonate-user': '', 'impersonate-group': 'g' },
    ];
    for (const headers of claims) expect((await as(mallory, headers)).status).toBe(400);
  });

  test('the right to one name is the right to that name, with its own rights', async () => {
    await admin.create(`${RBAC}/clusterroles`, {
      metadata: { name: 'be-bob' },
      rules: [{ apiGroups: [''], resources: ['users'], resourceNames: ['bob'], verbs: ['impersonate'] }],
    });
    await admin.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name: 'alice-is-bob' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'be-bob' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
    const alice = server.client('alice');
    const whoAmI = async (headers: Record<string, string>): Promise<string> => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const answer = await alice.send({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body, headers });
      const { status } = answer.json<{ status?: { userInfo?: { username: string; groups: string[] } } }>();
      return `${answer.status} ${status?.userInfo?.username} ${status?.userInfo?.groups.join(',')}`;
    };
    expect(await whoAmI({ 'impersonate-user': 'bob' })).toBe('201 bob system:authenticated');
    expect(await whoAmI({ 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' })).toMatch(/^403/);
    expect(await whoAmI({ 'impersonate-user': 'Bob' })).toMatch(/^403/);
    expect(await whoAmI({ 'impersonate-user': 'admin' })).toMatch(/^403/);
    expect((await as(alice, { 'impersonate-user': 'bob' })).json<{ message: string }>().message).toContain('User "bob" cannot list');
  });

  test('of two lines the first is asked about, and is who acts', async () => {
    const request = [
      'GET /api/v1/namespaces/vault/secrets HTTP/1.1',
      'Host: localhost',
      'Authorization: Bearer admin-token',
      'Impersonate-User: bob',
      'Impersonate-User: admin',
      '',
      '',
    ];
    const answer = await sendRaw(server, request.join('\r\n'));
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('User \\"bob\\" cannot list');
  });

  test("a front proxy's headers mean nothing without its certificate", async () => {
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'x-remote-extra-a': 'b' };
    expect((await as(server.client(''), headers)).status).toBe(403);
    expect((await as(mallory, headers)).json<{ message: string }>().message).toContain('User "mallory"');
  });
});

test.each([
  'Bearer',
  'Bearer ',
  'bearer admin-token ',
  'Bearer admin-token,mallory-token',
  'Bearer ADMIN-TOKEN',
  'Bearer admin-token\tx',
  'Token admin-token',
  'Basic YWRtaW46YWRtaW4=',
])('credentials that are almost good: %j', async (authorization) => {
  const request: ApiRequest = { path: '/api/v1/namespaces/vault/secrets', headers: { authorization } };
  const { status } = await server.client('').send(request);
  // The scheme's case does not count, nor does a blank at the end (request/bearertoken).
  expect(authorization === 'bearer admin-token ' ? [200] : [401, 403]).toContain(status);
});
