import { type PreparedServer, prepareRun } from '../server/chain.ts';
import { InspectorSessions } from '../server/debug/inspector-session.ts';
import type { ProfiledServer } from '../server/debug/profile-pages.ts';
import { type AccessFiles, openAccess } from './access.ts';
import { equipAdmission, readPluginConfigurations, serviceRoutes } from './admission.ts';
import { openAuditing } from './audit.ts';
import { buildAuthorization } from './authorization.ts';
import { Closers } from './closers.ts';
import { enabledControllerHooks } from './controllers.ts';
import { createFlowControl } from './flow-control.ts';
import { type Foundation, openFoundation } from './foundation.ts';
import { type FrontParts, debugRoutes, frontOptions } from './front-options.ts';
import type { OpenHistory } from './history.ts';
import { leaderElectionHooks } from './leader-election.ts';
import { type ObjectStores, openObjectStores } from './object-stores.ts';
import type { OpenPeers } from './peers.ts';
import { StorageVersionRecorder, recordedResources } from '../kube/bootstrap/storage-versions.ts';
import { dropWriters } from './replay/replay.ts';
import { openSeededValues } from './seeded-values.ts';
import { serverState } from './server-image.ts';
import type { StoredValues } from './stored-values.ts';
import { serverId } from './server-id.ts';
import { type CreatedServers, createServers } from './servers.ts';
import { startServingFrom, openSecurePort } from './serving-files.ts';
import type { FactorySettings, RunningServer, ServerFactory } from './start.ts';
import type { OpenTracing } from './tracing.ts';
import type { Logger } from './logger.ts';
import type { OpenConsole } from './console.ts';
import { systemClock } from '../util/clock.ts';

/**
 * The composition root: CreateServerChain → PrepareRun → Run (cmd/kube-apiserver/app/server.go). Each phase is given the results of those before it. What is
 * asked for before it is made (the authorizer, the servers, the port) is a `Provided`, which the phase that makes it provides.
 */
export const createServer: ServerFactory = async (
  options,
  logger,
  { refusedFingerprints, worker, testFilters, image, replay, clock = systemClock, consoleFolder } = {},
) => {
  const stop = new AbortController();
  const closers = new Closers();
  const phaseEnded = startUpLog(logger);
  try {
    const foundation = await openFoundation({ options, logger, stop: stop.signal, closers, worker, image, replay, clock });
    phaseEnded('files and storage');
    const access = await openAccess(foundation);
    const stored = await openSeededValues(foundation, access);
    const history = await openHistoryIfAsked(foundation, stored);
    const values = history?.values ?? stored;
    phaseEnded('values of the store');
    const pluginConfigurations = await readPluginConfigurations(foundation);
    const objects = openObjectStores(foundation, access, values);
    phaseEnded('stores of objects');
    const authorization = buildAuthorization(foundation, access, objects);
    const routes = serviceRoutes(foundation);
    equipAdmission(foundation, objects, authorization, pluginConfigurations, routes);
    const servers = createServers(foundation, access, objects, authorization, routes, history);
    servers.kube.postStartHooks.push(...enabledControllerHooks(foundation, objects, servers), ...leaderElectionHooks(foundation, objects));
    const storageVersions = recordStorageVersions(foundation, servers);
    const peers = await openPeersIfAsked(foundation, servers);
    phaseEnded('servers');
    await servers.synced;
    if (replay) dropWriters(servers);
    phaseEnded('custom resources');
    const console = await openConsoleIfAsked(foundation, consoleFolder);
    const parts = { foundation, access, objects, authorization, servers, peers, console, storageVersions, refusedFingerprints, testFilters };
    const running = await startServing(foundation, access, objects, await prepareFront(parts), stop, console);
    phaseEnded('listener');
    running.ready.then(() => phaseEnded('post-start hooks')).catch(() => undefined);
    return running;
  } catch (error) {
    await closers.close();
    throw error;
  }
};

/** StorageVersionAPI. Of several workers, each is the same server, and the first one records. */
function recordStorageVersions({ client, worker, isEnabled, report, now }: Foundation, servers: CreatedServers): StorageVersionRecorder | undefined {
  if (!isEnabled('StorageVersionAPI') || !isEnabled('APIServerIdentity') || (worker && worker.settings.index > 0)) return undefined;
  const versions = [...servers.kube.versions, ...servers.extensions.versions, ...servers.aggregator.versions];
  const recorder = new StorageVersionRecorder(client, recordedResources(versions));
  servers.aggregator.postStartHooks.push({ name: 'built-in-resources-storage-version-updater', run: (signal) => recorder.run({ signal, report, now }) });
  return recorder;
}

