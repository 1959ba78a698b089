import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Cluster, prepareCluster } from '../compose/cluster.ts';
import type { Output } from './command.ts';
import { writePrivately } from '../compose/files.ts';
import { defaultOptions } from '../options/flags/options.ts';
import { parseFlags } from '../options/flags/parser.ts';
import { removeInstance, writeInstance } from './instances/instance.ts';
import { type UpFlags, takeUpFlags } from './instances/up-flags.ts';
import { openLogger } from './open-logger.ts';
import { type ReadyServer, runServer, type RunSettings } from './run.ts';
import { stopOnSignals } from '../server/lifecycle.ts';
import { shellQuoted } from './shell-quote.ts';
import type { ObjectClient } from '../testing/object-client.ts';
import { BINNACLE_VERSION } from '../options/version.ts';
import { onAbort } from '../util/on-abort.ts';

/** Reachable from this machine only, unless --bind-address says otherwise. */
const LOCAL_ADDRESS = '127.0.0.1';

/** What is kept of the past, unless --history says otherwise. */
const UP_HISTORY = '24h,64Mi';

/** A cluster for this machine: a store, certificates and an administrator's kubeconfig in the data folder, and a banner that says how to use it. */
export async function up(args: readonly string[], output: Output, settings: Partial<RunSettings> = {}): Promise<void> {
  const { flags, serverArgs } = takeUpFlags(args);
  const { options: serverFlags, given } = parseFlags(serverArgs);
  const bindAddress = given.has('bind-address') ? serverFlags.bindAddress : LOCAL_ADDRESS;
  const port = (await isFree(bindAddress, defaultOptions().securePort)) ? defaultOptions().securePort : 0;
  // Sessions are known to one process, and workers share no history.
  const hasConsole = serverFlags.workers === '' || serverFlags.workers === '0';
  const defaults = {
    'bind-address': LOCAL_ADDRESS,
    'secure-port': String(port),
    'authorization-mode': 'RBAC',
    controllers: '*',
    console: String(hasConsole),
    history: given.has('workers') || given.has('etcd-servers-overrides') ? '' : UP_HISTORY,
  } as const;
  const cluster = prepareCluster(serverArgs, defaults);
  if (flags.detach) return detach(args, cluster, flags, output);
  await runInForeground(cluster, flags, output, settings);
}

async function runInForeground(cluster: Cluster, flags: UpFlags, output: Output, settings: Partial<RunSettings>): Promise<void> {
  const { options } = cluster;
  const { logger, close } = openLogger(options, output, options.v > 0 ? 'info' : 'warning');
  const stop = new AbortController();
  onAbort(settings.stopSignal ?? stopOnSignals(), () => stop.abort());
  // A supervisor ends its server itself, and would start one again that another has ended.
  const pid = settings.watchdog ? process.ppid : process.pid;
  let failure: unknown;
  let stopApplying: (() => Promise<void>) | undefined;
  const prepare = async ({ url, consoleLink }: ReadyServer): Promise<void> => {
    writePrivately(kubeconfigFileOf(cluster), cluster.adminKubeconfig(url));
    stopApplying = await applyManifests(cluster, url, flags, output);
    writeInstance(options.dataDir, url, pid);
    const lastLine = `Ready in ${(performance.now() / 1000).toFixed(2)} s. Ctrl-C stops it.`;
    output.stdout(banner(cluster, url, consoleLink?.(cluster.admin.certPem), lastLine));
  };
  const onReady = (server: ReadyServer): void => {
    prepare(server).catch((error: unknown) => {
      failure = error;
      stop.abort();
    });
  };
  try {
    await runServer(options, { logger, onReady, ...settings, stopSignal: stop.signal });
  } finally {
    await stopApplying?.();
    removeInstance(options.dataDir, pid);
    close();
  }
  if (failure !== undefined) throw failure;
}

async function detach(args: readonly string[], cluster: Cluster, { name }: UpFlags, output: Output): Promise<void> {
  const [{ startDetached }, { newConsoleLink }] = await Promise.all([import('./instances/detach.ts'), import('./instances/console.ts')]);
  const instance = await startDetached(
    args.filter((arg) => !/^--detach(=|$)/.test(arg)),
    cluster.options.dataDir,
  );
  const down = name === undefined ? 'binnacle down' : `binnacle down --name ${name}`;
  const link = cluster.options.console ? await newConsoleLink(instance) : undefined;
  output.stdout(banner(cluster, instance.url, link, `It runs in the background. Stop it with: ${down}`));
}

/** `--crds` and `--apply`, as the administrator, and with `--watch` again whenever they are saved, until the function that this answers with is called. */
async function applyManifests(
  { caCertificate, admin }: Cluster,
  url: string,
  { crds, apply, watch }: UpFlags,
  output: Output,
): Promise<(() => Promise<void>) | undefined> {
  if (crds.length + apply.length === 0) return undefined;
  const [{ ApiClient }, { ObjectClient }] = await Promise.all([import('../testing/api-client.ts'), import('../testing/object-client.ts')]);
  const client = new ApiClient({ url, caCertificate, ...admin });
  const objects = new ObjectClient(client);
  try {
    if (crds.length > 0) await objects.installDefinitions(crds);
    if (apply.length > 0) await objects.apply(apply);
    if (watch) return await applyOnSave(objects, [...crds, ...apply], output);
    client.close();
    return undefined;
  } catch (error) {
    client.close();
    throw error;
  }
}

async function applyOnSave(objects: ObjectClient, sources: readonly string[], output: Output): Promise<() => Promise<void>> {
  const { ManifestWatch } = await import('./instances/manifest-watch.ts');
  const watching = new ManifestWatch({
    sources,
    async apply(file) {
      const applied = await objects.apply(file);
      return `Applied ${file}: ${applied.map(({ kind, metadata }) => `${kind!.toLowerCase()}/${metadata!.name}`).join(', ')}`;
    },
    onApplied: (line) => output.stdout(`${line}\n`),
    onError: (message) => output.stderr(`error: ${message}\n`),
  });
  return async () => {
    await watching.stop();
    objects.client.close();
  };
}

const kubeconfigFileOf = ({ options }: Cluster): string => join(options.dataDir, 'kubeconfig');

/** Says what there is, and how to use it. */
function banner(cluster: Cluster, url: string, consoleLink: string | undefined, lastLine: string): string {
  const { dataDir, storageBackend, kubernetesVersion } = cluster.options;
  const kubeconfigFile = kubeconfigFileOf(cluster);
  return `
  Binnacle ${BINNACLE_VERSION} (Kubernetes ${kubernetesVersion})

  Server      ${url}
  Store       ${storageBackend === 'memory' ? 'in memory, gone when the server stops' : dataDir}
  Kubeconfig  ${kubeconfigFile}${consoleLink === undefined ? '' : `\n  Console     ${consoleLink}`}

  Paste this to use it:

    export KUBECONFIG=${shellQuoted(kubeconfigFile)}
    kubectl get namespaces

  ${lastLine}

`;
}

/** Whether one can listen there now. */
function isFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, address, () => probe.close(() => resolve(true)));
  });
}
