import type { FlowClock } from './clock.ts';

/** For tests: time stands still until it is told to pass, and so does the event loop. */
export class FakeClock implements FlowClock {
  #nowMs = 1000;
  #timers: { atMs: number; callback: () => void }[] = [];
  #turns: (() => void)[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): { cancel(): void } {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }

  nextTurn(callback: () => void): void {
    this.#turns.push(callback);
  }

  /** Work that keeps the thread busy: no timer fires, no turn begins. */
  work(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  /** The event loop goes round once. */
  turn(): void {
    for (const callback of this.#turns.splice(0)) callback();
  }

  /** Fires what falls due, in order, and begins the turns that are asked for. */
  pass(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    this.turn();
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
      this.turn();
    }
    this.#nowMs = endMs;
  }
}
