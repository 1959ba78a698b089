import type { Engine } from './engine.ts';
import type { EtcdEngineOptions } from './engines/etcd/engine.ts';
import { openMemoryEngine } from './engines/memory.ts';

/** --etcd-compaction-interval; none: never. */
interface Compaction {
  compactionIntervalMs?: number;
}

type StorageOptions =
  | ({ backend: 'memory' } & Compaction)
  | ({ backend: 'embedded'; /** Its folder. */ dataDir: string } & Compaction)
  | ({ backend: 'etcd3' } & EtcdEngineOptions);

/** Throws StorageUnavailable, with one line for the operator, when the store cannot be opened. */
export async function openEngine(options: StorageOptions): Promise<Engine> {
  if (options.backend === 'memory') return openMemoryEngine(options);
  // Loaded only when it is used: each has much that the others do without, LMDB native code.
  if (options.backend === 'etcd3') {
    const { openEtcdEngine } = await import('./engines/etcd/engine.ts');
    return openEtcdEngine(options);
  }
  const { openEmbeddedEngine } = await import('./engines/embedded.ts');
  const { dataDir, compactionIntervalMs = 0 } = options;
  return openEmbeddedEngine({ folder: dataDir, compactionIntervalMs });
}
