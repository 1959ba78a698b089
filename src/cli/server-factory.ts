import { allowPrivileged } from '../apis/core/pod/privileges.ts';
import { setApiFeatures } from '../apis/features.ts';
import type { TokenIssuerOptions } from '../kube/actions/token-request.ts';
import { type RunningChain, prepareRun } from '../server/chain.ts';
import { InProcessClient } from '../server/in-process-client.ts';
import { MetricRegistry } from '../server/metrics/registry.ts';
import type { Engine } from '../storage/engine.ts';
import { openEngine } from '../storage/open.ts';
import { loadAdmissionConfiguration } from './admission-configuration.ts';
import { openAuditing } from './audit.ts';
import { openAuthentication } from './authentication.ts';
import { openAuthorizers } from './authorization.ts';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';
import { enabledControllerHooks } from './controllers.ts';
import { bootstrapOptions, frontOptions } from './front-options.ts';
import { createFlowControl } from './flow-control.ts';
import type { Logger } from './logger.ts';
import type { ServerFactory } from './run.ts';
import { createServerChain } from './server-chain.ts';
import { type ServiceAccountKeys, loadServiceAccountKeys } from './signing-keys.ts';
import { type ServingFiles, openServingFiles, startListening } from './serving-files.ts';

/** CreateServerChain → PrepareRun → Run, on the store that the options name. */
export const createServer: ServerFactory = async (options, logger) => {
  if (options.storageBackend === 'etcd3')
    throw new CommandError('the etcd3 storage backend is still to come: leave out --etcd-servers, or choose --storage-backend=embedded');
  allowPrivileged(options.allowPrivileged);
  setApiFeatures(options.featureGates);
  const files = openServingFiles(options, logger);
  const engine = await openEngine({ backend: options.storageBackend, dataDir: options.storeDir });
  const closers = [() => files.close()];
  const close = async (): Promise<void> => {
    for (const closer of closers) closer();
    await engine.close();
  };
  const stop = new AbortController();
  try {
    const { listener, ready, stopped } = await run(options, logger, { files, engine, closers }, stop.signal);
    const closed = stopped.finally(close);
    closed.catch(() => undefined);
    return {
      url: `https://127.0.0.1:${listener.address.port}`,
      ready,
      stop() {
        stop.abort();
        return closed;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const now = (): Date => new Date();

interface RunParts {
  files: ServingFiles;
  engine: Engine;
  /** Called when all has stopped; what is opened on the way adds its own. */
  closers: (() => void)[];
}

async function run(options: CompletedOptions, logger: Logger, { files, engine, closers }: RunParts, stop: AbortSignal): Promise<RunningChain> {
  const address = { port: options.securePort };
  const client = new InProcessClient();
  let announceStart!: () => void;
  const keys = loadServiceAccountKeys(options, new Promise((resolve) => (announceStart = resolve)));
  keys.catch((error: unknown) => logger.error('The keys of service account tokens cannot be used', { error }));
  const verificationKeys = keys.then(({ verification }) => verification);
  verificationKeys.catch(() => undefined);
  const authentication = await openAuthentication(options, { logger, files, client, verificationKeys, now });
  closers.push(() => authentication.close());
  const authorizers = await openAuthorizers(options, logger);
  closers.push(() => authorizers.close());
  const chain = createServerChain(options, {
    engine,
    client,
    now,
    bootstrap: bootstrapOptions(options, logger, files, address),
    readToken: authentication.readToken,
    authorizers: authorizers.prepared,
    tokenIssuer: tokenIssuer(options, keys),
    pluginConfigurations: await loadAdmissionConfiguration(options.admissionControlConfigFile, options.admissionPlugins),
  });
  chain.kube.postStartHooks.push(...enabledControllerHooks(options, client, files, logger));
  closers.push(() => chain.authorization.close());
  authorizers.follow(chain.authorization);
  await chain.synced;
  const { authenticator } = authentication;
  const auditing = await openAuditing(options, logger);
  const registry = new MetricRegistry();
  const flowControl = createFlowControl(options, chain, registry);
  closers.push(() => flowControl?.close());
  const prepared = prepareRun(
    chain,
    frontOptions(options, { logger, engine, chain, authenticator, verificationKeys, address, auditing, registry, flowControl }),
  );
  const running = await prepared.run((onExchange) => startListening(options, files, logger, onExchange), stop);
  address.port = running.listener.address.port;
  void running.ready.then(announceStart, announceStart);
  return running;
}

function tokenIssuer(options: CompletedOptions, keys: Promise<ServiceAccountKeys>): TokenIssuerOptions | undefined {
  if (options.serviceAccountSigningKeyFile === '') return undefined;
  const signingKey = keys.then(({ signing }) => signing!);
  signingKey.catch(() => undefined);
  return {
    issuer: options.serviceAccountIssuer[0]!,
    signingKey,
    apiAudiences: options.apiAudiences,
    maxLifetimeSeconds: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000),
    extendsPodTokens: options.serviceAccountExtendTokenExpiration,
  };
}
