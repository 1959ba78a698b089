import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
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
