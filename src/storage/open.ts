import type { ChangeKeeping, Engine } from './engine.ts';
import type { EtcdEngineOptions } from './engines/etcd/engine.ts';
import type { ChangeLogLimits } from './engines/change-log.ts';
import type { Clock } from '../util/clock.ts';
import { type MemoryImage, openMemoryEngine } from './engines/memory.ts';

interface LocalSettings {
  /** --etcd-compaction-interval; none: never. */
  compactionIntervalMs?: number;
  history?: ChangeLogLimits;
  clock?: Clock;
}

type StorageOptions =
  | ({ backend: 'memory'; image?: MemoryImage | undefined } & LocalSettings)
  | ({ backend: 'embedded'; /** Its folder. */ dataDir: string; keeping?: ChangeKeeping | undefined } & LocalSettings)
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
  const { dataDir, ...settings } = options;
  return openEmbeddedEngine({ folder: dataDir, ...settings });
}
