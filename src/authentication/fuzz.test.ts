import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClient } from '../client/fake-client.ts';
import type { ServerRequest } from '../endpoints/request.ts';
import type { Authentication, Authenticator } from '../server/authenticator.ts';
import { createAuthority, signCertificate } from '../serving/certificates/create.ts';
import { decodePem } from '../serving/certificates/pem.ts';
import { Random } from '../util/test-random.ts';
import { loadBasicAuthFile } from './basic-auth.ts';
import { bootstrapTokens } from './bootstrap-token.ts';
import { createAuthenticator } from './chain.ts';
import { keyId, signJwt } from './jwt.ts';
import { LegacyServiceAccountTokens } from './legacy-service-account.ts';
import { OidcTokens } from './oidc.ts';
import type { OidcProvider } from './oidc-provider.ts';
import { claimsFor } from './service-account-claims.ts';
import { ServiceAccountTokens } from './service-account.ts';
import { FixedPublicKeys } from './public-keys.ts';
import { loadTokenFile } from './token-file.ts';

/* Credentials that nobody issued: the only answers are "nobody" and an Error; never a user, never anything else thrown. */

const ROUNDS = 10_000;
const SEED = 20_260_704;
/** BINNACLE_FUZZ_ROUNDS=100000 is the long run. */
const rounds = Number(process.env.BINNACLE_FUZZ_ROUNDS ?? ROUNDS);

const folder = mkdtempSync(join(tmpdir(), 'binnacle-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const clientAuthority = createAuthority({ commonName: 'clients' });
const proxyAuthority = createAuthority({ commonName: 'proxies' });
const client = new FakeClient();
const now = (): Date => new Date();
let authenticator: Authenticator;
let goodTokens: string[];

beforeAll(async () => {
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'robot', namespace: 'ns', uid: 'u1' } };
  await client.resource('', 'serviceaccounts').create('ns', account);
  const terms = { issuer: 'https://api', id: 'j1', audiences: ['https://api'], now: now(), lifetimeSeconds: 3600, warnAfterSeconds: 0 };
  const bound = await signJwt(privateKey, keyId(publicKey), claimsFor({ account }, terms));
  const openId = await signJwt(privateKey, 'k', { iss: 'https://issuer', aud: 'us', sub: 'alice', exp: Date.now() / 1000 + 3600 });
  const [tokenFile, passwordFile] = [join(folder, 'tokens.csv'), join(folder, 'passwords.csv')];
  writeFileSync(tokenFile, 'static-token-0123456789,file-user,u2\n');
  writeFileSync(passwordFile, 'open sesame,basil,b1\n');
  const signed = { publicKeys: new FixedPublicKeys(() => Promise.resolve([publicKey])), apiAudiences: ['https://api'], client, now };
  // The key is at hand; how keys come is tested with a real issuer.
  const provider = {
    isReady: true,
    async verify(jwt: Parameters<OidcProvider['verify']>[0], algorithms: readonly string[]) {
      if (!jwt.isSignedBy(publicKey, algorithms)) throw new Error('no');
    },
  } as unknown as OidcProvider;
  const oidc = new OidcTokens({
    issuers: [{ url: 'https://issuer', audiences: ['us'], provider, readClaims: ({ sub }) => ({ name: String(sub), groups: [] }) }],
    algorithms: ['RS256', 'ES256'],
  });
  const authorities = { clients: [clientAuthority.certPem], proxies: [proxyAuthority.certPem] };
  authenticator = createAuthenticator({
    requestHeader: {
      authorities: () => authorities.proxies,
      allowedNames: [],
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: [],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
    },
    clientCertificates: { authorities: () => authorities.clients },
    passwords: loadBasicAuthFile(passwordFile),
    tokens: [
      loadTokenFile(tokenFile, () => {}),
      new ServiceAccountTokens({ ...signed, issuers: ['https://api'] }),
      new LegacyServiceAccountTokens({ ...signed, isLookedUp: true, report() {} }),
      bootstrapTokens(client, now),
      oidc,
    ],
  });
  goodTokens = [bound, openId, 'static-token-0123456789'];
});

test('what was issued is taken', async () => {
  const names = await Promise.all(goodTokens.map(async (token) => (await ask({ authorization: `Bearer ${token}` }))?.user.name));
  expect(names).toEqual(['system:serviceaccount:ns:robot', 'alice', 'file-user']);
});

/** Faults of ours, that no credential may bring about. */
const faults: unknown[] = [];

async function ask(headers: Record<string, string>, peerCertificates: readonly Buffer[] = []): Promise<Authentication | undefined> {
  const exchange = {
    headers,
    headerValues: (name: string) => (headers[name] === undefined ? [] : [headers[name]]),
    connection: { peerCertificates, requestClose() {} },
  };
  const request = { exchange, info: { path: '/' }, warn() {}, annotateAudit() {} } as unknown as ServerRequest;
  try {
    return await authenticator.authenticate(request);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) faults.push(error);
    return undefined;
  }
}

