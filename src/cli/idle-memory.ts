import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { collectMemory } from './garbage-collection.ts';

type Generation = 'minor' | 'major';

interface IdleMemoryParts {
  intervalMs?: number;
  collect?: (generation: Generation) => void;
  memoryBytes?: () => number;
  heapBytes?: () => number;
  /** Which part of the time the event loop had work since this was last asked, 0 to 1. */
  utilization?: () => number;
}

/** More than the five seconds that V8 looks back over (see below). */
const INTERVAL_MS = 5_500;
const IDLE_BELOW = 0.05;
/** So many intervals in a row. */
const IDLE_INTERVALS = 2;
const GROWN_BYTES = 32 * 1024 * 1024;
/** A collection takes some two milliseconds a MiB. What objects are stored as does not count: it lies outside of V8's heap. */
const LARGEST_HEAP_BYTES = 128 * 1024 * 1024;

/**
 * Gives memory back that a busy time has left, once the process has had nothing to do for eleven seconds. V8 itself would do so some two minutes later, with as
 * long a pause (its MemoryReducer): 50 MiB after a start with 100,000 objects, 100 MiB after they were made.
 *
 * A request that arrives in the pause waits for it: a tenth of a second for a heap of 40 MiB. So it is one collection for each 32 MiB of growth, never
 * while there is work, and none at all of a heap so large that it would take longer than a quarter of a second.
 *
 * The 32 MiB of young objects V8 gives back only where little was allocated in the five seconds before, which it counts from collection to collection. So a
 * young one, of a few milliseconds, comes an interval earlier. Answers what ends this.
 */
export function giveBackWhenIdle(parts: IdleMemoryParts = {}): () => void {
  const { intervalMs = INTERVAL_MS, collect = collectGeneration, utilization = loopUtilization() } = parts;
  const { memoryBytes = () => process.memoryUsage.rss(), heapBytes = () => getHeapStatistics().used_heap_size } = parts;
  let keptBytes = 0;
  let idleIntervals = 0;
  const timer = setInterval(() => {
    idleIntervals = utilization() > IDLE_BELOW ? 0 : idleIntervals + 1;
    if (idleIntervals === 0 || memoryBytes() < keptBytes + GROWN_BYTES || heapBytes() > LARGEST_HEAP_BYTES) return;
    if (idleIntervals < IDLE_INTERVALS) return collect('minor');
    collect('major');
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

/** Compacting: the objects that stay lie between those that went, and pages are given back only when empty. */
function collectGeneration(generation: Generation): void {
  if (generation === 'minor') return collectMemory({ type: 'minor' });
  setFlagsFromString('--compact-on-every-full-gc');
  collectMemory();
  setFlagsFromString('--no-compact-on-every-full-gc');
}
