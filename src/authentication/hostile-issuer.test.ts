import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type SigningKey, createSigningKey, signToken } from '../../test/auth/oidc-issuer.ts';
import { type RemoteReply, RemoteServer } from '../../test/auth/remote-server.ts';
import { WebhookClient } from '../client/webhook-client.ts';
import { createAuthority } from '../serving/certificates/create.ts';
import { Random } from '../util/test-random.ts';
import { noExpressions } from './expressions.ts';
import { SIGNING_ALGORITHMS, parseJwt } from './jwt.ts';
import { JwtAuthenticators } from './jwt-authenticators.ts';
import { OidcProvider } from './oidc-provider.ts';

/* An issuer that answers nonsense, and tokens that are signed well and mean harm. The only answers are an Error and, for good tokens, their own user. */

const authority = createAuthority({ commonName: 'ca' });
const key = createSigningKey();
const jwk = { ...createPublicKey(key.privateKey).export({ format: 'jwk' }), kid: key.id, use: 'sig' };
let discovery: () => RemoteReply | Promise<RemoteReply>;
let keySet: () => RemoteReply | Promise<RemoteReply>;
const server = new RemoteServer(authority, ({ path }) => (path.startsWith('/.well-known/') ? discovery() : keySet()));
const goodDiscovery = (): RemoteReply => ({ body: { issuer: server.url, jwks_uri: `${server.url}/keys` } });
const goodKeys = (): RemoteReply => ({ body: { keys: [jwk] } });

const providers: OidcProvider[] = [];
beforeAll(() => server.listen());
afterEach(() => {
  for (const provider of providers.splice(0)) provider.close();
});
afterAll(() => server.close());

const claims = (more: object = {}): object => ({ iss: server.url, aud: 'binnacle', sub: 'alice', exp: Math.floor(Date.now() / 1000) + 600, ...more });
const DEEP = '{"a":'.repeat(200_000);

/** One whose calls end soon, and what it reports first. */
function provide(): { provider: OidcProvider; failure: Promise<string> } {
  let tell: (message: string) => void = () => {};
  const failure = new Promise<string>((resolve) => (tell = resolve));
  const client = new WebhookClient({ url: new URL(server.url), caPem: authority.certPem }, { timeoutMs: 1000 });
  const provider = new OidcProvider({ issuer: server.url, client, report: ({ message }) => tell(message), timing: { retryMs: 60_000, minRefreshMs: 0 } });
  providers.push(provider);
  return { provider, failure };
}

const never = (): Promise<RemoteReply> => new Promise(() => {});

describe('a discovery document', () => {
  test.each<[string, () => RemoteReply | Promise<RemoteReply>]>([
    ['that is no JSON', () => ({ body: 'nonsense' })],
    ['that is a list', () => ({ body: [] })],
    ['that is null', () => ({ body: 'null' })],
    ['that is deep', () => ({ body: DEEP })],
    ['that is huge', () => ({ body: `{"issuer":"${'x'.repeat(4 * 1024 * 1024)}"}` })],
    ['of another issuer', () => ({ body: { issuer: 'https://elsewhere', jwks_uri: `${server.url}/keys` } })],
    ['whose issuer is an object', () => ({ body: { issuer: { toString: 'x' }, jwks_uri: `${server.url}/keys` } })],
    ['whose issuer hides in __proto__', () => ({ body: `{"__proto__":{"issuer":"${server.url}","jwks_uri":"${server.url}/keys"}}` })],
    ['without keys', () => ({ body: { issuer: server.url } })],
    ['whose keys have no TLS', () => ({ body: { issuer: server.url, jwks_uri: 'http://127.0.0.1/keys' } })],
    ['whose keys are a file', () => ({ body: { issuer: server.url, jwks_uri: 'file:///etc/passwd' } })],
    ['that is elsewhere', () => ({ status: 302, headers: { location: `${server.url}/other` } })],
    ['with an error', () => ({ status: 500, body: { issuer: server.url, jwks_uri: `${server.url}/keys` } })],
    ['that is cut off', () => ({ isCut: true })],
    ['that never comes', never],
  ])('%s makes no issuer', async (_, reply) => {
    discovery = reply;
    const { provider, failure } = provide();
    expect(await failure).not.toBe('');
    expect(provider.isReady).toBe(false);
  });
});

