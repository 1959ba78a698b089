import { fileURLToPath } from 'node:url';
import { Console } from '../console/console.ts';
import type { Foundation } from './foundation.ts';

/** Built beside the bundle. */
const builtFolder = (): string => fileURLToPath(new URL('./console/', import.meta.url));

const HISTORY_GROUP = 'history.binnacle.dev';

/** `--console`. Its files are read when they are first asked for. */
export function openConsole({ options, clock, securePort, servers, closers }: Foundation, folder = builtFolder()): Console {
  const hasHistory = (): boolean => servers.value.some(({ versions }) => versions.some(({ group }) => group === HISTORY_GROUP));
  const console = new Console({
    folder,
    clock,
    port: () => securePort.value,
    server: () => ({ version: options.kubernetesVersion, storage: options.storageBackend, hasHistory: hasHistory() }),
  });
  closers.add(() => console.close());
  return console;
}