const PIECES = [
  'Bearer',
  'bearer',
  'Basic',
  'Negotiate',
  ' ',
  '  ',
  '\t',
  '.',
  '..',
  '=',
  'e30',
  'e30.e30.',
  'eyJhbGciOiJub25lIn0',
  ':',
  '%00',
  '{}',
  '{"',
  'é',
  '\u0000',
  '_',
  '-',
  ',',
  'system:masters',
];

function oddText(random: Random): string {
  const count = 1 + random.below(12);
  return Array.from({ length: count }, () => (random.chance(0.7) ? random.pick(PIECES) : String.fromCharCode(random.below(256)))).join('');
}

function changedText(text: string, random: Random): string {
  const at = random.below(text.length);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + String.fromCharCode(33 + random.below(93)) + text.slice(at);
    case 2:
      return text.slice(0, at);
    case 3:
      return text.slice(at) + text.slice(0, at);
    default:
      return text.slice(0, at) + String.fromCharCode(33 + random.below(93)) + text.slice(at + 1);
  }
}

/** Another payload or header under the old signature, or with none. */
function forged(token: string, random: Random): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const change = (part: string, more: object): string =>
    Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(part, 'base64url').toString()), ...more })).toString('base64url');
  switch (random.below(5)) {
    case 0:
      return [header, change(payload, { sub: oddText(random) }), signature].join('.');
    case 1:
      return [change(header, { alg: random.pick(['none', 'None', 'HS256', 'ES256', 'RS512', 7, null]) }), payload, random.chance(0.5) ? '' : signature].join(
        '.',
      );
    case 2:
      return [change(header, { kid: random.pick([oddText(random), '__proto__', 3, null]) }), payload, 'AAAA'].join('.');
    case 3:
      return [header, change(payload, { exp: random.pick([-1, 1e300, '9', null, {}]) }), signature].join('.');
    default:
      return [change(header, { crit: ['x'], jwk: {}, x5u: 'https://127.0.0.1/' }), payload, signature].join('.');
  }
}

/** Two texts that decode to the same bytes are the same token to us only if they are the same text; base64url's spare bits are no other signature. */
const isSameToken = (token: string, good: string): boolean => {
  const [a, b] = [token.split('.'), good.split('.')];
  return a.length === 3 && a[0] === b[0] && a[1] === b[1] && Buffer.from(a[2]!, 'base64url').equals(Buffer.from(b[2] ?? '', 'base64url'));
};

describe(`${rounds} of each`, () => {
  test('odd Authorization headers', async () => {
    const random = new Random(SEED);
    const taken: string[] = [];
    for (let i = 0; i < rounds; i++) {
      const authorization = random.chance(0.5) ? `Bearer ${oddText(random)}` : oddText(random);
      if (await ask({ authorization })) taken.push(authorization);
    }
    expect({ taken, faults }).toEqual({ taken: [], faults: [] });
  });

  test('tokens that were changed', async () => {
    const random = new Random(SEED + 1);
    const taken: string[] = [];
    for (let i = 0; i < rounds; i++) {
      const good = random.pick(goodTokens);
      const token = random.chance(0.5) || !good.includes('.') ? changedText(good, random) : forged(good, random);
      const found = await ask({ authorization: `Bearer ${token}` });
      if (found && token !== good && !isSameToken(token, good)) taken.push(token);
    }
    expect({ taken, faults }).toEqual({ taken: [], faults: [] });
  });

  test('certificates that were changed, with a front proxy’s headers beside them', async () => {
    const random = new Random(SEED + 2);
    const taken: string[] = [];
    const certificates = [clientAuthority, proxyAuthority].map(
      (authority) => decodePem('CERTIFICATE', signCertificate(authority, { commonName: 'c', usages: ['client'] }).certPem)[0]!,
    );
    for (let i = 0; i < rounds; i++) {
      const original = certificates[i % 2]!;
      const der = Buffer.from(original);
      const changes = 1 + random.below(3);
      for (let change = 0; change < changes; change++) der[random.below(der.length)]! ^= 1 + random.below(255);
      const cut = random.chance(0.2) ? der.subarray(0, random.below(der.length)) : der;
      const found = await ask({ 'x-remote-user': 'root', 'x-remote-group': 'system:masters' }, [cut]);
      // Two changes may undo each other.
      if (found && !cut.equals(original)) taken.push(cut.toString('hex'));
    }
    expect({ taken, faults }).toEqual({ taken: [], faults: [] });
  });
});
