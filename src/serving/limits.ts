import { RateLimit } from '../http2/rate-limit.ts';
import type { ConnectionLimits } from '../http2/server-connection.ts';
import type { UnsentLimits } from './unsent-answers.ts';

/** What one client may cost before it is cut off. Upstream's numbers where it has them (apiserver/pkg/server/secure_serving.go). */
export interface ServingLimits extends ConnectionLimits, UnsentLimits {
  /** How long a client that is still sending a body we did not want may go on, so that it gets to read our answer. */
  lingerMs: number;
}

export const DEFAULT_LIMITS: Readonly<ServingLimits> = {
  headerTimeoutMs: 32_000,
  idleTimeoutMs: 90_000,
  headerBytes: 1 << 20,
  headerCount: 2_000,
  streamsPerConnection: 100,
  streamWindowBytes: 256 * 1024,
  unansweredResetsPerSecond: 400,
  resetsPerSecond: 1_000,
  controlFramesPerSecond: 500,
  lingerMs: 500,
  unsentBytesPerConnection: 16 * 1024 * 1024,
  maxUnsentBytesPerConnection: 64 * 1024 * 1024,
  unsentBytesPerUser: 128 * 1024 * 1024,
  unsentBytesInAll: 512 * 1024 * 1024,
  unreadTimeoutMs: 30_000,
};

/** Something that went wrong with one client, for the log. */
export interface ServingProblem {
  kind: 'tls-handshake' | 'bad-request' | 'http2-abuse' | 'http2-session' | 'unread-answer' | 'handler' | 'certificates';
  remoteAddress: string;
  message: string;
}

const PROBLEMS_PER_SECOND = 20;

/** Passes on a bounded number of problems a second, so that clients cannot fill the log; the next one passed on says how many were left out. */
export function limitProblems(report: (problem: ServingProblem) => void): (problem: ServingProblem) => void {
  const rate = new RateLimit(PROBLEMS_PER_SECOND);
  let leftOut = 0;
  return (problem) => {
    if (!rate.allow(performance.now())) return void leftOut++;
    report(leftOut === 0 ? problem : { ...problem, message: `${problem.message} (and ${leftOut} problems before it that were not logged)` });
    leftOut = 0;
  };
}