describe('a key set', () => {
  const rsa = createSigningKey('RS256');
  const rsaJwk = { ...createPublicKey(rsa.privateKey).export({ format: 'jwk' }), kid: rsa.id };

  const verifyWith = async (reply: () => RemoteReply | Promise<RemoteReply>, token: string): Promise<string> => {
    discovery = goodDiscovery;
    keySet = reply;
    const { provider } = provide();
    await provider.ready;
    return provider.verify(parseJwt(token)!, SIGNING_ALGORITHMS).then(
      () => 'verified',
      ({ message }: Error) => message,
    );
  };

  test('that is good verifies', async () => {
    expect(await verifyWith(goodKeys, signToken(key, claims()))).toBe('verified');
    expect(await verifyWith(() => ({ body: { keys: [rsaJwk] } }), signToken(rsa, claims()))).toBe('verified');
  });

  test.each<[string, () => RemoteReply | Promise<RemoteReply>]>([
    ['is no JSON', () => ({ body: '<html>' })],
    ['has none', () => ({ body: {} })],
    ['has an object', () => ({ body: { keys: { 0: jwk } } })],
    ['is deep', () => ({ body: `{"keys":[${DEEP}` })],
    ['is huge', () => ({ body: `{"keys":[${`${JSON.stringify({ kty: 'RSA', n: 'x'.repeat(1000) })},`.repeat(5000)}{}]}` })],
    [
      'has keys of no type, of symmetric ones, and of nonsense',
      () => ({ body: { keys: [null, 1, [], 'x', { kty: 'oct', k: 'AA' }, { kty: 'EC', crv: 'P-256', x: '!', y: '' }, { ...jwk, kty: 'RSA' }] } }),
    ],
    ['has the key for encryption only', () => ({ body: { keys: [{ ...jwk, use: 'enc' }] } })],
    ['has the point of another curve', () => ({ body: { keys: [{ ...jwk, crv: 'P-384' }] } })],
    ['has a point that is on no curve', () => ({ body: { keys: [{ ...jwk, x: Buffer.alloc(32, 1).toString('base64url') }] } })],
    ['is elsewhere', () => ({ status: 307, headers: { location: `${server.url}/others` }, body: { keys: [jwk] } })],
    ['never comes', never],
  ])('that %s verifies nothing', async (_, reply) => {
    expect(await verifyWith(reply, signToken(key, claims()))).toMatch(/^failed to verify signature/);
  });

  test('of keys that would take long verifies nothing, soon', async () => {
    const large = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    // A modulus of 16,384 bits, and one of 3,072 whose exponent is as long.
    const slow = [
      { ...large, n: Buffer.alloc(2048, 0xf1).toString('base64url') },
      { ...large, n: Buffer.alloc(384, 0xf1).toString('base64url'), e: Buffer.alloc(384, 0x71).toString('base64url') },
    ];
    const keys = Array.from({ length: 256 }, (_, index) => slow[index % 2]);
    const startMs = performance.now();
    expect(await verifyWith(() => ({ body: { keys } }), signToken(rsa, claims(), { kid: '' }))).toMatch(/^failed to verify signature/);
    expect(performance.now() - startMs).toBeLessThan(2000);
  });
});

