import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Authority, createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { ApiClient, type TestObject } from '../support/api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from '../support/server.ts';
import { OidcIssuer, createSigningKey, signToken } from './oidc-issuer.ts';
import { RemoteServer, kubeconfigOf } from './remote-server.ts';

/* Every authenticator, over a real connection: what is good is taken for whom it should be, what is not is refused. */

const authority: Authority = createAuthority({ commonName: 'remote-ca' });
const clientAuthority = createAuthority({ commonName: 'client-ca' });
const proxyAuthority = createAuthority({ commonName: 'proxy-ca' });
const stranger = createAuthority({ commonName: 'somebody-else' });

const [ecKey, rsaKey, pssKey, unknownKey] = [createSigningKey('ES256'), createSigningKey('RS256'), createSigningKey('PS256'), createSigningKey('ES256')];
const issuer = new OidcIssuer(authority, ecKey, rsaKey, pssKey);
/** Its discovery document is elsewhere. */
const hidden = new OidcIssuer(authority, ecKey);
const reviews = new RemoteServer(authority, ({ body }) => reviewReply(JSON.parse(body)), clientAuthority);

interface TokenReview {
  kind: string;
  apiVersion: string;
  spec: { token: string; audiences?: string[] };
}

function reviewReply({ kind, apiVersion, spec: { token, audiences } }: TokenReview): { status?: number; body: object | string } {
  const answer = (status: object): { body: object } => ({ body: { kind, apiVersion, status } });
  if (token.startsWith('hook-good'))
    return answer({ authenticated: true, user: { username: 'hooked', uid: 'h1', groups: ['hooks'], extra: { scope: ['all'] } }, audiences });
  if (token.startsWith('hook-elsewhere')) return answer({ authenticated: true, user: { username: 'hooked' }, audiences: ['elsewhere'] });
  if (token.startsWith('hook-error')) return answer({ authenticated: false, error: 'token expired yesterday' });
  if (token.startsWith('hook-garbage')) return { body: '<html>' };
  if (token.startsWith('hook-other-kind')) return { body: { kind: 'Other', apiVersion: 'v1', status: { authenticated: true, user: { username: 'hooked' } } } };
  if (token.startsWith('hook-redirect')) return { status: 302, body: '' };
  return answer({ authenticated: false });
}

let server: ServerProcess;
const folder = temporaryFolder();
const write = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

beforeAll(async () => {
  await Promise.all([issuer.server.listen(), hidden.server.listen(), reviews.listen()]);
  hidden.claimedUrl = 'https://hidden.example.com';
  const jwt = (url: string, more: object): object => ({
    issuer: { url, certificateAuthority: authority.certPem, audiences: ['binnacle', 'other'], audienceMatchPolicy: 'MatchAny', ...more },
    claimMappings: { username: { claim: 'sub', prefix: 'oidc:' }, groups: { claim: 'groups', prefix: 'oidc-' }, uid: { claim: 'uid' } },
    claimValidationRules: [
      { claim: 'tenant', requiredValue: 'ours' },
      { expression: 'claims.?banned.orValue(false) != true', message: 'banned' },
    ],
    userValidationRules: [{ expression: "user.username != 'oidc:nobody'", message: 'nobody' }],
  });
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [jwt(issuer.url, {}), jwt(hidden.claimedUrl, { discoveryURL: `${hidden.url}/somewhere/.well-known/openid-configuration` })],
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }] },
  };
  server = await startServer({
    flags: [
      `--authentication-config=${write('authentication.yaml', JSON.stringify(configuration))}`,
      `--client-ca-file=${write('client-ca.crt', clientAuthority.certPem)}`,
      `--requestheader-client-ca-file=${write('proxy-ca.crt', proxyAuthority.certPem)}`,
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-uid-headers=X-Remote-Uid',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--enable-bootstrap-token-auth',
      `--basic-auth-file=${write('passwords.csv', 'open sesame,basil,b1,"cooks,staff"\n')}`,
      `--authentication-token-webhook-config-file=${write('webhook.kubeconfig', kubeconfigOf(`${reviews.url}/review`, authority, signCertificate(clientAuthority, { commonName: 'apiserver', usages: ['client'] })))}`,
      '--authentication-token-webhook-version=v1',
      '--v=2',
    ],
  });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([issuer.server.close(), hidden.server.close(), reviews.close()]);
});

