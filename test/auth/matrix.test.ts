import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Authority, createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { ApiClient, type TestObject } from '../support/api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from '../support/server.ts';
import { createSigningKey, signToken } from './oidc-issuer.ts';

/*
 * The authenticators that ask nobody outside, each against: valid, expired, wrong audience, wrong key, malformed, oversized. authentication.test.ts has the
 * same rows for OpenID issuers, the token webhook, front proxies, passwords and bootstrap tokens; authorization.test.ts the authorizers. Where a
 * credential has no such side (a line of a file never expires) the row is not there.
 */

const clientAuthority = createAuthority({ commonName: 'client-ca' });
const otherAuthority = createAuthority({ commonName: 'client-ca' });
const folder = temporaryFolder();
const write = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const accountKey = createSigningKey('RS256');
const accountKeyFile = write('service-accounts.key', accountKey.privateKey.export({ type: 'pkcs1', format: 'pem' }) as string);

let server: ServerProcess;
let bound: string;
let legacy: string;
const NAMESPACE = '/api/v1/namespaces/default';

beforeAll(async () => {
  server = await startServer({
    flags: [
      `--client-ca-file=${write('client-ca.crt', clientAuthority.certPem)}`,
      `--service-account-key-file=${accountKeyFile}`,
      `--service-account-signing-key-file=${accountKeyFile}`,
      '--anonymous-auth=false',
      '--api-audiences=api,other',
    ],
  });
  const admin = server.client('admin');
  const account = await admin.create(`${NAMESPACE}/serviceaccounts`, { metadata: { name: 'robot' } });
  bound = await tokenOf({ audiences: ['api'] });
  const secret = await admin.create(`${NAMESPACE}/secrets`, {
    metadata: {
      name: 'robot-token',
      annotations: { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': account.metadata.uid },
    },
    type: 'kubernetes.io/service-account-token',
  });
  legacy = signToken(accountKey, legacyClaims(secret, account), { kid: '' });
  await admin.update(`${NAMESPACE}/secrets/robot-token`, { ...secret, data: { token: Buffer.from(legacy).toString('base64') } });
  admin.close();
});
afterAll(() => server?.stop());

async function tokenOf(spec: object): Promise<string> {
  const admin = server.client('admin');
  const request = await admin.create(`${NAMESPACE}/serviceaccounts/robot/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
  admin.close();
  return (request as TestObject & { status: { token: string } }).status.token;
}

/** What the token controller signs for a secret. */
const legacyClaims = (secret: TestObject, account: TestObject): object => ({
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:default:robot',
  'kubernetes.io/serviceaccount/namespace': 'default',
  'kubernetes.io/serviceaccount/secret.name': secret.metadata.name,
  'kubernetes.io/serviceaccount/service-account.name': 'robot',
  'kubernetes.io/serviceaccount/service-account.uid': account.metadata.uid,
});

interface Attempt {
  token?: string;
  certificate?: { certPem: string; keyPem: string };
}

async function nameOf({ token, certificate }: Attempt): Promise<string | number> {
  const client = new ApiClient({
    port: server.port,
    ca: server.ca,
    ...(token !== undefined && { token }),
    ...(certificate && { cert: certificate.certPem, key: certificate.keyPem }),
  });
  const answer = await client.send({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' },
  });
  client.close();
  return answer.status === 201 ? answer.json<{ status: { userInfo: { username: string } } }>().status.userInfo.username : answer.status;
}

/** The same token with other claims and the old signature. */
function withClaims(token: string, more: object): string {
  const [header, claims, signature] = token.split('.');
  const changed = { ...JSON.parse(Buffer.from(claims!, 'base64url').toString()), ...more };
  return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
}

/** The same claims, signed by someone else. */
function withKey(token: string): string {
  return signToken(createSigningKey('RS256'), claimsOf(token));
}

const claimsOf = (token: string): object => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as object;

const certificate = (authority: Authority, more: object = {}): Attempt => ({
  certificate: signCertificate(authority, { commonName: 'carla', organizations: ['cooks'], usages: ['client'], ...more }),
});

const HOUR_MS = 3_600_000;
const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR_MS);

type Row = [what: string, attempt: () => Attempt, expected: string | number];

describe.each<[string, Row[]]>([
  [
    'client certificates',
    [
      ['valid', () => certificate(clientAuthority), 'carla'],
      ['expired', () => certificate(clientAuthority, { notBefore: ago(3), notAfter: ago(1) }), 401],
      ['wrong purpose', () => certificate(clientAuthority, { usages: ['server'] }), 401],
      ['wrong key', () => certificate(otherAuthority), 401],
      ['names nobody', () => certificate(clientAuthority, { commonName: '' }), 401],
    ],
  ],
  [
    'lines of the token file',
    [
      ['valid', () => ({ token: 'alice-token' }), 'alice'],
      ['wrong', () => ({ token: 'alice-tokem' }), 401],
      ['malformed', () => ({ token: 'alice-token,alice' }), 401],
      ['oversized', () => ({ token: 'alice-token'.repeat(6_000) }), 401],
    ],
  ],
  [
    'bound tokens of service accounts',
    [
      ['valid', () => ({ token: bound }), 'system:serviceaccount:default:robot'],
      ['expired', () => ({ token: withClaims(bound, { exp: 1 }) }), 401],
      ['wrong audience, signed over', () => ({ token: withClaims(bound, { aud: ['elsewhere'] }) }), 401],
      ['wrong key', () => ({ token: withKey(bound) }), 401],
      ['malformed', () => ({ token: bound.replace('.', '') }), 401],
      ['oversized', () => ({ token: bound + 'A'.repeat(70_000) }), 401],
    ],
  ],
  [
    'legacy tokens of service accounts',
    [
      ['valid', () => ({ token: legacy }), 'system:serviceaccount:default:robot'],
      ['not the one in the secret', () => ({ token: signToken(accountKey, claimsOf(legacy), { kid: '', typ: 'JWT' }) }), 401],
      ['wrong key', () => ({ token: withKey(legacy) }), 401],
      ['malformed', () => ({ token: legacy.slice(0, -10) }), 401],
      ['oversized', () => ({ token: legacy + 'A'.repeat(70_000) }), 401],
    ],
  ],
])('%s', (_authenticator, rows) => {
  test.each(rows)('%s', async (_what, attempt, expected) => expect(await nameOf(attempt())).toBe(expected));
});

test('a token for another audience is good there, and not here', async () => {
  expect(await nameOf({ token: await tokenOf({ audiences: ['elsewhere'] }) })).toBe(401);
  expect(await nameOf({ token: await tokenOf({ audiences: ['other'] }) })).toBe('system:serviceaccount:default:robot');
});
