import type { Clock, Timer } from '../../util/clock.ts';

/** A key that is to be removed at a time, unless it has been written since. */
export interface Expiry {
  key: string;
  /** Of the write that it belongs to. */
  revision: number;
  expiresAtMs: number;
  /** The lease of etcd's API that the key was attached to, where it was. */
  leaseId?: bigint;
}

interface ExpiryTable {
  firstExpiryMs(): number | undefined;
  /** At most `limit` that have come by then, earliest first. */
  due(nowMs: number, limit: number): Expiry[];
  /** Removes the keys that still are at that revision, and forgets the expiries. */
  expire(expiries: Expiry[]): Promise<void>;
}

const EXPIRIES_A_SWEEP = 500;
/** Keys written one after the other end one after the other; they are removed together, at most so much too late. */
const SWEEP_INTERVAL_MS = 1_000;

/** Wakes up when the next key expires. */
export class ExpirySweeper {
  readonly #table: ExpiryTable;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #wakesAtMs = Infinity;
  #lastSweepMs = -Infinity;
  #sweeping: Promise<void> | undefined;
  #isStopped = false;

  constructor(table: ExpiryTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
    this.wakeAt(table.firstExpiryMs());
  }

  wakeAt(expiresAtMs: number | undefined): void {
    if (this.#isStopped || this.#sweeping || expiresAtMs === undefined || expiresAtMs >= this.#wakesAtMs) return;
    this.#timer?.cancel();
    this.#wakesAtMs = expiresAtMs;
    const now = this.#clock.now();
    const delayMs = Math.max(expiresAtMs - now, this.#lastSweepMs + SWEEP_INTERVAL_MS - now, 0);
    this.#timer = this.#clock.after(delayMs, () => {
      this.#sweeping = this.#sweep();
    });
  }

  /** Resolves when a sweep under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    this.#wakesAtMs = Infinity;
    this.#lastSweepMs = this.#clock.now();
    try {
      for (let due = this.#due(); due.length > 0; due = this.#due()) await this.#table.expire(due);
    } catch {
      // The store cannot be written now; its health check says so. The expiries are still there for the next sweep.
    }
    this.#sweeping = undefined;
    if (!this.#isStopped) this.wakeAt(this.#table.firstExpiryMs());
  }

  #due(): Expiry[] {
    return this.#isStopped ? [] : this.#table.due(this.#clock.now(), EXPIRIES_A_SWEEP);
  }
}
