import { CommandError } from '../options/command-error.ts';
import { join } from 'node:path';
import { type Cluster, type ClusterKeys, prepareCluster } from './cluster.ts';
import { writePrivately } from './files.ts';
import { createLogger } from './logger.ts';
import type { ServerState } from './server-image.ts';
import { SharedFolder } from './shared-folder.ts';
import { type FactorySettings, type RunningServer, type ServerFactory, logStart, startChain } from './start.ts';
import type { StartOptions, StartedServer } from './started-server.ts';

/** A server in this process, with all that is known of its cluster. */
export interface EmbeddedServer extends StartedServer {
  readonly cluster: Cluster;
  /** The one that is removed with it; undefined where it was given one. */
  readonly temporaryFolder: SharedFolder | undefined;
  /** For files of this server alone. */
  readonly filesFolder: string;
  /** A new link to the console; absent where there is none. */
  consoleLink?(): string;
  /** Absent where a test has put something in the server's place. */
  readonly state: ServerState | undefined;
}

/** What servers with temporary folders have in common, so that only the first one makes it. */
export interface SharedKeys {
  readonly cluster: ClusterKeys | undefined;
  /** Called with a folder that is still empty. */
  enter(folder: string): void;
  /** Called before the folder goes. */
  leave(folder: string, cluster: Cluster): void;
}

export interface EmbeddedSettings extends FactorySettings {
  sharedKeys?: SharedKeys;
}

/** What `startServer` begins with; a test may put another server in place of the real one. */
export async function startEmbedded(
  options: StartOptions,
  factory?: ServerFactory,
  { sharedKeys, ...settings }: EmbeddedSettings = {},
): Promise<EmbeddedServer> {
  const folder = options.dataDir === undefined ? new SharedFolder() : undefined;
  try {
    if (folder) sharedKeys?.enter(folder.path);
    const cluster = embeddedCluster(options, folder?.path ?? options.dataDir!, folder && sharedKeys?.cluster);
    const server = await startReady(cluster, factory, settings);
    const onStopped = (): void => {
      if (folder) sharedKeys?.leave(folder.path, cluster);
      folder?.release();
    };
    return embedded(server, { cluster, temporaryFolder: folder, filesFolder: cluster.options.dataDir, onStopped });
  } catch (error) {
    folder?.release();
    throw error;
  }
}

/** A second server with the certificates, keys and flags of the first, and `settings.image` to begin with. */
export async function startFork({ cluster: origin, temporaryFolder: folder }: EmbeddedServer, settings: FactorySettings): Promise<EmbeddedServer> {
  if (folder === undefined) throw new CommandError('only a server that keeps its objects in memory can be forked and reset');
  const cluster = { ...origin, options: { ...origin.options, securePort: 0 } };
  folder.share();
  try {
    const server = await startReady(cluster, undefined, settings);
    const filesFolder = join(folder.path, 'forks', new URL(server.url).port);
    return embedded(server, { cluster, temporaryFolder: folder, filesFolder, onStopped: () => folder.release() });
  } catch (error) {
    folder.release();
    throw error;
  }
}

function embeddedCluster(
  { dataDir, port = 0, emulatedVersion, console = false, flags = [] }: StartOptions,
  folder: string,
  keys: ClusterKeys | undefined,
): Cluster {
  const defaults = {
    'data-dir': folder,
    'storage-backend': dataDir === undefined ? 'memory' : 'embedded',
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
    'authorization-mode': 'RBAC',
    controllers: '*',
    console: String(console),
  };
  return prepareCluster([...(emulatedVersion === undefined ? [] : [`--emulated-version=${emulatedVersion}`]), ...flags], defaults, keys);
}

async function startReady({ options }: Cluster, factory: ServerFactory | undefined, settings: FactorySettings): Promise<RunningServer> {
  const logger = createLogger({ format: 'text', verbosity: options.v, minimumSeverity: options.v > 0 ? 'info' : 'error' });
  logStart(options, logger);
  if (options.workerCount > 0) throw new CommandError('--workers is for the command: a server within a program is that process alone');
  const server = await startChain(options, logger, factory, settings);
  await server.ready.catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  return server;
}

interface EmbeddedParts extends Pick<EmbeddedServer, 'cluster' | 'temporaryFolder' | 'filesFolder'> {
  onStopped(): void;
}

function embedded(server: RunningServer, { onStopped, ...parts }: EmbeddedParts): EmbeddedServer {
  const { url } = server;
  const kubeconfig = parts.cluster.adminKubeconfig(url);
  const kubeconfigFile = join(parts.filesFolder, 'kubeconfig');
  writePrivately(kubeconfigFile, kubeconfig);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= server.stop().finally(onStopped));
  const { cluster } = parts;
  const consoleLink = server.consoleLink && ((): string => server.consoleLink!(cluster.admin.certPem));
  return { ...parts, url, kubeconfig, kubeconfigFile, caCertificate: cluster.caCertificate, state: server.state, ...(consoleLink && { consoleLink }), stop };
}
