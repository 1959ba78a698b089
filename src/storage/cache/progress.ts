import type { Clock, Timer } from '../../util/clock.ts';
import type { Subscription } from '../engine.ts';

const TICK_MS = 1_000;

/**
 * Calls each listener once in every interval, a minute unless told otherwise, counted from when it came: those of a thousand watches are spread over
 * the interval as the watches were begun.
 */
export class ProgressTicker {
  readonly #clock: Clock;
  readonly #revision: () => number;
  readonly #slotCount: number;
  /** Those that anyone has come in: a cache that nobody watches has none. */
  readonly #slots = new Map<number, Set<(revision: number) => void>>();
  #slot = 0;
  #count = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, revision: () => number, intervalMs: number) {
    this.#clock = clock;
    this.#revision = revision;
    this.#slotCount = Math.max(1, Math.round(intervalMs / TICK_MS));
  }

  add(listener: (revision: number) => void): Subscription {
    // Two listeners may be one function.
    const own = (revision: number): void => listener(revision);
    const slot = this.#slots.get(this.#slot) ?? new Set();
    this.#slots.set(this.#slot, slot.add(own));
    this.#count++;
    this.#timer ??= this.#nextTick();
    return {
      close: () => {
        if (slot.delete(own)) this.#count--;
        if (this.#count === 0) this.stop();
      },
    };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #nextTick(): Timer {
    return this.#clock.after(TICK_MS, () => {
      this.#timer = this.#nextTick();
      this.#slot = (this.#slot + 1) % this.#slotCount;
      for (const listener of this.#slots.get(this.#slot) ?? []) this.#call(listener);
    });
  }

  /** A listener's fault must not reach the timer: it would end the process. */
  #call(listener: (revision: number) => void): void {
    try {
      listener(this.#revision());
    } catch {
      for (const slot of this.#slots.values()) if (slot.delete(listener)) this.#count--;
    }
  }
}