interface Attempt {
  token?: string;
  headers?: Record<string, string>;
  certificate?: { certPem: string; keyPem: string };
}

const clientFor = ({ token, certificate }: Attempt): ApiClient =>
  new ApiClient({
    port: server.port,
    ca: server.ca,
    ...(token !== undefined && { token }),
    ...(certificate && { cert: certificate.certPem, key: certificate.keyPem }),
  });

interface WhoAmI extends TestObject {
  status: { userInfo: { username: string; uid?: string; groups: string[]; extra?: Record<string, string[]> } };
}

/** The user's name, or the status of the refusal. */
async function whoIs(attempt: Attempt): Promise<WhoAmI['status']['userInfo'] | number> {
  const answer = await clientFor(attempt).send({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' },
    ...(attempt.headers && { headers: attempt.headers }),
  });
  return answer.status === 201 ? answer.json<WhoAmI>().status.userInfo : answer.status;
}

const nowSeconds = Math.floor(Date.now() / 1000);
const oversized = 'x'.repeat(70_000);

describe('OpenID tokens', () => {
  const good = (more: object = {}): object => issuer.claims({ tenant: 'ours', uid: 'u7', groups: ['devs', 'ops'], jti: 'j1', ...more });

  test.each([
    ['ES256', ecKey],
    ['RS256', rsaKey],
    ['PS256', pssKey],
  ])('%s: the claims make the user', async (_name, key) => {
    expect(await whoIs({ token: signToken(key, good()) })).toEqual({
      username: 'oidc:alice',
      uid: 'u7',
      groups: ['oidc-devs', 'oidc-ops', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'] },
    });
  });

  test('an issuer whose discovery document is elsewhere, and a group that stands alone', async () => {
    const claims = hidden.claims({ tenant: 'ours', uid: 'u8', groups: 'devs', aud: ['third', 'other'] });
    expect(await whoIs({ token: signToken(ecKey, claims) })).toMatchObject({ username: 'oidc:alice', groups: ['oidc-devs', 'system:authenticated'] });
  });

  test.each<[string, () => string]>([
    ['expired', () => signToken(ecKey, good({ exp: nowSeconds - 1 }))],
    ['no end', () => signToken(ecKey, good({ exp: undefined }))],
    ['an end that is text', () => signToken(ecKey, good({ exp: '9999999999' }))],
    ['not valid yet', () => signToken(ecKey, good({ nbf: nowSeconds + 600 }))],
    ['wrong audience', () => signToken(ecKey, good({ aud: 'someone' }))],
    ['no audience', () => signToken(ecKey, good({ aud: undefined }))],
    ['wrong key', () => signToken(unknownKey, good())],
    ["another key under a known key's name", () => signToken({ ...unknownKey, id: ecKey.id }, good())],
    ['no algorithm', () => `${signToken(ecKey, good(), { alg: 'none' }).split('.').slice(0, 2).join('.')}.`],
    ['no algorithm, with the signature', () => signToken(ecKey, good(), { alg: 'none' })],
    ['an algorithm of another kind of key', () => signToken(ecKey, good(), { alg: 'RS256' })],
    ['a secret as if it were shared', () => signToken(ecKey, good(), { alg: 'HS256' })],
    ['something that must be understood', () => signToken(ecKey, good(), { crit: ['b64'], b64: false })],
    ['a required claim that differs', () => signToken(ecKey, good({ tenant: 'theirs' }))],
    ['a required claim that is missing', () => signToken(ecKey, good({ tenant: undefined }))],
    ['a rule over its claims', () => signToken(ecKey, good({ banned: true }))],
    ['a rule over its user', () => signToken(ecKey, good({ sub: 'nobody' }))],
    ['no user name', () => signToken(ecKey, good({ sub: undefined }))],
    ['a user name that is no text', () => signToken(ecKey, good({ sub: 7 }))],
    ['groups that are no texts', () => signToken(ecKey, good({ groups: [1] }))],
    [
      'groups to be fetched from elsewhere',
      () => signToken(ecKey, good({ groups: undefined, _claim_names: { groups: 's' }, _claim_sources: { s: { endpoint: 'https://127.0.0.1/' } } })),
    ],
    ["another issuer's token with this issuer's key", () => signToken(ecKey, good({ iss: 'https://nobody.example.com' }))],
    ['changed claims', () => tampered(signToken(ecKey, good()))],
    ['malformed', () => signToken(ecKey, good()).replace('.', '..')],
    ['oversized', () => signToken(ecKey, good({ padding: oversized.slice(0, 40_000) })).slice(0, 50_000)],
  ])('%s: refused', async (_name, token) => {
    expect(await whoIs({ token: token() })).toBe(401);
  });

  test('a key that came later is fetched, one that went is no longer good for new tokens', async () => {
    const fresh = createSigningKey('ES256');
    issuer.keys = [fresh];
    expect(await whoIs({ token: signToken(fresh, good({ sub: 'bob' })) })).toMatchObject({ username: 'oidc:bob' });
    expect(await whoIs({ token: signToken(ecKey, good({ sub: 'carol' })) })).toBe(401);
    issuer.keys = [ecKey, rsaKey, pssKey];
  });
});

function tampered(token: string): string {
  const [header, claims, signature] = token.split('.');
  const changed = { ...JSON.parse(Buffer.from(claims!, 'base64url').toString()), sub: 'admin' };
  return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
}

describe('the token webhook', () => {
  test('says who it is; the answer is remembered', async () => {
    const token = `hook-good-${randomUUID()}`;
    const expected = { username: 'hooked', uid: 'h1', groups: ['hooks', 'system:authenticated'], extra: { scope: ['all'] } };
    expect(await whoIs({ token })).toEqual(expected);
    expect(await whoIs({ token })).toEqual(expected);
    const asked = reviews.requests.filter(({ body }) => body.includes(token));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/review?timeout=30s', clientName: 'apiserver' });
    expect(JSON.parse(asked[0]!.body)).toMatchObject({
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      spec: { token, audiences: ['https://kubernetes.default.svc.cluster.local'] },
    });
  });

  test.each(['hook-bad', 'hook-elsewhere', 'hook-error', 'hook-garbage', 'hook-other-kind', 'hook-redirect'])('%s: refused', async (token) => {
    expect(await whoIs({ token })).toBe(401);
  });

  test('TokenReviews of our own go there too', async () => {
    const body = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token: `hook-good-${randomUUID()}`, audiences: ['vault'] } };
    const answer = await server.client().send({ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body });
    expect(answer.json()).toMatchObject({ status: { authenticated: true, user: { username: 'hooked' }, audiences: ['vault'] } });
  });
});

