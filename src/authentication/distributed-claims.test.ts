import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { OidcIssuer, createSigningKey, signToken } from '../../test/auth/oidc-issuer.ts';
import { RemoteServer, type RemoteReply } from '../../test/auth/remote-server.ts';
import { createAuthority } from '../serving/certificates/create.ts';
import { type Dial, dialDirectly } from '../net/dial.ts';
import type { JwtConfiguration } from './authentication-configuration.ts';
import { noExpressions } from './expressions.ts';
import { SIGNING_ALGORITHMS } from './jwt.ts';
import { JwtAuthenticators } from './jwt-authenticators.ts';

const authority = createAuthority({ commonName: 'ca' });
const key = createSigningKey();
const otherKey = createSigningKey();
const issuer = new OidcIssuer(authority, key);
/** Who keeps the groups, with an issuer of its own. */
const keeper = new OidcIssuer(authority, otherKey);
let answer: () => RemoteReply;
const endpoint = new RemoteServer(authority, () => answer());
let tokens: JwtAuthenticators;
const reports: string[] = [];

const configuration = (): JwtConfiguration[] => [
  {
    issuer: { url: issuer.url, audiences: ['binnacle'], certificateAuthority: authority.certPem },
    claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: 'far:' } },
  },
];

beforeAll(async () => {
  await Promise.all([issuer.server.listen(), keeper.server.listen(), endpoint.listen()]);
  tokens = new JwtAuthenticators([], {
    algorithms: SIGNING_ALGORITHMS,
    compile: noExpressions,
    report: (error) => void reports.push(error.message),
    timing: { retryMs: 20, minRefreshMs: 1 },
  });
  // As a new configuration is taken over: once its issuer was reached.
  await tokens.replace(configuration());
});
afterAll(async () => {
  tokens.close();
  await Promise.all([issuer.server.close(), keeper.server.close(), endpoint.close()]);
});
beforeEach(() => {
  endpoint.requests.length = 0;
  answer = () => ({ headers: { 'content-type': 'application/jwt' }, body: signToken(otherKey, keeper.claims({ groups: ['a', 'b'] })) });
});

let serial = 0;
/** No two tokens are the same: accepted ones are remembered. */
const authenticate = async (claims: object): Promise<unknown> => tokens.authenticateToken(signToken(key, issuer.claims({ serial: serial++, ...claims })));
const elsewhere = (source: object = {}): object => ({
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: `${endpoint.url}/claims`, access_token: 'f005ba11', ...source } },
});

test('groups that are kept elsewhere are fetched, with the token that goes with them', async () => {
  expect(await authenticate(elsewhere())).toMatchObject({ user: { name: 'alice', groups: ['far:a', 'far:b'] } });
  expect(endpoint.requests).toMatchObject([{ method: 'GET', path: '/claims', headers: { authorization: 'Bearer f005ba11' } }]);
});

test('no token is sent where there is none', async () => {
  await authenticate(elsewhere({ access_token: undefined }));
  expect(endpoint.requests[0]!.headers.authorization).toBeUndefined();
});

test.each<[string, () => object, string[]]>([
  ['groups of its own', () => ({ groups: ['own'], ...elsewhere() }), ['far:own']],
  ['another claim that is elsewhere', () => ({ ...elsewhere(), _claim_names: { address: 'src1' } }), []],
  ['an aggregated claim', () => ({ ...elsewhere(), _claim_sources: { src1: { JWT: 'x.y.z' } } }), []],
])('a token with %s needs nothing', async (_what, claims, groups) => {
  expect(await authenticate(claims())).toMatchObject({ user: { groups } });
  expect(endpoint.requests).toEqual([]);
});

test.each<[string, () => object, string]>([
  ['no sources', () => ({ _claim_names: { groups: 'src1' } }), 'oidc: no claim sources'],
  ['a source that is not there', () => ({ ...elsewhere(), _claim_sources: {} }), 'id token _claim_names contained a source src1 missing in _claims_sources'],
  ['names that are no object', () => ({ ...elsewhere(), _claim_names: 'src1' }), 'oidc: error parsing distributed claim names'],
  ['sources that are no object', () => ({ ...elsewhere(), _claim_sources: [] }), 'oidc: could not parse claim sources'],
  ['an endpoint without TLS', () => elsewhere({ endpoint: 'http://127.0.0.1/' }), 'while getting distributed claim "groups": the endpoint is no URL of https'],
])('a token with %s is refused', async (_what, claims, message) => {
  await expect(authenticate(claims())).rejects.toThrow(`oidc: could not expand distributed claims: ${message}`);
});

test.each<[string, () => RemoteReply, string]>([
  ['an error', () => ({ status: 403 }), 'error while getting distributed claim JWT: 403'],
  ['a redirect', () => ({ status: 302, headers: { location: `${issuer.url}/keys` } }), 'error while getting distributed claim JWT: 302'],
  ['no JWT', () => ({ body: 'groups' }), 'getting untrusted issuer from endpoint'],
  ['a cut connection', () => ({ isCut: true }), 'while getting distributed claim "groups"'],
  ['a JWT without the claim', () => ({ body: signToken(otherKey, keeper.claims()) }), 'did not contain claim: groups'],
  ["a JWT of another's key", () => ({ body: signToken(key, keeper.claims({ groups: ['a'] })) }), 'verify distributed claim token: failed to verify signature'],
  [
    'a JWT for another audience',
    () => ({ body: signToken(otherKey, keeper.claims({ groups: ['a'], aud: 'x' })) }),
    'verify distributed claim token: oidc: expected audience',
  ],
  [
    'a JWT that has ended',
    () => ({ body: signToken(otherKey, keeper.claims({ groups: ['a'], exp: 1 })) }),
    'verify distributed claim token: oidc: token is expired',
  ],
  [
    'a JWT of an issuer that is not there',
    () => ({ body: signToken(otherKey, keeper.claims({ groups: ['a'], iss: 'https://127.0.0.1:1' })) }),
    'verifier not initialized',
  ],
])('an endpoint that answers with %s gives nobody groups', async (_what, reply, message) => {
  answer = reply;
  await expect(authenticate(elsewhere())).rejects.toThrow(message);
});

test('an issuer that names a way is reached that way, and so is who keeps claims for it', async () => {
  const dialled: string[] = [];
  const dialFor = (name: string) => {
    const dial: Dial = (host, port, signal) => {
      dialled.push(`${name} ${host}:${port}`);
      return dialDirectly(host, port, signal);
    };
    return dial;
  };
  const far = new JwtAuthenticators([], { algorithms: SIGNING_ALGORITHMS, compile: noExpressions, report: () => {}, dialFor });
  const [only] = configuration();
  await far.replace([{ ...only!, issuer: { ...only!.issuer, egressSelectorType: 'cluster' } }]);
  const token = signToken(key, issuer.claims({ serial: serial++, ...elsewhere() }));
  expect(await far.authenticateToken(token)).toMatchObject({ user: { groups: ['far:a', 'far:b'] } });
  far.close();
  const places = [issuer.url, endpoint.url, keeper.url].map((url) => `cluster ${new URL(url).host}`);
  expect(new Set(dialled)).toEqual(new Set(places));
});
