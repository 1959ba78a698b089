import type { SlicedWork } from '../util/time-slice.ts';
import { type KeyObject, constants, createHash, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { isJsonObject, parseJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';

/* Signed JSON Web Tokens in their compact form (RFC 7515, RFC 7519), with RSA and elliptic curve keys. */

/** How upstream names a key: the hash of its public part, so that every server on the same key agrees. */
export const keyId = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');

interface Algorithm {
  digest: string;
  keyType: 'rsa' | 'ec';
  curve?: string;
  isPss?: boolean;
}

/** RFC 7518 §3.1, what is asymmetric of it. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['RS256', { digest: 'sha256', keyType: 'rsa' }],
  ['RS384', { digest: 'sha384', keyType: 'rsa' }],
  ['RS512', { digest: 'sha512', keyType: 'rsa' }],
  ['PS256', { digest: 'sha256', keyType: 'rsa', isPss: true }],
  ['PS384', { digest: 'sha384', keyType: 'rsa', isPss: true }],
  ['PS512', { digest: 'sha512', keyType: 'rsa', isPss: true }],
  ['ES256', { digest: 'sha256', keyType: 'ec', curve: 'prime256v1' }],
  ['ES384', { digest: 'sha384', keyType: 'ec', curve: 'secp384r1' }],
  ['ES512', { digest: 'sha512', keyType: 'ec', curve: 'secp521r1' }],
]);

export const SIGNING_ALGORITHMS: readonly string[] = [...ALGORITHMS.keys()];

const CURVE_ALGORITHMS: Record<string, string> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/** The one algorithm that a key is used with: what a token's own header says is never trusted to choose. */
export const algorithmOf = (key: KeyObject): string =>
  key.asymmetricKeyType === 'rsa' ? 'RS256' : (CURVE_ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 'ES256');

/** Whether tokens can be signed with keys of its kind. */
export const isSigningKey = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'rsa' || (key.asymmetricKeyType === 'ec' && Object.hasOwn(CURVE_ALGORITHMS, key.asymmetricKeyDetails?.namedCurve ?? ''));

const signOnAnotherThread = promisify<string, Buffer, { key: KeyObject; dsaEncoding: 'ieee-p1363' }, Buffer>(sign);
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** `id` is the key's own, by which verifiers find its public part. */
export async function signJwt(privateKey: KeyObject, id: string, claims: object): Promise<string> {
  const algorithm = algorithmOf(privateKey);
  const content = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`;
  const signature = await signOnAnotherThread(ALGORITHMS.get(algorithm)!.digest, Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

/** A token as it claims to be: nothing of it is to be believed before `isSignedBy` says so. */
export class UnverifiedJwt {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly #content: string;
  readonly #signature: Buffer;

  constructor(header: JsonObject, claims: JsonObject, content: string, signature: Buffer) {
    this.header = header;
    this.claims = claims;
    this.#content = content;
    this.#signature = signature;
  }

  /** By the algorithm that the header names, if that is among these and fits the key; the least is the one that the key is used with here. */
  isSignedBy(publicKey: KeyObject, algorithms: readonly string[] = [algorithmOf(publicKey)]): boolean {
    const { alg, crit } = this.header;
    const algorithm = typeof alg === 'string' && algorithms.includes(alg) ? ALGORITHMS.get(alg) : undefined;
    // RFC 7515 §4.1.11: what must be understood and is not makes a token bad.
    if (!algorithm || crit !== undefined || !fits(algorithm, publicKey)) return false;
    const padding = algorithm.isPss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {};
    return verify(algorithm.digest, Buffer.from(this.#content), { key: publicKey, dsaEncoding: 'ieee-p1363', ...padding }, this.#signature);
  }

  /** A token that names no key is checked with each, and one check takes up to half a millisecond. */
  *isSignedByAny(publicKeys: readonly KeyObject[], algorithms?: readonly string[]): SlicedWork<boolean> {
    for (const publicKey of publicKeys) {
      if (this.isSignedBy(publicKey, algorithms)) return true;
      yield;
    }
    return false;
  }
}

const fits = ({ keyType, curve }: Algorithm, key: KeyObject): boolean =>
  key.asymmetricKeyType === keyType && (curve === undefined || key.asymmetricKeyDetails?.namedCurve === curve);

const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

export function parseJwt(token: string): UnverifiedJwt | undefined {
  const [, header, claims, signature] = COMPACT.exec(token) ?? [];
  if (signature === undefined) return undefined;
  const [headerObject, claimsObject] = [jsonOf(header!), jsonOf(claims!)];
  if (!headerObject || !claimsObject) return undefined;
  return new UnverifiedJwt(headerObject, claimsObject, token.slice(0, token.lastIndexOf('.')), Buffer.from(signature, 'base64url'));
}

function jsonOf(part: string): JsonObject | undefined {
  try {
    const value = parseJson(Buffer.from(part, 'base64url'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
