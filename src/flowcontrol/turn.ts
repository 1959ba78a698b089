import type { FlowClock } from './clock.ts';

/**
 * What requests may take of one turn of the event loop. Others wait at least as long, and as long again for the network: a shorter turn is fairer, and
 * turns more often (0.25 ms: another user waits 2.5 times as long under overload; 0.1 ms: 1.3 times, for an eighth to a half more work a request).
 * It cannot wait until another flow is seen to queue: the other's request may still lie in a socket that only the next turn reads.
 */
const TURN_MS = 0.1;
/** So long without a request, and the turn is another. */
const IDLE_MS = 0.2;

/**
 * Shares out the one thread that there is. Upstream's seats are goroutines, which the processor serves side by side; here a burst of requests that are
 * answered at once never holds two seats, yet all others would wait behind it. So when requests have had their part of a turn of the event loop, further
 * ones queue, and the next turn takes them in fair order.
 */
export class Turn {
  readonly #clock: FlowClock;
  readonly #onNext: () => void;
  #startMs = -Infinity;
  #lastMs = -Infinity;
  #isAwaited = false;

  /** `onNext` is called when a turn begins that was asked for. */
  constructor(clock: FlowClock, onNext: () => void) {
    this.#clock = clock;
    this.#onNext = onNext;
  }

  isSpent(nowMs: number): boolean {
    if (this.#isAwaited) return true;
    if (nowMs - this.#lastMs > IDLE_MS) this.#startMs = nowMs;
    this.#lastMs = nowMs;
    return nowMs - this.#startMs > TURN_MS;
  }

  /** Work was done until now: the turn did not pass idly. */
  note(nowMs: number): void {
    this.#lastMs = nowMs;
  }

  /** Someone waits for the next turn. */
  await(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    this.#clock.nextTurn(() => {
      this.#isAwaited = false;
      this.#startMs = this.#lastMs = this.#clock.nowMs();
      this.#onNext();
    });
  }
}
