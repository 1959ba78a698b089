import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { RunningRequest } from '../server/running-request.ts';
import { readMainThreadStack } from './main-thread-stack.ts';
import { REPORT_FD, type WatchdogMessage, encodeMessage } from './protocol.ts';

/** What the main thread hands to this worker. */
export interface WatchdogWorkerData {
  /** One counter, which the main thread's event loop raises on every beat. */
  beats: Int32Array;
  stallReportAfterMs: number;
}

const ALIVE_EVERY_MS = 500;
/** A stall is noticed this much late at the most. */
const CHECKS_PER_STALL = 10;
/** So much new memory during a stall is reported before its time: V8 may end the process sooner than that. */
const GROWTH_REPORTED_BYTES = 256 * 1024 * 1024;

const { beats, stallReportAfterMs } = workerData as WatchdogWorkerData;
const checkEveryMs = Math.max(10, Math.min(100, stallReportAfterMs / CHECKS_PER_STALL));

let lastBeat = -1;
let lastBeatMs = performance.now();
let lastBeatRssBytes = 0;
let lastAliveMs = 0;
let lastCheckMs = performance.now();
let isReported = false;

/** Ends the server in order when its supervisor is gone: whoever started that wants one server, not one that nobody watches. */
function send(message: WatchdogMessage): void {
  try {
    writeSync(REPORT_FD, encodeMessage(message));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }
}

function check(): void {
  const nowMs = performance.now();
  // A machine that slept, or a stopped process, is no stall of the main thread: this thread stood as well.
  if (nowMs - lastCheckMs > checkEveryMs + stallReportAfterMs / 2) lastBeatMs += nowMs - lastCheckMs;
  lastCheckMs = nowMs;
  const rssBytes = process.memoryUsage.rss();
  if (nowMs - lastAliveMs >= ALIVE_EVERY_MS) {
    lastAliveMs = nowMs;
    send({ type: 'alive', rssBytes });
  }
  const beat = Atomics.load(beats, 0);
  if (beat !== lastBeat) return onBeat(beat, nowMs, rssBytes);
  const stalledMs = nowMs - lastBeatMs;
  const isGrowing = stalledMs > checkEveryMs * 2 && rssBytes - lastBeatRssBytes > GROWTH_REPORTED_BYTES;
  if (!isReported && (stalledMs >= stallReportAfterMs || isGrowing)) report(stalledMs);
}

function onBeat(beat: number, nowMs: number, rssBytes: number): void {
  if (isReported) send({ type: 'recovered', stalledMs: Math.round(nowMs - lastBeatMs) });
  isReported = false;
  lastBeat = beat;
  lastBeatMs = nowMs;
  lastBeatRssBytes = rssBytes;
}

function report(stalledMs: number): void {
  isReported = true;
  const reported = (stack: readonly string[], request?: RunningRequest): void =>
    send({ type: 'stalled', report: { stalledMs: Math.round(stalledMs), stack, request } });
  readMainThreadStack().then(
    ({ stack, request }) => reported(stack, request),
    () => reported([]),
  );
}

const timer = setInterval(check, checkEveryMs);
