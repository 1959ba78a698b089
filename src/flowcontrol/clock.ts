import { type MonotonicClock, monotonicClock } from '../util/clock.ts';

/** Time and turns of the event loop, so that tests need no sleeps. */
export interface FlowClock extends MonotonicClock {
  /** Calls back once, when the network has had its turn. */
  nextTurn(callback: () => void): void;
}

export const flowClock: FlowClock = { ...monotonicClock, nextTurn: (callback) => void setImmediate(callback) };
