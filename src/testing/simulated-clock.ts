import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, type Timer, systemClock } from '../util/clock.ts';
import { DurationError, parseDuration } from '../util/duration.ts';
import type { TestClock } from './server-interface.ts';

interface Waiting {
  readonly dueMs: number;
  readonly callback: () => void;
  /** For when its time comes by itself. */
  real: Timer;
}

/** So many stops are made on the way: a timer that sets itself again every second would make a year of them. */
const MAX_STEPS = 20_000;

/** The machine's clock, which can be advanced: what waits for a time that is passed is called, in the order of their times. It never goes back. */
export class SimulatedClock implements Clock, TestClock {
  #aheadMs: number;
  readonly #waiting = new Set<Waiting>();

  /** `aheadMs`: of the machine's clock, to begin with. */
  constructor(aheadMs = 0) {
    this.#aheadMs = aheadMs;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  get time(): Date {
    return new Date(this.now());
  }

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    const waiting: Waiting = { dueMs: this.now() + delayMs, callback, real: { cancel() {} } };
    this.#waiting.add(waiting);
    this.#arm(waiting);
    return {
      cancel: () => {
        this.#waiting.delete(waiting);
        waiting.real.cancel();
      },
    };
  }

  async advance(duration: string | number): Promise<void> {
    const endMs = this.now() + durationMs(duration);
    for (let step = 0; step < MAX_STEPS; step++) {
      const next = this.#firstDueBy(endMs);
      if (next === undefined) break;
      this.#moveTo(next.dueMs);
      this.#fire(next);
      // What it has begun is done, and has set its next time.
      await nextTurn();
    }
    this.#moveTo(endMs);
    for (const waiting of this.#waiting) {
      waiting.real.cancel();
      this.#arm(waiting);
    }
    await nextTurn();
  }

  #firstDueBy(endMs: number): Waiting | undefined {
    let first: Waiting | undefined;
    for (const waiting of this.#waiting) if (waiting.dueMs <= endMs && (first === undefined || waiting.dueMs < first.dueMs)) first = waiting;
    return first;
  }

  #moveTo(timeMs: number): void {
    this.#aheadMs += Math.max(timeMs - this.now(), 0);
  }

  #arm(waiting: Waiting): void {
    waiting.real = systemClock.after(waiting.dueMs - this.now(), () => this.#fire(waiting));
  }

  #fire(waiting: Waiting): void {
    waiting.real.cancel();
    if (this.#waiting.delete(waiting)) waiting.callback();
  }
}

/** Milliseconds, or as Go writes it: `1h30m`. */
function durationMs(duration: string | number): number {
  const ms = typeof duration === 'number' ? duration : parsed(duration);
  if (!(ms >= 0 && Number.isFinite(ms))) throw new RangeError(`time can be advanced, not set back: ${duration}`);
  return ms;
}

function parsed(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw new RangeError(error.message, { cause: error });
    throw error;
  }
}
