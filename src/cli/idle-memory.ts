import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

interface IdleMemoryParts {
  intervalMs?: number;
  collect?: () => void;
  memoryBytes?: () => number;
  /** Which part of the time the event loop had work since this was last asked, 0 to 1. */
  utilization?: () => number;
}

/** V8 shrinks its young generation only in a collection that finds that little was allocated for some seconds. */
const INTERVAL_MS = 5_000;
const IDLE_BELOW = 0.05;
const GROWN_BYTES = 16 * 1024 * 1024;
/** It gives pages back little by little. */
const COLLECTIONS = 3;

/**
 * Gives memory back that a busy time has left, once the process has nothing to do. V8 would keep it for the next busy time: 40 MiB after a start with
 * 100,000 objects, 100 MiB after they were made. While there is work, nothing is done: a collection of the whole heap stops it for up to a tenth of a
 * second. Answers what ends this.
 */
export function giveBackWhenIdle(parts: IdleMemoryParts = {}): () => void {
  const { intervalMs = INTERVAL_MS, collect = collectGarbage, memoryBytes = () => process.memoryUsage.rss(), utilization = loopUtilization() } = parts;
  let keptBytes = 0;
  let left = 0;
  const timer = setInterval(() => {
    if (utilization() > IDLE_BELOW) return;
    if (memoryBytes() > keptBytes + GROWN_BYTES && left === 0) left = COLLECTIONS;
    if (left === 0) return;
    collect();
    // The collection itself is no work to wait for.
    utilization();
    left--;
    keptBytes = memoryBytes();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

function loopUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

let gc: (() => void) | undefined;

/** What `node --expose-gc` gives to programs. */
function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as () => void;
  }
  gc();
}
