import type { Authorization } from '../authorization/modes.ts';
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
import { debugRoutes, frontOptions } from './front-options.ts';
import { type ObjectStores, openObjectStores } from './object-stores.ts';
import { openSeededValues } from './seeded-values.ts';
import { serverId } from './server-id.ts';
import { type CreatedServers, createServers } from './servers.ts';
import { startServingFrom, openSecurePort } from './serving-files.ts';
import type { RunningServer, ServerFactory } from './start.ts';
import { startUpLog } from './start-up-log.ts';
import type { OpenTracing } from './tracing.ts';

/**
 * The composition root: CreateServerChain → PrepareRun → Run (cmd/kube-apiserver/app/server.go). Each phase is given the results of those before it. What is
 * asked for before it is made (the authorizer, the servers, the port) is a `Provided`, which the phase that makes it provides.
 */
export const createServer: ServerFactory = async (options, logger, { refusedFingerprints, worker } = {}) => {
  const stop = new AbortController();
  const closers = new Closers();
  const isOver = startUpLog(logger);
  try {
    const foundation = await openFoundation(options, logger, stop.signal, closers, worker);
    isOver('files and storage');
    const access = await openAccess(foundation);
    const values = await openSeededValues(foundation, access);
    isOver('values of the store');
    const pluginConfigurations = await readPluginConfigurations(foundation);
    const objects = openObjectStores(foundation, access, values);
    isOver('stores of objects');
    const authorization = buildAuthorization(foundation, access, objects);
    const routes = serviceRoutes(foundation);
    equipAdmission(foundation, objects, authorization, pluginConfigurations, routes);
    const servers = createServers(foundation, access, objects, authorization, routes);
    servers.kube.postStartHooks.push(...enabledControllerHooks(foundation, objects, servers));
    isOver('servers');
    await servers.synced;
    isOver('custom resources');
    const prepared = await prepareFront({ foundation, access, objects, authorization, servers, refusedFingerprints });
    const running = await startServing(foundation, access, prepared, stop);
    isOver('listener');
    running.ready.then(() => isOver('post-start hooks')).catch(() => undefined);
    return running;
  } catch (error) {
    await closers.close();
    throw error;
  }
};

interface ChainParts {
  foundation: Foundation;
  access: AccessFiles;
  objects: ObjectStores;
  authorization: Authorization;
  servers: CreatedServers;
  /** Requests that have ended the process before; undefined where there is no supervisor. */
  refusedFingerprints: readonly string[] | undefined;
}

/** Auditing, tracing, priority and fairness and the other filters in front of the chain. */
async function prepareFront(parts: ChainParts): Promise<PreparedServer> {
  const { foundation, objects, servers } = parts;
  const auditing = await openAuditing(foundation);
  const tracing = await openTracingIfAsked(foundation);
  const flowControl = createFlowControl(foundation, objects, servers);
  const profilers = new InspectorSessions();
  const front = frontOptions({ ...parts, auditing, tracing, flowControl, profilers });
  await openDebugSocketIfAsked(foundation, { ...front.filters, profilers });
  return prepareRun(servers, front);
}

async function openDebugSocketIfAsked({ options, logger, closers }: Foundation, server: ProfiledServer): Promise<void> {
  if (options.debugSocketPath === '') return;
  const { openDebugSocket } = await import('./debug-socket.ts');
  const log = logger.module('debugsocket');
  closers.add(
    await openDebugSocket(options.debugSocketPath, debugRoutes(server, logger), ({ message }) => log.verbose(3, 'A client was cut off', { message })),
  );
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
  { options, worker, logger, registry, files, securePort, closers }: Foundation,
  { keys }: AccessFiles,
  prepared: PreparedServer,
  stop: AbortController,
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
  return {
    url: `https://127.0.0.1:${listener.address.port}`,
    ready,
    makeAhead: () => void keys().catch(() => undefined),
    stop() {
      stop.abort();
      return closed;
    },
  };
}
