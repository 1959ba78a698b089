import { CommandError } from '../options/command-error.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareCluster } from './cluster.ts';
import { writePrivately } from './files.ts';
import { createLogger } from './logger.ts';
import { type ServerFactory, logStart, startChain } from './start.ts';
import type { StartOptions, StartedServer } from './started-server.ts';

/** What `startServer` does; a test may put another server in place of the real one. */
export async function startEmbedded({ dataDir, port = 0, flags = [] }: StartOptions, factory?: ServerFactory): Promise<StartedServer> {
  const temporaryDir = dataDir === undefined ? mkdtempSync(join(tmpdir(), 'binnacle-')) : undefined;
  const removeTemporary = (): void => {
    if (temporaryDir !== undefined) rmSync(temporaryDir, { recursive: true, force: true });
  };
  try {
    const cluster = prepareCluster(flags, {
      'data-dir': dataDir ?? temporaryDir!,
      'storage-backend': dataDir === undefined ? 'memory' : 'embedded',
      'bind-address': '127.0.0.1',
      'secure-port': String(port),
      'authorization-mode': 'RBAC',
      controllers: '*',
    });
    const logger = createLogger({ format: 'text', verbosity: cluster.options.v, minimumSeverity: cluster.options.v > 0 ? 'info' : 'error' });
    logStart(cluster.options, logger);
    if (cluster.options.workerCount > 0) throw new CommandError('--workers is for the command: a server within a program is that process alone');
    const server = await startChain(cluster.options, logger, factory);
    const stop = (): Promise<void> => server.stop().finally(removeTemporary);
    const kubeconfig = cluster.adminKubeconfig(server.url);
    const kubeconfigFile = join(cluster.options.dataDir, 'kubeconfig');
    writePrivately(kubeconfigFile, kubeconfig);
    await server.ready.catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return { url: server.url, kubeconfig, kubeconfigFile, caCertificate: cluster.caCertificate, stop };
  } catch (error) {
    removeTemporary();
    throw error;
  }
}
