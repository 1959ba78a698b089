import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Cluster, prepareCluster } from '../compose/cluster.ts';
import type { Output } from './command.ts';
import { writePrivately } from '../compose/files.ts';
import { defaultOptions } from '../options/flags/options.ts';
import { parseFlags } from '../options/flags/parser.ts';
import { openLogger } from './open-logger.ts';
import { runServer, type RunSettings } from './run.ts';
import type { RunningServer } from '../compose/start.ts';
import { BINNACLE_VERSION } from '../options/version.ts';

/** Reachable from this machine only, unless --bind-address says otherwise. */
const LOCAL_ADDRESS = '127.0.0.1';

/** A cluster for this machine: a store, certificates and an administrator's kubeconfig in the data folder, and a banner that says how to use it. */
export async function up(args: readonly string[], output: Output, settings: Partial<RunSettings> = {}): Promise<void> {
  const { options: flags, given } = parseFlags(args);
  const bindAddress = given.has('bind-address') ? flags.bindAddress : LOCAL_ADDRESS;
  const port = (await isFree(bindAddress, defaultOptions().securePort)) ? defaultOptions().securePort : 0;
  const cluster = prepareCluster(args, { 'bind-address': LOCAL_ADDRESS, 'secure-port': String(port), 'authorization-mode': 'RBAC', controllers: '*' });
  const { options } = cluster;
  const { logger, close } = openLogger(options, output, options.v > 0 ? 'info' : 'warning');
  try {
    await runServer(options, { logger, onReady: (server) => output.stdout(banner(cluster, server)), ...settings });
  } finally {
    close();
  }
}

/** Writes the kubeconfig, now that the port is known, and says what there is. */
function banner(cluster: Cluster, { url }: Pick<RunningServer, 'url'>): string {
  const { dataDir, storageBackend, kubernetesVersion } = cluster.options;
  const kubeconfigFile = join(dataDir, 'kubeconfig');
  writePrivately(kubeconfigFile, cluster.adminKubeconfig(url));
  const seconds = (performance.now() / 1000).toFixed(2);
  return `
  Binnacle ${BINNACLE_VERSION} (Kubernetes ${kubernetesVersion})

  Server      ${url}
  Store       ${storageBackend === 'memory' ? 'in memory, gone when the server stops' : dataDir}
  Kubeconfig  ${kubeconfigFile}

  Paste this to use it:

    export KUBECONFIG=${shellQuoted(kubeconfigFile)}
    kubectl get namespaces

  Ready in ${seconds} s. Ctrl-C stops it.

`;
}

const shellQuoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`);

/** Whether one can listen there now. */
function isFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, address, () => probe.close(() => resolve(true)));
  });
}
