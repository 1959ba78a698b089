import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareCluster } from './cli/cluster.ts';
import { writePrivately } from './cli/files.ts';
import { createLogger } from './cli/logger.ts';
import { type ServerFactory, startChain } from './cli/run.ts';

export interface StartOptions {
  /** Keep the objects here, in the embedded store, over restarts. Default: in memory, gone when the server stops. */
  dataDir?: string;
  /** Default: any free one. */
  port?: number;
  /** Flags of `binnacle serve`, as on its command line: `['--runtime-config=api/all=true']`. */
  flags?: readonly string[];
}

export interface StartedServer {
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  /** A kubeconfig for an administrator, as text: `new KubeConfig().loadFromString(server.kubeconfig)`. */
  readonly kubeconfig: string;
  /** The same, as a file for kubectl, for as long as the server runs. */
  readonly kubeconfigFile: string;
  /** What clients trust, as PEM. */
  readonly caCertificate: string;
  /** Shuts the server down; what was in memory or in temporary files is gone. May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts an API server in this process, on the loopback address, with RBAC and an administrator; it answers once this settles.
 *
 * ```ts
 * const server = await startServer();
 * const config = new KubeConfig();
 * config.loadFromString(server.kubeconfig);
 * // …
 * await server.stop();
 * ```
 */
export async function startServer({ dataDir, port = 0, flags = [] }: StartOptions = {}, factory?: ServerFactory): Promise<StartedServer> {
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
    });
    const logger = createLogger({ format: 'text', verbosity: cluster.options.v, minimumSeverity: cluster.options.v > 0 ? 'info' : 'error' });
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
