import type { MonotonicClock, Timer } from './clock.ts';

/** For tests: time stands still until it is told to pass. */
export class TestClock implements MonotonicClock {
  #nowMs = 1000;
  #timers: { atMs: number; callback: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }

  /** Work that keeps the thread busy: no timer fires. */
  work(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  /** Fires what falls due, in order. */
  pass(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
      this.afterTimer();
    }
    this.#nowMs = endMs;
  }

  /** What else goes on between one timer and the next. */
  protected afterTimer(): void {}
}

/** For tests: time never passes; what waits for it is counted. */
export class StillClock implements MonotonicClock {
  openTimers = 0;

  nowMs(): number {
    return 0;
  }

  /** The same, for those who ask for the time of day. */
  now(): number {
    return 0;
  }

  after(): Timer {
    let isOpen = true;
    this.openTimers++;
    return {
      cancel: () => {
        if (isOpen) this.openTimers--;
        isOpen = false;
      },
    };
  }
}
