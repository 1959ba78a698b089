import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are the same, in a time that tells nothing of where they differ. */
export function isSameSecret(ours: Buffer, theirs: string): boolean {
  const sent = Buffer.from(theirs);
  return ours.length === sent.length && timingSafeEqual(ours, sent);
}

const SECRET_BYTES = 32;

/** What nobody guesses, as it stands in a cookie, a header or a link. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/**
 * Things that are known by a secret. They are kept and looked up by digests under a key of this table, so that the time a lookup takes tells a client nothing of
 * the secrets, and a memory dump does not hold them. A table holds so many; the oldest goes first.
 */
export class SecretTable<V> {
  readonly #key = newSecret();
  readonly #byDigest = new Map<string, V>();
  readonly #limit: number;

  constructor(limit = Infinity) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#byDigest.size;
  }

  add(secret: string, value: V): void {
    this.#byDigest.set(this.#digest(secret), value);
    for (const oldest of this.#byDigest.keys()) {
      if (this.#byDigest.size <= this.#limit) return;
      this.#byDigest.delete(oldest);
    }
  }

  get(secret: string): V | undefined {
    return this.#byDigest.get(this.#digest(secret));
  }

  delete(value: V): void {
    for (const [digest, other] of this.#byDigest) if (other === value) return void this.#byDigest.delete(digest);
  }

  /** Oldest first. */
  values(): V[] {
    return [...this.#byDigest.values()];
  }

  #digest(secret: string): string {
    return hash('sha256', this.#key + secret, 'base64');
  }
}
