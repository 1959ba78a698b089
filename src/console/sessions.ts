import type { Clock, Timer } from '../util/clock.ts';
import type { Credentials } from './credentials.ts';
import { SecretTable, newSecret } from '../util/secrets.ts';

export interface Session {
  readonly credentials: Credentials;
  /** Who signed in; a credential that becomes another's ends the session. */
  readonly userName: string;
  readonly csrfToken: string;
  readonly expiresAtMs: number;
}

const MAX_SESSIONS = 1_000;
const MAX_SESSIONS_OF_USER = 20;
const MAX_CODES = 100;
/** A working day. */
const SESSION_MS = 12 * 3_600_000;
const CODE_MS = 15 * 60_000;

/** Who is signed in, and the codes by which links sign in. All is in memory: a restart signs everybody out. */
export class Sessions {
  readonly #sessions = new SecretTable<Session>(MAX_SESSIONS);
  readonly #codes = new SecretTable<{ credentials: Credentials; expiresAtMs: number }>(MAX_CODES);
  readonly #clock: Clock;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether somebody is signed in. */
  get areAny(): boolean {
    return this.#sessions.size > 0;
  }

  /** The id is told to the browser, and not kept. Of a user with many sessions, the oldest ends. */
  create(credentials: Credentials, userName: string): { id: string; session: Session } {
    const ofUser = this.#sessions.values().filter((session) => session.userName === userName);
    if (ofUser.length >= MAX_SESSIONS_OF_USER) this.end(ofUser[0]!);
    const id = newSecret();
    const session: Session = { credentials, userName, csrfToken: newSecret(), expiresAtMs: this.#clock.now() + SESSION_MS };
    this.#sessions.add(id, session);
    this.#timer ??= this.#clock.after(SESSION_MS, () => this.#removeExpired());
    return { id, session };
  }

  find(id: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.expiresAtMs > this.#clock.now()) return session;
    this.end(session);
    return undefined;
  }

  end(session: Session): void {
    this.#sessions.delete(session);
  }

  /** Signs in once, as the one whose credentials these are. */
  createCode(credentials: Credentials): { code: string; expiresAtMs: number } {
    const code = newSecret();
    const expiresAtMs = this.#clock.now() + CODE_MS;
    this.#codes.add(code, { credentials, expiresAtMs });
    return { code, expiresAtMs };
  }

  /** Whoever asks second finds nothing. */
  takeCode(code: string): Credentials | undefined {
    const found = this.#codes.get(code);
    if (found === undefined) return undefined;
    this.#codes.delete(found);
    return found.expiresAtMs > this.#clock.now() ? found.credentials : undefined;
  }

  close(): void {
    this.#timer?.cancel();
  }

  /** The oldest expires first. */
  #removeExpired(): void {
    const nowMs = this.#clock.now();
    const left = this.#sessions.values().filter((session) => session.expiresAtMs > nowMs || void this.end(session));
    this.#timer = left[0] && this.#clock.after(left[0].expiresAtMs - nowMs, () => this.#removeExpired());
  }
}
