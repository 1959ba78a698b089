import type { KeyObject } from 'node:crypto';
import { keyId } from './jwt.ts';

/** A public key that verifies service account tokens. */
export interface PublicKey {
  /** What the `kid` of tokens says. */
  id: string;
  key: KeyObject;
  /** It only verifies tokens that were signed earlier: it is in no document of keys, and nothing is to be signed with it any more. */
  isUnlisted: boolean;
}

/** The keys by which service account tokens are verified (PublicKeysGetter of pkg/serviceaccount/jwt.go). */
export interface PublicKeySource {
  /** Those with this id, or all where it is empty. None where there is none; sources that can change look for it first. */
  find(id: string): readonly PublicKey[] | Promise<readonly PublicKey[]>;
  /** All keys, as far as they are known without asking anybody. */
  readonly current: readonly PublicKey[] | undefined;
  /** Another number whenever the keys have changed: what was found with the old ones may no longer hold. */
  readonly generation: number;
  /** How long others may keep what they were told. */
  readonly maxAgeSeconds: number;
}

const MIN_RSA_BITS = 1024;
/** What Go's verifier takes: larger ones cost a token's check more than it may (crypto/rsa, checkPub and its limit of 8192 bits for TLS). */
const MAX_RSA_BITS = 8192;
const MAX_RSA_EXPONENT = 2n ** 31n - 1n;

/** Of a key that others have sent; keys of other kinds than RSA have the size of their curve. */
export function hasUsualSize({ asymmetricKeyType, asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {} }: KeyObject): boolean {
  return asymmetricKeyType !== 'rsa' || (modulusLength >= MIN_RSA_BITS && modulusLength <= MAX_RSA_BITS && publicExponent <= MAX_RSA_EXPONENT);
}

const FIXED_MAX_AGE_SECONDS = 3600;

/** Several keys may share an id. */
export function keysById(keys: readonly PublicKey[]): ReadonlyMap<string, readonly PublicKey[]> {
  const byId = new Map<string, PublicKey[]>();
  for (const key of keys) {
    const sharing = byId.get(key.id);
    if (sharing) sharing.push(key);
    else byId.set(key.id, [key]);
  }
  return byId;
}

/** Keys of files, which never change; they may have to be made first. */
export class FixedPublicKeys implements PublicKeySource {
  readonly generation = 0;
  readonly maxAgeSeconds = FIXED_MAX_AGE_SECONDS;
  readonly #load: () => Promise<readonly KeyObject[]>;
  #keys: readonly PublicKey[] | undefined;
  #byId: ReadonlyMap<string, readonly PublicKey[]> = new Map();

  constructor(load: () => Promise<readonly KeyObject[]>) {
    this.#load = load;
  }

  get current(): readonly PublicKey[] | undefined {
    return this.#keys;
  }

  find(id: string): readonly PublicKey[] | Promise<readonly PublicKey[]> {
    return this.#keys ? this.#found(id) : this.#loaded().then(() => this.#found(id));
  }

  #found(id: string): readonly PublicKey[] {
    return id === '' ? this.#keys! : (this.#byId.get(id) ?? []);
  }

  async #loaded(): Promise<void> {
    this.#keys = (await this.#load()).map((key) => ({ id: keyId(key), key, isUnlisted: false }));
    this.#byId = keysById(this.#keys);
  }
}