/** Auditing, tracing, priority and fairness and the other filters in front of the chain. */
async function prepareFront(parts: Omit<FrontParts, 'auditing' | 'tracing' | 'flowControl' | 'profilers'>): Promise<PreparedServer> {
  const { foundation, objects, servers } = parts;
  const auditing = await openAuditing(foundation);
  const tracing = await openTracingIfAsked(foundation);
  const flowControl = createFlowControl(foundation, objects, servers);
  const profilers = new InspectorSessions();
  const testFilters = { ...parts.testFilters, ...(await openFaultsIfAsked(foundation, objects)) };
  const front = frontOptions({ ...parts, testFilters, auditing, tracing, flowControl, profilers });
  await openDebugSocketIfAsked(foundation, { ...front.filters, profilers });
  return prepareRun(servers, front);
}

/** --history */
async function openHistoryIfAsked(foundation: Foundation, values: StoredValues): Promise<OpenHistory | undefined> {
  const { keeping } = foundation;
  if (!keeping) return undefined;
  const { openHistory } = await import('./history.ts');
  return openHistory(foundation, values, keeping);
}

/** Most servers are alone, or all of one version. */
async function openPeersIfAsked(foundation: Foundation, servers: CreatedServers): Promise<OpenPeers | undefined> {
  if (foundation.options.peerCaFile === '') return undefined;
  const { openPeers } = await import('./peers.ts');
  const peers = openPeers(foundation, servers);
  servers.kube.postStartHooks.push(...peers.hooks);
  return peers;
}

/** `--console`: nothing of it is loaded for others. */
async function openConsoleIfAsked(foundation: Foundation, folder: string | undefined): Promise<OpenConsole | undefined> {
  if (!foundation.options.console) return undefined;
  const { openConsole } = await import('./console.ts');
  return openConsole(foundation, folder);
}

async function openDebugSocketIfAsked({ options, logger, closers }: Foundation, server: ProfiledServer): Promise<void> {
  if (options.debugSocketPath === '') return;
  const { openDebugSocket } = await import('./debug-socket.ts');
  const log = logger.module('debugsocket');
  closers.add(
    await openDebugSocket(options.debugSocketPath, debugRoutes(server, logger), ({ message }) => log.verbose(3, 'A client was cut off', { message })),
  );
}

/** `--fault-config-file`: of a server that tests of any language talk to. */
async function openFaultsIfAsked({ options, logger }: Foundation, { stores }: ObjectStores): Promise<FactorySettings['testFilters']> {
  if (options.faultConfigFile === '') return undefined;
  const { openFaults } = await import('./faults.ts');
  return { faults: openFaults(options.faultConfigFile, logger, () => stores.revision) };
}

/** Most servers trace nothing, and need not load what it takes. */
async function openTracingIfAsked({ options, logger, egress }: Foundation): Promise<OpenTracing | undefined> {
  const { tracingConfigFile, featureGates } = options;
  if (tracingConfigFile === '') return undefined;
  const { openTracing } = await import('./tracing.ts');
  return openTracing(tracingConfigFile, { logger, serverId: serverId(featureGates), dial: egress?.controlplane });
}

/** Listens, and runs the post-start hooks. */
async function startServing(
  { options, worker, logger, registry, files, securePort, closers, storage }: Foundation,
  { makeAhead }: AccessFiles,
  { stores }: ObjectStores,
  prepared: PreparedServer,
  stop: AbortController,
  console: OpenConsole | undefined,
): Promise<RunningServer> {
  const { listener, ready, stopped } = await prepared.run(async (onExchange) => {
    const source = worker?.connections ?? (await openSecurePort(options));
    const opened = startServingFrom({ files, source, logger, registry }, options, onExchange);
    // Before the hooks, which store it.
    securePort.provide(opened.address.port);
    return opened;
  }, stop.signal);
  const closed = stopped.finally(() => closers.close());
  closed.catch(() => undefined);
  const url = `https://127.0.0.1:${listener.address.port}`;
  return {
    url,
    ready,
    ...(console && { consoleLink: (pem: string) => `${url}/console/#code=${console.createCode(pem)}` }),
    makeAhead,
    stop() {
      stop.abort();
      return closed;
    },
    state: serverState(storage.engine, stores),
  };
}

/** Says at `--v=1` when each phase of a start is over, and how long it took. */
function startUpLog(logger: Logger, now: () => number = performance.now.bind(performance)): (phase: string) => void {
  let beganMs = now();
  return (phase) => {
    const endMs = now();
    logger.verbose(1, 'Start-up phase is over', { phase, durationMs: Math.round(endMs - beganMs) });
    beganMs = endMs;
  };
}
