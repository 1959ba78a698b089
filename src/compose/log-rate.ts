/** Lines of one message a second. What operators must see comes once or a few times; what a client can bring about comes as often as it likes. */
const LINES_PER_SECOND = 50;
/** Messages are constants; what is not (a warning of a configuration file) must not make the table grow. */
const MAX_MESSAGES = 1_000;

interface Window {
  startMs: number;
  taken: number;
  leftOut: number;
}

/** Bounds how often each message is written, so that nobody can fill a disk by making the server complain. */
export class LogRate {
  readonly #windows = new Map<string, Window>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** How many lines of this message were left out since the last that was written; undefined where this one is to be left out too. */
  take(message: string): number | undefined {
    const nowMs = this.#now().getTime();
    const window = this.#windows.get(message);
    if (!window) {
      if (this.#windows.size >= MAX_MESSAGES) this.#windows.clear();
      this.#windows.set(message, { startMs: nowMs, taken: 1, leftOut: 0 });
      return 0;
    }
    // A clock that was set back begins a second too.
    if (Math.abs(nowMs - window.startMs) >= 1000) {
      window.startMs = nowMs;
      window.taken = 0;
    }
    if (window.taken >= LINES_PER_SECOND) {
      window.leftOut++;
      return undefined;
    }
    window.taken++;
    const { leftOut } = window;
    window.leftOut = 0;
    return leftOut;
  }
}
