/** Time, so that tests need no sleeps. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after `delayMs`. A waiting timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Node's timers take at most this; a longer wait ends early, and whoever set it looks again. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), MAX_DELAY_MS)).unref();
    // Node keeps the list of a duration whose last timer was cleared until that time has passed, unless the timer is one that keeps the process alive
    // (lib/internal/timers.js, unenroll): waits of random length would leave one each.
    return { cancel: () => clearTimeout(timer.ref()) };
  },
};

/** Time that no one sets: for durations and deadlines. */
export interface MonotonicClock {
  /** In the clock of performance.now(). */
  nowMs(): number;
  /** Calls back once. A waiting timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer;
}

export const monotonicClock: MonotonicClock = { nowMs: () => performance.now(), after: systemClock.after };
