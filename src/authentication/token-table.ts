import { hash, randomBytes } from 'node:crypto';
import type { Authentication } from '../server/authenticator.ts';
import type { User } from '../api/user.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

/**
 * Tokens known in advance. They are kept and looked up as digests under a key of this process, so that the time a lookup takes
 * tells a client nothing about the tokens, and a memory dump does not hold them.
 */
export class TokenTable implements TokenAuthenticator {
  readonly #key = randomBytes(32).toString('base64');
  readonly #byDigest = new Map<string, Authentication>();

  /** False when the token was there; it has the new user now. */
  add(token: string, user: User): boolean {
    const digest = this.#digest(token);
    const isNew = !this.#byDigest.has(digest);
    this.#byDigest.set(digest, { user });
    return isNew;
  }

  authenticateToken(token: string): Authentication | undefined {
    return this.#byDigest.get(this.#digest(token));
  }

  #digest(token: string): string {
    return hash('sha256', this.#key + token, 'base64');
  }
}
