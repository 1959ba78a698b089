import { type KeyObject, hash } from 'node:crypto';
import { type UnverifiedJwt, keyId, parseJwt } from './jwt.ts';

/** Tokens whose signature is known to be good; beyond this many, the oldest is checked anew when it comes again. */
const MAX_VERIFIED = 4096;
/** Longer ones are nobody's: headers end not far beyond. */
const MAX_TOKEN_LENGTH = 64 * 1024;

export interface SignedTokenOptions<T> {
  issuers: readonly string[];
  /** Of all that may have signed; they may have to be made first. */
  publicKeys(this: void): Promise<readonly KeyObject[]>;
  /** What is kept of a token whose signature is good; throws where its claims are of no use. */
  read(jwt: UnverifiedJwt): T;
}

/** Web tokens of certain issuers. A signature is checked once; all that may change must be checked by the caller, at every use. */
export class SignedTokens<T> {
  readonly #options: SignedTokenOptions<T>;
  readonly #verified = new Map<string, T>();
  #keys: ReadonlyMap<string, KeyObject> | undefined;

  constructor(options: SignedTokenOptions<T>) {
    this.#options = options;
  }

  /** Undefined for what is no token of these issuers. Throws for one whose signature is not good. */
  verified(token: string): T | undefined | Promise<T> {
    if (token.length > MAX_TOKEN_LENGTH || !token.includes('.')) return undefined;
    const digest = hash('sha256', token, 'base64');
    const known = this.#verified.get(digest);
    if (known) return known;
    const jwt = parseJwt(token);
    if (!jwt || typeof jwt.claims.iss !== 'string' || !this.#options.issuers.includes(jwt.claims.iss)) return undefined;
    return this.#keys ? this.#verify(digest, jwt, this.#keys) : this.#loadKeys().then((keys) => this.#verify(digest, jwt, keys));
  }

  #verify(digest: string, jwt: UnverifiedJwt, keys: ReadonlyMap<string, KeyObject>): T {
    const candidates = typeof jwt.header.kid === 'string' && jwt.header.kid !== '' ? [keys.get(jwt.header.kid)] : [...keys.values()];
    const usable = candidates.filter((key) => key !== undefined);
    if (usable.length === 0) throw new Error('invalid signature, no keys found');
    if (!usable.some((key) => jwt.isSignedBy(key))) throw new Error('go-jose/go-jose: error in cryptographic primitive');
    const verified = this.#options.read(jwt);
    if (this.#verified.size >= MAX_VERIFIED) this.#verified.delete(this.#verified.keys().next().value!);
    this.#verified.set(digest, verified);
    return verified;
  }

  async #loadKeys(): Promise<ReadonlyMap<string, KeyObject>> {
    const keys = await this.#options.publicKeys();
    this.#keys = new Map(keys.map((key) => [keyId(key), key]));
    return this.#keys;
  }
}
