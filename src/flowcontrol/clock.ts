/** Time and turns of the event loop, so that tests need no sleeps. */
export interface FlowClock {
  /** In the clock of performance.now(). */
  nowMs(): number;
  /** Calls back once. A waiting timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): { cancel(): void };
  /** Calls back once, when the network has had its turn. */
  nextTurn(callback: () => void): void;
}

export const systemClock: FlowClock = {
  nowMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs).unref();
    return { cancel: () => clearTimeout(timer) };
  },
  nextTurn: (callback) => void setImmediate(callback),
};
