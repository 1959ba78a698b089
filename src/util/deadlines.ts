import { Bag, type Bagged } from './bag.ts';
import type { MonotonicClock, Timer } from './clock.ts';

const NOT_IN_BAG = -1;

/**
 * Deadlines that hardly anything comes to. One timer watches over all of them, for the earliest; a timer each would be most of what a waiting request takes
 * of memory, and every young collection would copy it.
 */
export class Deadlines<T extends Bagged> implements Iterable<T> {
  readonly #clock: MonotonicClock;
  readonly #dueMsOf: (item: T) => number;
  readonly #onDue: (item: T) => void;
  readonly #pending = new Bag<T>();
  /** A timer that is left over must not keep whoever had deadlines in memory: with a request's, a whole server that has stopped. */
  readonly #weakly = new WeakRef(this);
  #timer: Timer | undefined;
  #timerMs = Infinity;

  /** `dueMsOf` stays the same while the item is here. One that is due is here no more. */
  constructor(clock: MonotonicClock, dueMsOf: (item: T) => number, onDue: (item: T) => void) {
    this.#clock = clock;
    this.#dueMsOf = dueMsOf;
    this.#onDue = onDue;
  }

  add(item: T): void {
    this.#pending.add(item);
    const dueMs = this.#dueMsOf(item);
    if (dueMs < this.#timerMs) this.#watch(dueMs);
  }

  /** Whatever is not due yet, in no order. */
  [Symbol.iterator](): Iterator<T> {
    return this.#pending[Symbol.iterator]();
  }

  /** The timer is left: at worst it wakes for nothing, and finds the next. */
  delete(item: T): void {
    if (item.bagIndex === NOT_IN_BAG) return;
    this.#pending.delete(item);
    item.bagIndex = NOT_IN_BAG;
  }

  #watch(dueMs: number): void {
    this.#timer?.cancel();
    this.#timerMs = dueMs;
    const weakly = this.#weakly;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.#clock.nowMs()), () => {
      const deadlines = weakly.deref();
      if (deadlines) deadlines.#wake();
    });
  }

  #wake(): void {
    const nowMs = this.#clock.nowMs();
    const due: T[] = [];
    let earliestMs = Infinity;
    for (const item of this.#pending) {
      const dueMs = this.#dueMsOf(item);
      if (dueMs <= nowMs) due.push(item);
      else earliestMs = Math.min(earliestMs, dueMs);
    }
    this.#timer = undefined;
    this.#timerMs = Infinity;
    if (earliestMs !== Infinity) this.#watch(earliestMs);
    for (const item of due) {
      if (item.bagIndex === NOT_IN_BAG) continue;
      this.delete(item);
      this.#onDue(item);
    }
  }
}
