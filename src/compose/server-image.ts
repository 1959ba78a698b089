import { CommandError } from '../options/command-error.ts';
import type { Stores } from '../server/stores.ts';
import type { CacheImage } from '../storage/cache/image.ts';
import { MemoryEngine, type MemoryImage } from '../storage/engines/memory.ts';
import type { Engine } from '../storage/engine.ts';

/** All that a server on the memory store has stored, at one revision: what it can be taken back to, and what another can begin with. */
export interface ServerImage {
  readonly store: MemoryImage;
  /** What the caches have made of it, by the prefix of their keys. */
  readonly caches: ReadonlyMap<string, CacheImage>;
}

/** What is stored. `image` and `reset` throw CommandError where the objects are not in memory. */
export interface ServerState {
  readonly revision: number;
  image(): ServerImage;
  /** Whoever uses the in-process client has heard of all that differs when this settles. */
  reset(image: ServerImage): Promise<void>;
}

export const serverState = (engine: Engine, stores: Stores): ServerState => ({
  get revision() {
    return stores.revision;
  },
  image: () => ({ store: memoryOf(engine).image(), caches: stores.images() }),
  async reset({ store }) {
    const memory = memoryOf(engine);
    memory.restore(store);
    await stores.waitFor(memory.publishedRevision);
  },
});

function memoryOf(engine: Engine): MemoryEngine {
  if (!(engine instanceof MemoryEngine)) throw new CommandError('only a server that keeps its objects in memory can be forked and reset');
  return engine;
}
