import { hash } from 'node:crypto';
import { type UnverifiedJwt, parseJwt } from './jwt.ts';
import type { PublicKey, PublicKeySource } from './public-keys.ts';
import { runAtOnce, runInSlices } from '../util/time-slice.ts';

/** Tokens whose signature is known to be good; beyond this many, the oldest is checked anew when it comes again. */
const MAX_VERIFIED = 4096;
/** Longer ones are nobody's: headers end not far beyond. */
const MAX_TOKEN_LENGTH = 64 * 1024;
/** Up to here, slices would only cost. */
const FEW_KEYS = 8;

export interface SignedTokenOptions<T> {
  issuers: readonly string[];
  publicKeys: PublicKeySource;
  /** What is kept of a token whose signature is good; throws where its claims are of no use. */
  read(jwt: UnverifiedJwt): T;
}

/** Web tokens of certain issuers. A signature is checked once; all that may change must be checked by the caller, at every use. */
export class SignedTokens<T> {
  readonly #options: SignedTokenOptions<T>;
  readonly #verified = new Map<string, T>();
  #generation = 0;

  constructor(options: SignedTokenOptions<T>) {
    this.#options = options;
  }

  /** Undefined for what is no token of these issuers. Throws for one whose signature is not good. */
  verified(token: string): T | undefined | Promise<T> {
    if (token.length > MAX_TOKEN_LENGTH || !token.includes('.')) return undefined;
    this.#forgetIfKeysChanged();
    const digest = hash('sha256', token, 'base64');
    const known = this.#verified.get(digest);
    if (known) return known;
    const jwt = parseJwt(token);
    if (!jwt || typeof jwt.claims.iss !== 'string' || !this.#options.issuers.includes(jwt.claims.iss)) return undefined;
    const keys = this.#options.publicKeys.find(typeof jwt.header.kid === 'string' ? jwt.header.kid : '');
    return keys instanceof Promise ? keys.then((late) => this.#verify(digest, jwt, late)) : this.#verify(digest, jwt, keys);
  }

  #verify(digest: string, jwt: UnverifiedJwt, keys: readonly PublicKey[]): T | Promise<T> {
    if (keys.length === 0) throw new Error('invalid signature, no keys found');
    const checks = jwt.isSignedByAny(keys.map(({ key }) => key));
    if (keys.length > FEW_KEYS) return runInSlices(checks).then((isSigned) => this.#keep(digest, jwt, isSigned));
    return this.#keep(digest, jwt, runAtOnce(checks));
  }

  #keep(digest: string, jwt: UnverifiedJwt, isSigned: boolean): T {
    if (!isSigned) throw new Error('go-jose/go-jose: error in cryptographic primitive');
    const verified = this.#options.read(jwt);
    if (this.#verified.size >= MAX_VERIFIED) this.#verified.delete(this.#verified.keys().next().value!);
    this.#verified.set(digest, verified);
    return verified;
  }

  /** A token of a key that is gone must not be taken any more. */
  #forgetIfKeysChanged(): void {
    const { generation } = this.#options.publicKeys;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#verified.clear();
  }
}