describe('a front proxy', () => {
  const proxy = signCertificate(proxyAuthority, { commonName: 'front-proxy', usages: ['client'] });
  const headers = {
    'X-Remote-User': 'zoe',
    'X-Remote-Uid': 'z1',
    'X-Remote-Group': 'keepers',
    'X-Remote-Extra-Acme.com%2fproject': 'zoo',
    'X-Remote-Extra-__proto__': 'data',
  };

  test('names the user in headers', async () => {
    const user = await whoIs({ certificate: proxy, headers });
    expect(user).toMatchObject({ username: 'zoe', uid: 'z1', groups: ['keepers', 'system:authenticated'] });
    expect((user as { extra: object }).extra).toEqual(JSON.parse('{"acme.com/project":["zoo"],"__proto__":["data"]}'));
  });

  test.each<[string, Attempt]>([
    ['no certificate', { headers }],
    ['a name that is not allowed', { certificate: signCertificate(proxyAuthority, { commonName: 'another', usages: ['client'] }), headers }],
    ['an unknown authority', { certificate: signCertificate(stranger, { commonName: 'front-proxy', usages: ['client'] }), headers }],
    [
      'expired',
      {
        certificate: signCertificate(proxyAuthority, { commonName: 'front-proxy', usages: ['client'], notBefore: new Date(0), notAfter: new Date(1e12) }),
        headers,
      },
    ],
    ['a certificate for servers', { certificate: signCertificate(proxyAuthority, { commonName: 'front-proxy', usages: ['server'] }), headers }],
    ['no name', { certificate: proxy, headers: { 'X-Remote-Group': 'system:masters' } }],
  ])('%s: nobody', async (_name, attempt) => {
    expect(await whoIs(attempt)).toBe(401);
  });

  test("a client's own certificate gives the headers no weight", async () => {
    const certificate = signCertificate(clientAuthority, { commonName: 'front-proxy', organizations: ['people'], usages: ['client'] });
    expect(await whoIs({ certificate, headers })).toMatchObject({ username: 'front-proxy', groups: ['people', 'system:authenticated'] });
  });

  test('is made known to aggregated servers', async () => {
    const configMap = await server.client().get('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication');
    expect(configMap.data).toMatchObject({
      'requestheader-client-ca-file': proxyAuthority.certPem,
      'requestheader-allowed-names': '["front-proxy"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    });
  });
});

describe('passwords', () => {
  const basic = (text: string): Attempt => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } });

  test('a good one', async () => {
    expect(await whoIs(basic('basil:open sesame'))).toEqual({ username: 'basil', uid: 'b1', groups: ['cooks', 'staff', 'system:authenticated'] });
  });

  test.each<[string, Attempt]>([
    ['a wrong password', basic('basil:open')],
    ['a wrong name', basic('basi:lopen sesame')],
    ['no colon', basic('basil')],
    ['nothing', { headers: { authorization: 'Basic ' } }],
    ['no base64', { headers: { authorization: 'Basic !!!' } }],
    ['oversized', basic(`basil:${oversized.slice(0, 9_000)}`)],
  ])('%s: refused', async (_name, attempt) => {
    expect(await whoIs(attempt)).toBe(401);
  });
});

