import { type KeyObject, createHash, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { isJsonObject, parseJson } from '../util/json.ts';
import type { JsonObject } from '../util/json-types.ts';

/* Signed JSON Web Tokens in their compact form (RFC 7515, RFC 7519), with the keys that service account tokens may have. */

/** How upstream names a key: the hash of its public part, so that every server on the same key agrees. */
export const keyId = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');

const CURVE_ALGORITHMS: Record<string, string> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
const DIGESTS: Record<string, string> = { RS256: 'sha256', ES256: 'sha256', ES384: 'sha384', ES512: 'sha512' };

/** The one algorithm that a key is used with: what a token's own header says is never trusted to choose. */
export const algorithmOf = (key: KeyObject): string =>
  key.asymmetricKeyType === 'rsa' ? 'RS256' : (CURVE_ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 'ES256');

const signOnAnotherThread = promisify<string, Buffer, { key: KeyObject; dsaEncoding: 'ieee-p1363' }, Buffer>(sign);
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** `id` is the key's own, by which verifiers find its public part. */
export async function signJwt(privateKey: KeyObject, id: string, claims: object): Promise<string> {
  const algorithm = algorithmOf(privateKey);
  const content = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`;
  const signature = await signOnAnotherThread(DIGESTS[algorithm]!, Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' });
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

  isSignedBy(publicKey: KeyObject): boolean {
    const algorithm = algorithmOf(publicKey);
    if (this.header.alg !== algorithm) return false;
    return verify(DIGESTS[algorithm]!, Buffer.from(this.#content), { key: publicKey, dsaEncoding: 'ieee-p1363' }, this.#signature);
  }
}

const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** Undefined for what is no such token. */
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
