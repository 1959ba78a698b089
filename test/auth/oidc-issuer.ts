import { type KeyObject, createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { Authority } from '../../src/serving/certificates/create.ts';
import { RemoteServer } from './remote-server.ts';

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

export interface SigningKey {
  id: string;
  algorithm: 'RS256' | 'ES256' | 'PS256';
  privateKey: KeyObject;
}

export function createSigningKey(algorithm: SigningKey['algorithm'] = 'ES256'): SigningKey {
  const { privateKey } = algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { id: randomUUID(), algorithm, privateKey };
}

/** As an issuer signs; `header` overrides what it would say. */
export function signToken({ id, algorithm, privateKey }: SigningKey, claims: object, header: object = {}): string {
  const content = `${encode({ alg: algorithm, kid: id, ...header })}.${encode(claims)}`;
  const padding = algorithm === 'PS256' ? { padding: 6, saltLength: -1 } : {};
  return `${content}.${sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363', ...padding }).toString('base64url')}`;
}

/** An OpenID issuer on loopback. `keys` may be changed at any time. */
export class OidcIssuer {
  keys: SigningKey[];
  readonly server: RemoteServer;
  /** What the discovery document says the issuer is; its own URL unless told otherwise. */
  claimedUrl: string | undefined;

  constructor(authority: Authority, ...keys: SigningKey[]) {
    this.keys = keys;
    this.server = new RemoteServer(authority, ({ path }) => {
      if (path.endsWith('/.well-known/openid-configuration')) return { body: { issuer: this.claimedUrl ?? this.url, jwks_uri: `${this.url}/keys` } };
      if (path === '/keys') return { body: { keys: [{ kty: 'oct', k: 'AA' }, ...this.keys.map(jwkOf)] } };
      return { status: 404 };
    });
  }

  get url(): string {
    return this.server.url;
  }

  claims(more: object = {}): object {
    const nowSeconds = Math.floor(Date.now() / 1000);
    return { iss: this.claimedUrl ?? this.url, aud: 'binnacle', sub: 'alice', exp: nowSeconds + 600, iat: nowSeconds, ...more };
  }
}

const jwkOf = ({ id, algorithm, privateKey }: SigningKey): object => ({
  ...createPublicKey(privateKey).export({ format: 'jwk' }),
  kid: id,
  alg: algorithm,
  use: 'sig',
});
