import { type PerformanceEntry, PerformanceObserver, constants } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { HealthCheck } from '../health.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';

/** How often the event loop is asked how late it is. A stall of this length or longer is never missed. */
const SAMPLE_MS = 100;
/** For how long a stall counts that is over: probes come every ten seconds. */
const STALL_COUNTS_MS = 30_000;

export interface RuntimeWatch {
  /** The longest that the event loop has stood still within the last half minute. */
  readonly recentStallMs: number;
  stop(): void;
}

/** What V8 and libuv tell of this process: delays of the event loop, garbage collections, memory, handles. */
export function registerRuntimeMetrics(registry: MetricRegistry): RuntimeWatch {
  registerMemory(registry);
  const stopGc = observeGarbageCollections(registry);
  const loop = watchEventLoop(registry);
  return {
    get recentStallMs() {
      return loop.recentStallMs;
    },
    stop() {
      stopGc();
      loop.stop();
    },
  };
}

/** Fails for half a minute after a stall that was longer than `limitMs`: while the loop stands still, nobody is answered. */
export const eventLoopCheck = (limitMs: number, runtime: Pick<RuntimeWatch, 'recentStallMs'>): HealthCheck => ({
  name: 'event-loop',
  check: () => {
    const { recentStallMs } = runtime;
    if (recentStallMs > limitMs) throw new Error(`the event loop has stood still for ${Math.round(recentStallMs)} ms; --livez-stall-limit is ${limitMs} ms`);
  },
});

function watchEventLoop(registry: MetricRegistry): RuntimeWatch {
  const delays = registry.family('binnacle_event_loop_delay_seconds').with();
  const longest = registry.family('binnacle_event_loop_delay_max_seconds').with();
  let longestMs = 0;
  let stall = { delayMs: 0, endedAtMs: -Infinity };
  let dueMs = performance.now() + SAMPLE_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const delayMs = Math.max(0, nowMs - dueMs);
    dueMs = nowMs + SAMPLE_MS;
    delays.observe(delayMs / 1000);
    longestMs = Math.max(longestMs, delayMs);
    if (delayMs >= stall.delayMs || nowMs - stall.endedAtMs > STALL_COUNTS_MS) stall = { delayMs, endedAtMs: nowMs };
  }, SAMPLE_MS).unref();
  registry.onCollect(() => {
    longest.set(longestMs / 1000);
    longestMs = 0;
  });
  return {
    get recentStallMs() {
      return performance.now() - stall.endedAtMs > STALL_COUNTS_MS ? 0 : stall.delayMs;
    },
    stop: () => clearInterval(timer),
  };
}

const GC_KINDS: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak_callbacks'],
]);

function observeGarbageCollections(registry: MetricRegistry): () => void {
  const pauses = registry.family('binnacle_gc_pause_seconds');
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const {
        duration,
        detail: { kind },
      } = entry as PerformanceEntry & { detail: { kind: number } };
      pauses.with(GC_KINDS.get(kind) ?? 'other').observe(duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

function registerMemory(registry: MetricRegistry): void {
  const heap = registry.family('binnacle_heap_bytes');
  const limit = registry.family('binnacle_heap_limit_bytes').with();
  const external = registry.family('binnacle_external_memory_bytes').with();
  const handles = registry.family('binnacle_open_handles');
  registry.onCollect(() => {
    const { heapTotal, heapUsed, external: externalBytes } = process.memoryUsage();
    heap.with('used').set(heapUsed);
    heap.with('reserved').set(heapTotal);
    external.set(externalBytes);
    limit.set(getHeapStatistics().heap_size_limit);
    handles.clear();
    for (const kind of process.getActiveResourcesInfo()) handles.with(kind).inc();
  });
}
