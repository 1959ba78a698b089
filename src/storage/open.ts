import type { Engine } from './engine.ts';
import { openMemoryEngine } from './engines/memory.ts';

interface StorageOptions {
  backend: 'memory' | 'embedded';
  /** The embedded store's folder. */
  dataDir: string;
}

/** Throws StorageUnavailable, with one line for the operator, when the store cannot be opened. */
export async function openEngine({ backend, dataDir }: StorageOptions): Promise<Engine> {
  if (backend === 'memory') return openMemoryEngine();
  // Loaded only when it is used: LMDB is native code.
  const { openEmbeddedEngine } = await import('./engines/embedded.ts');
  return openEmbeddedEngine({ folder: dataDir });
}
