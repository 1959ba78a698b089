import { RateLimit } from './rate-limit.ts';

export interface AbuseLimits {
  /** Requests that a client may take back before they were answered, each second (CVE-2023-44487). */
  unansweredResetsPerSecond: number;
  /** Streams of any kind that a client may reset, or have us reset (CVE-2025-8671), each second: closing watches is honest work (CVE-2019-9514). */
  resetsPerSecond: number;
  /** Frames that bring nothing, each second: PING, SETTINGS, PRIORITY, empty ones (CVE-2019-9512, CVE-2019-9513, CVE-2019-9515, CVE-2019-9518). */
  controlFramesPerSecond: number;
}

/** Counts what a client does that makes more work than requests do. Each call is one event; false: that was one too many. */
export class AbuseGuard {
  readonly #unansweredResets: RateLimit;
  readonly #resets: RateLimit;
  readonly #controlFrames: RateLimit;

  constructor(limits: AbuseLimits) {
    this.#unansweredResets = new RateLimit(limits.unansweredResetsPerSecond);
    this.#resets = new RateLimit(limits.resetsPerSecond);
    this.#controlFrames = new RateLimit(limits.controlFramesPerSecond);
  }

  allowReset(nowMs: number, wasAnswered: boolean): boolean {
    return this.#resets.allow(nowMs) && (wasAnswered || this.#unansweredResets.allow(nowMs));
  }

  allowControlFrame(nowMs: number): boolean {
    return this.#controlFrames.allow(nowMs);
  }
}
