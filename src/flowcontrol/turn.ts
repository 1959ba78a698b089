import type { FlowClock } from './clock.ts';

/**
 * What requests may take of one turn of the event loop. Others wait at least as long, and as long again for the network: a shorter turn is fairer, and
 * turns more often (0.25 ms: another user waits 2.5 times as long under overload; 0.1 ms: 1.3 times, for an eighth to a half more work a request).
 * It cannot wait until another flow is seen to queue: the other's request may still lie in a socket that only the next turn reads.
 */
const TURN_MS = 0.1;
/** So long without a request, and the turn is another. */
const IDLE_MS = 0.2;
/** What can be put off until a later turn; what comes when so much is, is done at once. */
const MAX_PUT_OFF = 10_000;

export interface TurnEvents {
  /** A turn begins that was asked for. */
  onNext(): void;
  /** It has no more for those who waited. */
  onOver?(): void;
}

/**
 * Shares out the one thread that there is. Upstream's seats are goroutines, which the processor serves side by side; here a burst of requests that are
 * answered at once never holds two seats, yet all others would wait behind it. So when requests have had their part of a turn of the event loop, further
 * ones queue, and the next turn takes them in fair order.
 */
export class Turn {
  /** Goes up with each turn that was asked for. */
  number = 1;
  readonly #clock: FlowClock;
  readonly #events: TurnEvents;
  #startMs = -Infinity;
  #lastMs = -Infinity;
  #isAwaited = false;
  readonly #putOff: (() => void)[] = [];

  constructor(clock: FlowClock, events: TurnEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  /** Someone waits for the next one. */
  get isAwaited(): boolean {
    return this.#isAwaited;
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
      this.number++;
      this.#startMs = this.#lastMs = this.#clock.nowMs();
      this.#events.onNext();
      this.#doWhatWasPutOff();
      this.#events.onOver?.();
    });
  }

  /**
   * Does what can wait, and would take the thread from those who wait if it were done when it comes: first come, first served, in what requests leave of
   * the turns, but at least one a turn.
   */
  putOff(work: () => void): void {
    if (this.#putOff.length >= MAX_PUT_OFF) return work();
    this.#putOff.push(work);
    this.await();
  }

  #doWhatWasPutOff(): void {
    if (this.#putOff.length === 0) return;
    do this.#putOff.shift()!();
    while (this.#putOff.length > 0 && this.#clock.nowMs() - this.#startMs <= TURN_MS);
    if (this.#putOff.length > 0) this.await();
  }
}
