import { complete } from '../options/completion.ts';
import type { Output } from './command.ts';
import { parseFlags } from '../options/flags/parser.ts';
import { openLogger } from './open-logger.ts';
import { runServer, type RunSettings } from './run.ts';

/** kube-apiserver: flags → completed options → a server, until it is told to stop. */
export async function serve(args: readonly string[], output: Output, settings: Partial<RunSettings> = {}): Promise<void> {
  const options = complete(parseFlags(args));
  const { logger, close } = openLogger(options, output);
  try {
    await runServer(options, {
      logger,
      onReady: ({ url }) => logger.info('Serving', { url, version: options.kubernetesVersion, storage: options.storageBackend }),
      ...settings,
    });
  } finally {
    close();
  }
}