describe('tokens', () => {
  let tokens: JwtAuthenticators;
  beforeAll(async () => {
    discovery = goodDiscovery;
    keySet = goodKeys;
    tokens = new JwtAuthenticators([], { algorithms: SIGNING_ALGORITHMS, compile: noExpressions, report: () => {}, timing: { retryMs: 20, minRefreshMs: 0 } });
    const issuer = { url: server.url, audiences: ['binnacle'], certificateAuthority: authority.certPem };
    await tokens.replace([{ issuer, claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } } }]);
  });
  afterAll(() => tokens.close());

  const nameOf = async (token: string): Promise<string | undefined> => {
    try {
      return (await tokens.authenticateToken(token))?.user.name;
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
      return undefined;
    }
  };
  const encode = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

  test('a good one is taken', async () => {
    discovery = goodDiscovery;
    keySet = goodKeys;
    expect(await nameOf(signToken(key, claims()))).toBe('alice');
  });

  test('algorithms that are none, symmetric, or another key’s are refused', async () => {
    keySet = goodKeys;
    const content = (alg: unknown): string => `${encode({ alg, kid: key.id })}.${encode(claims())}`;
    const publicPem = createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' });
    for (const alg of ['none', 'None', 'NONE', '', null, 1, ['ES256'], { a: 1 }]) {
      for (const signature of ['', 'AA']) expect(await nameOf(`${content(alg)}.${signature}`)).toBeUndefined();
    }
    // The public key as the secret of an HMAC, in every form that somebody might take.
    for (const secret of [publicPem, createPublicKey(key.privateKey).export({ type: 'spki', format: 'der' }), jwk.x!, '']) {
      expect(await nameOf(`${content('HS256')}.${createHmac('sha256', secret).update(content('HS256')).digest('base64url')}`)).toBeUndefined();
    }
    for (const alg of ['RS256', 'PS256', 'ES384', 'ES512']) expect(await nameOf(signToken(key, claims(), { alg }))).toBeUndefined();
    for (const header of [{ crit: ['exp'] }, { crit: [] }, { jwk, alg: 'none' }]) expect(await nameOf(signToken(key, claims(), header))).toBeUndefined();
    const stranger: SigningKey = createSigningKey();
    for (const header of [
      { kid: key.id },
      { jwk: createPublicKey(stranger.privateKey).export({ format: 'jwk' }) },
      { jku: `${server.url}/keys` },
      { x5u: server.url },
    ]) {
      expect(await nameOf(signToken(stranger, claims(), header))).toBeUndefined();
    }
    // An ECDSA signature of zeros (CVE-2022-21449).
    expect(await nameOf(`${content('ES256')}.${Buffer.alloc(64).toString('base64url')}`)).toBeUndefined();
  });

  test('bodies that are deep, huge or no objects are refused', async () => {
    for (const body of [DEEP.slice(0, 20_000), '[]', 'null', '1', '"x"', '{', '{"iss":1}', `{"iss":"${server.url}","iss":"https://elsewhere"}`]) {
      expect(await nameOf(`${encode({ alg: 'ES256', kid: key.id })}.${encode(body)}.AAAA`)).toBeUndefined();
    }
    expect(await nameOf(signToken(key, claims({ large: 'x'.repeat(100_000) })))).toBeUndefined();
  });

  test('5,000 that are signed well, with claims of odd types, are their subject’s or nobody’s', async () => {
    const random = new Random(7519);
    const odd = (): unknown =>
      random.pick<() => unknown>([
        () => null,
        () => true,
        () => random.below(2 ** 31) - 2 ** 30,
        () => -1e308,
        () => 1e308,
        () => '',
        () => 'alice',
        () => 'system:masters',
        () => ['system:masters', 1, null],
        () => [[['binnacle']]],
        () => ({ alice: 'alice' }),
        () => ({ __proto__: null, constructor: 1 }),
        () => 'x'.repeat(random.below(5000)),
        () => '\u0000\u2028',
      ])();
    let accepted = 0;
    for (let round = 0; round < 5000; round++) {
      const changes = Array.from({ length: 1 + random.below(3) }, () => [
        random.pick(['iss', 'aud', 'sub', 'exp', 'nbf', 'iat', 'azp', 'groups', '_claim_names', '_claim_sources', 'email_verified', '__proto__']),
        odd(),
      ]);
      const all = { ...claims(), ...(Object.fromEntries(changes) as object) } as { sub: unknown; aud: unknown };
      const name = await nameOf(signToken(key, all));
      if (name === undefined) continue;
      accepted++;
      expect(name).toBe(all.sub);
      expect([all.aud].flat()).toContain('binnacle');
    }
    expect(accepted).toBeGreaterThan(100);
  }, 60_000);
});
