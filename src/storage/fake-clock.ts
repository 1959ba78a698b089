import type { Clock, Timer } from '../util/clock.ts';

/** For tests: time stands still until it is told to pass. */
export class FakeClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<{ atMs: number; callback: () => void }>();

  constructor(nowMs = 1_763_200_000_000) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  /** Fires what falls due, in order. */
  pass(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (;;) {
      const next = [...this.#timers].filter((timer) => timer.atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0];
      if (!next) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
    }
    this.#nowMs = endMs;
  }
}
