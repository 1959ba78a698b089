import { type PerformanceEntry, PerformanceObserver, constants } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clearUpBetweenTurns } from '../util/time-slice.ts';

// How V8 collects, for the whole process.

/**
 * A server's young objects die young: helper threads that look for survivors took more CPU than they saved, a tenth of a create. While it starts most of
 * them stay, and the helpers save time.
 */
export const collectAlone = (): void => setFlagsFromString('--no-parallel-scavenge');

/**
 * While many requests wait, V8 finds that what they consist of lives on, and from then on makes it where the old things are, of which nothing goes before the
 * next full collection, nor what hangs on it: young collections took ten milliseconds instead of three. What waits is not what stays.
 */
export const makeAllYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/** A heap smaller than this may grow by as much before everything is collected; V8's own rule is good for larger ones. */
const GROWTH_BYTES = 48 * 1024 * 1024;

/**
 * V8 collects everything when the heap has grown by a part of what the last collection left, and counts what lies outside of it too: values of a store, chunks of
 * an answer. So with few objects of its own a process collected them all several times a second: a third of what a LIST took, and of a write to `binnacle
 * store`. Answers what ends this.
 */
export function collectSeldom(): () => void {
  const letGrow = (): void => {
    const { used_heap_size: usedBytes } = getHeapStatistics();
    setFlagsFromString(`--heap-growing-percent=${usedBytes < GROWTH_BYTES ? Math.round((GROWTH_BYTES / usedBytes) * 100) : 0}`);
  };
  letGrow();
  // What V8 goes by is decided at the end of a collection, for the next one.
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isFullCollection)) letGrow();
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    observer.disconnect();
    setFlagsFromString('--heap-growing-percent=0');
  };
}

const isFullCollection = (entry: PerformanceEntry): boolean =>
  (entry as PerformanceEntry & { detail: { kind: number } }).detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

type Collect = (options?: { type: 'minor' }) => void;
let gc: Collect | undefined;

/** What `node --expose-gc` gives to programs. */
export function collectMemory(options?: { type: 'minor' }): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as Collect;
  }
  gc(options);
}

/** Copying so much takes some five milliseconds. */
const YOUNG_BYTES = 4 * 1024 * 1024;

/**
 * V8 collects young objects when there are 16 MiB of them, at once. Of garbage that takes a millisecond or two; but all that a large request consists of is
 * alive, and copying that takes thirty. So it is collected in parts, between the turns of the work on it.
 */
export function collectBetweenTurns(): void {
  clearUpBetweenTurns(() => {
    if (youngBytes() < YOUNG_BYTES) return false;
    collectMemory({ type: 'minor' });
    return true;
  });
}

const youngBytes = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_used_size ?? 0;

/** As in any other process: code that is loaded after a server has stopped finds its cache. */
export function collectAsUsual(): void {
  clearUpBetweenTurns(undefined);
  setFlagsFromString('--parallel-scavenge');
  setFlagsFromString('--allocation-site-pretenuring');
}