describe('bootstrap tokens', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const create = async (id: string, more: Record<string, string> = {}, type = 'bootstrap.kubernetes.io/token'): Promise<void> => {
    const data = { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true', ...more };
    const body = {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: `bootstrap-token-${id}` },
      type,
      data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
    };
    expect((await server.client().send({ method: 'POST', path: '/api/v1/namespaces/kube-system/secrets', body })).status).toBe(201);
  };

  test('a good one, until its secret goes', async () => {
    await create('aaaaaa', { 'auth-extra-groups': 'system:bootstrappers:workers', expiration: '2999-01-01T00:00:00Z' });
    const attempt = { token: 'aaaaaa.0123456789abcdef' };
    expect(await whoIs(attempt)).toEqual({
      username: 'system:bootstrap:aaaaaa',
      groups: ['system:bootstrappers', 'system:bootstrappers:workers', 'system:authenticated'],
    });
    await server.client().send({ method: 'DELETE', path: '/api/v1/namespaces/kube-system/secrets/bootstrap-token-aaaaaa' });
    expect(await whoIs(attempt)).toBe(401);
  });

  test.each<[string, string, Record<string, string>, string?]>([
    ['expired', 'bbbbbb', { expiration: '2001-01-01T00:00:00Z' }],
    ['an end that cannot be read', 'cccccc', { expiration: 'tomorrow' }],
    ['another secret', 'dddddd', { 'token-secret': 'fedcba9876543210' }],
    ['another id', 'eeeeee', { 'token-id': 'ffffff' }],
    ['for another use', 'gggggg', { 'usage-bootstrap-authentication': 'false' }],
    ['groups that are not for it', 'hhhhhh', { 'auth-extra-groups': 'system:masters' }],
    ['another type', 'iiiiii', {}, 'Opaque'],
  ])('%s: refused', async (_name, id, more, type) => {
    await create(id, more, type);
    expect(await whoIs({ token: `${id}.0123456789abcdef` })).toBe(401);
  });
});

describe('anonymous requests', () => {
  test('are for the paths of the configuration only', async () => {
    expect((await clientFor({}).send({ path: '/livez' })).status).toBe(200);
    expect((await clientFor({}).send({ path: '/healthz' })).status).toBe(401);
    expect((await clientFor({ token: 'unknown' }).send({ path: '/livez' })).status).toBe(401);
  });
});

test('nothing of a token is in the log', () => {
  const text = server.lines.join('\n');
  expect(text).not.toMatch(/hook-good|eyJ[A-Za-z0-9_-]{10}|open sesame|0123456789abcdef/);
});
