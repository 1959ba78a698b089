import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { register, startBackend, startFront, waitForAvailability } from '../support/aggregation.ts';
import { type ServerProcess, temporaryFolder } from '../support/server.ts';

let front: ServerProcess;
let anybody: ApiClient;
let backend: Awaited<ReturnType<typeof startBackend>>;
const auditFile = join(temporaryFolder(), 'audit.log');
const policyFile = join(import.meta.dirname, 'audit-policy.yaml');

beforeAll(async () => {
  front = await startFront(['--console', `--audit-log-path=${auditFile}`, `--audit-policy-file=${policyFile}`, '--v=4', '--vmodule=httplog=4']);
  anybody = front.client('');
  backend = await startBackend('away', (request, response) => {
    response.setHeader('content-type', request.url!.includes('page') ? 'text/html' : 'application/json');
    response.setHeader('content-security-policy', "script-src 'unsafe-inline'");
    response.end(JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'away.example.com/v1', resources: [] }));
  });
  await register(front, 'away.example.com', 'v1', 'away', backend.port);
  await waitForAvailability(front, 'v1.away.example.com', 'Passed');
});

async function signIn(): Promise<{ cookie: string; csrf: string }> {
  const answer = await anybody.send({ method: 'POST', path: '/console/session', body: { token: 'admin-token' } });
  expect(answer.status).toBe(200);
  return { cookie: answer.headers['set-cookie']![0]!.split(';', 1)[0]!, csrf: answer.json<{ csrfToken: string }>().csrfToken };
}

const received = (marker: string) => backend.requests.filter(({ url }) => url!.includes(marker));

test('a server behind this one sees the user, and neither cookie nor token', async () => {
  const { cookie, csrf } = await signIn();
  const path = '/apis/away.example.com/v1/things?with=session';
  const headers = { cookie: `theirs=1; ${cookie}; more=2`, 'x-binnacle-csrf': csrf };
  expect((await anybody.send({ path, headers })).status).toBe(200);
  const [seen] = received('with=session');
  expect(seen!.headers).toMatchObject({ 'x-remote-user': 'admin', cookie: 'theirs=1; more=2' });
  expect(JSON.stringify(seen!.rawHeaders)).not.toMatch(/binnacle/i);
});

test('nor where the cookie counts for nothing', async () => {
  const { cookie, csrf } = await signIn();
  const admin = front.client();
  await admin.send({ path: '/apis/away.example.com/v1/things?without=token', headers: { cookie } });
  await admin.send({ path: '/apis/away.example.com/v1/things?without=cookie', headers: { 'x-binnacle-csrf': csrf } });
  const seen = [...received('without=token'), ...received('without=cookie')];
  expect(seen).toHaveLength(2);
  for (const { rawHeaders } of seen) expect(JSON.stringify(rawHeaders)).not.toMatch(/binnacle/i);
});

test('a page of a backend gets an origin of its own', async () => {
  const path = '/apis/away.example.com/v1/page';
  const admin = front.client();
  const shown = await admin.send({ path, headers: { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' } });
  expect(shown.headers['content-security-policy']).toMatch(/^sandbox [a-z -]+, script-src 'unsafe-inline'$/);
  expect(shown.headers['content-security-policy']).not.toContain('allow-same-origin');
  const fetched = await admin.send({ path });
  expect(fetched.headers['content-security-policy']).toBe("script-src 'unsafe-inline'");
});

test('a rehearsed write does not reach another server', async () => {
  const admin = front.client();
  const answer = await admin.send({
    method: 'POST',
    path: '/console/explain',
    body: { method: 'POST', path: '/apis/away.example.com/v1/namespaces/default/rehearsed', body: {} },
  });
  expect(answer.json<{ steps: object[] }>().steps.at(-1)).toMatchObject({ name: 'storage', result: 'skipped' });
  expect(received('rehearsed')).toEqual([]);
});

test('signing in is in the audit log; no secret is, nor in the log', async () => {
  const { cookie, csrf } = await signIn();
  await anybody.send({ path: '/api/v1/namespaces', headers: { cookie, 'x-binnacle-csrf': csrf } });
  await anybody.send({ method: 'POST', path: '/console/session', body: { token: 'wrong-secret' } });
  const { code } = (await front.client().send({ method: 'POST', path: '/console/code', body: {} })).json<{ code: string }>();
  await anybody.send({ method: 'POST', path: '/console/session', body: { code } });
  await anybody.send({ method: 'DELETE', path: '/console/session', headers: { cookie, 'x-binnacle-csrf': csrf } });
  const events = (): { requestURI: string; verb: string; user?: { username?: string }; responseStatus?: { code: number } }[] =>
    readFileSync(auditFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  await expect.poll(() => events().filter(({ requestURI }) => requestURI === '/console/session').length).toBeGreaterThanOrEqual(4);
  const signIns = events().filter(({ requestURI, verb }) => requestURI === '/console/session' && verb === 'post');
  expect(signIns).toContainEqual(
    expect.objectContaining({ user: expect.objectContaining({ username: 'admin' }), responseStatus: expect.objectContaining({ code: 200 }) }),
  );
  expect(signIns).toContainEqual(expect.objectContaining({ responseStatus: expect.objectContaining({ code: 401 }) }));
  const texts = [readFileSync(auditFile, 'utf8'), front.lines.join('\n')];
  for (const secret of [cookie.split('=')[1]!, csrf, code, 'wrong-secret', 'admin-token']) for (const text of texts) expect(text).not.toContain(secret);
});
