import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { SimulatedClock } from '../../src/testing/simulated-clock.ts';
import { type ConsoleServer, SCRIPT, startConsole } from './console-server.ts';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

let server: ConsoleServer;
const clock = new SimulatedClock();

beforeAll(async () => {
  server = await startConsole([], { clock });
});

describe('the page', () => {
  test('is served to anybody, with a strict policy', async () => {
    const page = await server.send('GET', '/console/');
    expect([page.status, page.text, page.headers['content-type'], page.headers['cache-control']]).toEqual([
      200,
      '<!doctype html><title>Console</title>',
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    expect(page.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = page.headers['content-security-policy'] as string;
    for (const directive of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"])
      expect(policy).toContain(directive);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  test('is found without its slash', async () => {
    const answer = await server.send('GET', '/console');
    expect([answer.status, answer.headers.location]).toEqual([301, '/console/']);
  });

  test('has files that never change, compressed as the client takes it', async () => {
    const path = '/console/assets/app-1a2b3c.js';
    const plain = await server.send('GET', path);
    expect([plain.status, plain.text, plain.headers['cache-control'], plain.headers['content-type']]).toEqual([
      200,
      SCRIPT,
      'public, max-age=31536000, immutable',
      'text/javascript; charset=utf-8',
    ]);
    const brotli = await server.send('GET', path, { headers: { 'accept-encoding': 'gzip, deflate, br' } });
    expect([brotli.headers['content-encoding'], brotliDecompressSync(brotli.body).toString()]).toEqual(['br', SCRIPT]);
    const gzip = await server.send('GET', path, { headers: { 'accept-encoding': 'gzip, br;q=0' } });
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.body).toString()]).toEqual(['gzip', SCRIPT]);
    const head = await server.send('HEAD', path);
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(SCRIPT.length)]);
    const again = await server.send('GET', path, { headers: { 'if-none-match': plain.headers.etag! } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test.each([
    '/console/assets/',
    '/console/assets/none.js',
    '/console/assets/../../package.json',
    '/console/assets/%2e%2e/index.html',
    '/console/..%2fconsole-server.ts',
    '/console//index.html',
    '/console/__proto__',
    '/console/assets/app-1a2b3c.js.br/x',
    '/console/more',
  ])('has nothing at %s', async (path) => {
    expect((await server.send('GET', path)).status).toBe(404);
  });

  test('takes no other methods', async () => {
    expect((await server.send('POST', '/console/', { body: {} })).status).toBe(405);
  });
});

describe('signing in', () => {
  test('by a client certificate, a token or a code', async () => {
    const admin = await server.signInAs(server.admin);
    expect(admin.user).toEqual({ username: 'admin', groups: ['system:masters', 'system:authenticated'] });
    expect(admin.server).toEqual({ version: expect.stringMatching(/^v1\./), storage: 'memory', hasHistory: false });
    expect(Date.parse(admin.expiresAt)).toBeGreaterThan(clock.now());
    const byCode = await server.signIn({ code: server.newCode() });
    expect(byCode.user.username).toBe('admin');
    const account = '/api/v1/namespaces/default/serviceaccounts';
    await server.send('POST', account, { as: server.admin, body: { metadata: { name: 'robot' } } });
    const { json } = await server.send('POST', `${account}/robot/token`, { as: server.admin, body: { spec: {} } });
    const byToken = await server.signIn({ token: json.status.token });
    expect(byToken.user.username).toBe('system:serviceaccount:default:robot');
  });

  test('gives a cookie that scripts and other sites do not see', async () => {
    const { headers } = await server.send('POST', '/console/session', { as: server.admin, body: {} });
    expect(headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-binnacle-console-\d+=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/)]);
    expect(headers['cache-control']).toBe('no-store');
  });

  test.each([{ code: 'x' }, { token: 'x' }, { token: 'a b' }, {}])('is refused for %o', async (body) => {
    const answer = await server.send('POST', '/console/session', { body });
    expect([answer.status, answer.json.reason, answer.headers['set-cookie']]).toEqual([401, 'Unauthorized', undefined]);
  });

  test('takes JSON alone, of one object', async () => {
    const send = (body: string, type = 'application/json') =>
      server.send('POST', '/console/session', { as: server.admin, body, headers: { 'content-type': type } });
    expect((await send('{}', 'text/plain')).status).toBe(415);
    expect((await send('[]')).status).toBe(400);
    expect((await send('{')).status).toBe(400);
    expect((await send('{"password":"x"}')).status).toBe(400);
    expect((await send(JSON.stringify({ token: 'x'.repeat(200_000) }))).status).toBe(413);
  });

  test('with a code works once', async () => {
    const code = server.newCode();
    await server.signIn({ code });
    expect((await server.send('POST', '/console/session', { body: { code } })).status).toBe(401);
  });

  test('with a code works for a quarter of an hour', async () => {
    const code = server.newCode();
    await clock.advance(15 * 60_000);
    expect((await server.send('POST', '/console/session', { body: { code } })).status).toBe(401);
  });

  test('makes a new session, and ends the one that was there', async () => {
    const first = await server.signInAs(server.admin);
    const second = await server.signIn({}, { as: server.admin, headers: { cookie: first.cookie } });
    expect(second.cookie).not.toBe(first.cookie);
    expect((await server.send('GET', '/api/v1/namespaces', { session: first })).status).toBe(401);
    expect((await server.send('GET', '/api/v1/namespaces', { session: second })).status).toBe(200);
    // Nobody chooses the name of a session.
    const name = first.cookie.split('=')[0]!;
    const planted = { ...first, cookie: `${name}=${randomBytes(32).toString('base64url')}` };
    const third = await server.signIn({}, { as: server.admin, headers: { cookie: planted.cookie } });
    expect(third.cookie).not.toBe(planted.cookie);
  });
});

describe('a session', () => {
  test('is shown to the page that has it, until it signs out', async () => {
    const session = await server.signInAs(server.admin);
    const shown = await server.send('GET', '/console/session', { headers: { cookie: session.cookie, 'sec-fetch-site': 'same-origin' } });
    expect([shown.status, shown.json.csrfToken, shown.json.user.username]).toEqual([200, session.csrfToken, 'admin']);
    expect((await server.send('DELETE', '/console/session', { headers: { cookie: session.cookie } })).status).toBe(401);
    const out = await server.send('DELETE', '/console/session', { session });
    expect([out.status, out.headers['set-cookie']]).toEqual([204, [expect.stringMatching(/Max-Age=0$/)]]);
    expect((await server.send('GET', '/console/session', { session })).status).toBe(401);
    expect((await server.send('GET', '/api/v1/namespaces', { session })).status).toBe(401);
  });

  test('has the rights of its user', async () => {
    const session = await server.signInAs(server.user('jane'));
    const answer = await server.send('GET', '/api/v1/namespaces', { session });
    expect([answer.status, answer.json.message]).toEqual([403, expect.stringContaining('User "jane" cannot list resource "namespaces"')]);
    const self = await server.send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { session, body: {} });
    expect(self.json.status.userInfo).toMatchObject({ username: 'jane', groups: ['system:authenticated'] });
  });

  test('is its user, whichever certificate the browser has', async () => {
    const session = await server.signInAs(server.user('jane'));
    expect((await server.send('GET', '/api/v1/namespaces', { session, as: server.admin })).status).toBe(403);
    await server.send('DELETE', '/console/session', { session });
    expect((await server.send('GET', '/api/v1/namespaces', { session, as: server.admin })).status).toBe(401);
  });

  test.each([
    ['the cookie alone', ({ cookie }: { cookie: string; csrfToken: string }) => ({ cookie })],
    ['another token', ({ cookie }: { cookie: string; csrfToken: string }) => ({ cookie, 'x-binnacle-csrf': 'x' })],
    ['the token alone', ({ csrfToken }: { cookie: string; csrfToken: string }) => ({ 'x-binnacle-csrf': csrfToken })],
    [
      'another site',
      ({ cookie, csrfToken }: { cookie: string; csrfToken: string }) => ({ cookie, 'x-binnacle-csrf': csrfToken, 'sec-fetch-site': 'cross-site' }),
    ],
    [
      'another port',
      ({ cookie, csrfToken }: { cookie: string; csrfToken: string }) => ({ cookie, 'x-binnacle-csrf': csrfToken, 'sec-fetch-site': 'same-site' }),
    ],
  ])('counts for nothing from %s', async (_, headersOf) => {
    const session = await server.signInAs(server.admin);
    const headers = headersOf(session);
    expect([401, 403]).toContain((await server.send('GET', '/api/v1/namespaces', { headers })).status);
    expect([401, 403]).toContain((await server.send('DELETE', '/api/v1/namespaces/default', { headers })).status);
    expect((await server.send('DELETE', '/console/session', { headers })).status).toBe(401);
  });

  test('is not told, nor made, to other sites', async () => {
    const session = await server.signInAs(server.admin);
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { cookie: session.cookie, 'sec-fetch-site': site };
      expect((await server.send('GET', '/console/session', { headers })).status).toBe(401);
      expect((await server.send('POST', '/console/session', { as: server.admin, headers, body: {} })).status).toBe(401);
      expect((await server.send('POST', '/console/code', { as: server.admin, headers, body: {} })).status).toBe(401);
    }
  });

  test('ends after a working day', async () => {
    const session = await server.signInAs(server.admin);
    await clock.advance(12 * 3_600_000);
    expect((await server.send('GET', '/api/v1/namespaces', { session })).status).toBe(401);
  });

  test('ends with its certificate', async () => {
    const session = await server.signInAs(server.user('brief', ['system:masters'], new Date(Date.now() + 4_000)));
    expect((await server.send('GET', '/api/v1/namespaces', { session })).status).toBe(200);
    await expect.poll(async () => (await server.send('GET', '/api/v1/namespaces', { session })).status, { timeout: 10_000 }).toBe(401);
  });

  test('ends with its token', async () => {
    const account = '/api/v1/namespaces/default/serviceaccounts';
    await server.send('POST', account, { as: server.admin, body: { metadata: { name: 'short' } } });
    const { json } = await server.send('POST', `${account}/short/token`, { as: server.admin, body: { spec: {} } });
    const session = await server.signIn({ token: json.status.token });
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    expect((await server.send('POST', review, { session, body: {} })).status).toBe(201);
    await server.send('DELETE', `${account}/short`, { as: server.admin });
    expect((await server.send('POST', review, { session, body: {} })).status).toBe(401);
    expect((await server.send('GET', '/console/session', { session })).status).toBe(401);
  });
});

test('codes are made by whoever can prove who they are, for themselves', async () => {
  expect((await server.send('POST', '/console/code', { body: {} })).status).toBe(401);
  expect((await server.send('GET', '/console/code', { as: server.admin })).status).toBe(405);
  const { json } = await server.send('POST', '/console/code', { as: server.user('jane'), body: {} });
  expect((await server.signIn({ code: json.code })).user.username).toBe('jane');
});

test('without the flag there is nothing', async () => {
  const other = await startConsole(['--console=false']);
  for (const path of ['/console', '/console/', '/console/session', '/console/requests', '/console/activity', '/console/explain'])
    expect((await other.send('GET', path, { as: other.admin })).status).toBe(404);
  expect(other.server.consoleLink).toBeUndefined();
});

test('a build without the page says so', async () => {
  const other = await startConsole([], { consoleFolder: '/nowhere' });
  const answer = await other.send('GET', '/console/');
  expect([answer.status, answer.json.message]).toEqual([404, expect.stringContaining('/nowhere')]);
});

test('signing in that fails is limited', async () => {
  const other = await startConsole();
  const codes: number[] = [];
  for (let count = 0; count < 12; count++) codes.push((await other.send('POST', '/console/session', { body: { code: 'guess' } })).status);
  expect([codes.slice(0, 10), codes.at(-1)]).toEqual([Array.from({ length: 10 }, () => 401), 429]);
  // A code that is good stays so.
  const code = other.newCode();
  expect((await other.send('POST', '/console/session', { body: { code } })).status).toBe(429);
  await expect.poll(async () => (await other.send('POST', '/console/session', { body: { code } })).status, { timeout: 10_000 }).toBe(200);
});

test('a user has so many sessions', async () => {
  const first = await server.signInAs(server.user('many'));
  for (let count = 0; count < 20; count++) await server.signInAs(server.user('many'));
  expect((await server.send('GET', '/console/session', { session: first })).status).toBe(401);
});
