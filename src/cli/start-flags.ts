import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import type { CompletedOptions } from '../options/completion.ts';

/** What a server uses of Node's own modules, most of which load others. */
const NODE_MODULES = ['child_process', 'crypto', 'dns/promises', 'fs/promises', 'https', 'perf_hooks', 'timers/promises', 'worker_threads', 'zlib'];

/**
 * While a server starts, V8 leaves out what only pays later; the answer ends this.
 *
 * A heap that grows from nothing is soon thought to need a look at all that is old, of which at start hardly anything can go: fifteen milliseconds of
 * readiness. And on a fresh store two functions run just often enough to be optimized: thirty milliseconds of another thread, and six MiB of Node's program
 * that are in memory from then on. A store that has objects is read faster with them.
 */
export function startFrugally({ storageBackend, storeDir }: CompletedOptions): () => void {
  const isFresh = storageBackend === 'memory' || (storageBackend === 'embedded' && !existsSync(storeDir));
  // Before any flag is changed: V8 takes no code cache, Node's own neither, while its flags are others.
  for (const name of NODE_MODULES) process.getBuiltinModule(name);
  setFlagsFromString('--no-incremental-marking');
  if (isFresh) setFlagsFromString('--no-opt');
  return () => {
    setFlagsFromString('--incremental-marking');
    // V8 turns this off along with the other, and not on again with it: the thread itself then marked all of a heap of 70 MiB, 29 ms instead of 8.
    setFlagsFromString('--concurrent-marking');
    if (isFresh) setFlagsFromString('--opt');
  };
}
