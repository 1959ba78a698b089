import type { Clock, Timer } from '../../util/clock.ts';

/** A key that is to be removed at a time, unless it has been written since. */
export interface Lease {
  key: string;
  /** Of the write that the lease belongs to. */
  revision: number;
  expiresAtMs: number;
}

interface LeaseTable {
  firstExpiryMs(): number | undefined;
  /** At most `limit` leases that have ended by then, earliest first. */
  due(nowMs: number, limit: number): Lease[];
  /** Removes the keys that still are at their lease's revision, and forgets the leases. */
  expire(leases: Lease[]): Promise<void>;
}

const LEASES_A_SWEEP = 500;
/** Keys written one after the other end one after the other; they are removed together, at most so much too late. */
const SWEEP_INTERVAL_MS = 1_000;

/** Wakes up when the next lease ends. */
export class LeaseSweeper {
  readonly #table: LeaseTable;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #wakesAtMs = Infinity;
  #lastSweepMs = -Infinity;
  #sweeping: Promise<void> | undefined;
  #isStopped = false;

  constructor(table: LeaseTable, clock: Clock) {
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
      // The store cannot be written now; its health check says so. The leases are still there for the next sweep.
    }
    this.#sweeping = undefined;
    if (!this.#isStopped) this.wakeAt(this.#table.firstExpiryMs());
  }

  #due(): Lease[] {
    return this.#isStopped ? [] : this.#table.due(this.#clock.now(), LEASES_A_SWEEP);
  }
}
