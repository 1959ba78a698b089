import type { KeyObject } from 'node:crypto';
import type { TokenIssuerOptions } from '../kube/actions/token-request.ts';
import { type Seed, builtSeed, plantSeed, withoutRbac } from '../kube/bootstrap/seed.ts';
import { type RunningChain, prepareRun } from '../server/chain.ts';
import { InProcessClient } from '../server/in-process-client.ts';
import { MetricRegistry } from '../server/metrics/registry.ts';
import { loadAdmissionConfiguration } from './admission-configuration.ts';
import { openAuditing } from './audit.ts';
import { openAuthentication } from './authentication.ts';
import { openAuthorizers } from './authorization.ts';
import type { CompletedOptions } from './completion.ts';
import { enabledControllerHooks } from './controllers.ts';
import { type Egress, openEgress } from './egress.ts';
import { bootstrapOptions, frontOptions } from './front-options.ts';
import type { FlagName } from './flags/options.ts';
import { createFlowControl } from './flow-control.ts';
import type { Logger } from './logger.ts';
import type { ServerFactory } from './run.ts';
import { openMetricSelection } from './metric-selection.ts';
import { createServerChain } from './server-chain.ts';
import { serverId } from './server-id.ts';
import { type ServiceAccountKeySource, openServiceAccountKeys } from './signing-keys.ts';
import { type ServingFiles, openServingFiles, startListening } from './serving-files.ts';
import { type OpenStorage, openStorage } from './storage.ts';
import { openStoredValues } from './stored-values.ts';
import type { OpenTracing } from './tracing.ts';

/** CreateServerChain → PrepareRun → Run, on the store that the options name. */
export const createServer: ServerFactory = async (options, logger, { onLoaded, refusedFingerprints } = {}) => {
  const registry = new MetricRegistry(await openMetricSelection(options));
  const egress = await openEgress(options.egressSelectorConfigFile, registry);
  const files = openServingFiles(options, logger);
  const storage = await openStorage(options, logger, registry, egress?.etcd);
  onLoaded?.();
  const closers = [() => files.close()];
  const close = async (): Promise<void> => {
    for (const closer of closers) closer();
    await storage.close();
  };
  const stop = new AbortController();
  try {
    const { listener, ready, stopped, keys } = await run(options, logger, { files, storage, registry, egress, closers, refusedFingerprints }, stop.signal);
    const closed = stopped.finally(close);
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
  } catch (error) {
    await close();
    throw error;
  }
};

const now = (): Date => new Date();

interface RunParts {
  files: ServingFiles;
  storage: OpenStorage;
  registry: MetricRegistry;
  egress: Egress | undefined;
  /** Called when all has stopped; what is opened on the way adds its own. */
  closers: (() => void)[];
  refusedFingerprints: readonly string[] | undefined;
}

async function run(
  options: CompletedOptions,
  logger: Logger,
  { files, storage, registry, egress, closers, refusedFingerprints }: RunParts,
  stop: AbortSignal,
): Promise<RunningChain & { keys: ServiceAccountKeySource }> {
  const address = { port: options.securePort };
  const client = new InProcessClient();
  const keys = loggingFailures(openServiceAccountKeys(options, stop), logger, stop);
  const verificationKeys = async (): Promise<readonly KeyObject[]> => (await keys()).verification;
  const authentication = await openAuthentication(options, { logger, files, client, registry, egress, verificationKeys, now });
  closers.push(() => authentication.close());
  const authorizers = await openAuthorizers(options, logger, registry, egress?.controlplane);
  closers.push(() => authorizers.close());
  const values = await openStoredValues(options, storage, logger, registry);
  closers.push(() => values.close());
  // What fails here fails again in the hooks, which say so and try on.
  const isRbacOn = authorizers.prepared.chain.some(({ type }) => type === 'RBAC');
  const readSeed = (): Seed => (isRbacOn ? builtSeed() : withoutRbac(builtSeed()));
  if (isSeedFit(options)) await plantSeed(values.storage.engine, `${options.etcdPrefix}/`, readSeed, now()).catch(() => undefined);
  const chain = createServerChain(options, {
    values,
    client,
    now,
    bootstrap: bootstrapOptions(options, { logger, files, address, isRbacOn }),
    readToken: authentication.readToken,
    authorizers: authorizers.prepared,
    authorizationMetrics: authorizers.metrics,
    tokenIssuer: tokenIssuer(options, keys),
    registry,
    egress: egress ?? {},
    proxyClient: files.proxyClient,
    pluginConfigurations: await loadAdmissionConfiguration(options.admissionControlConfigFile, {
      plugins: options.admissionPlugins,
      isEnabled: (gate) => options.featureGates.isEnabled(gate),
      warn: (text) => logger.warn(text),
    }),
  });
  chain.kube.postStartHooks.push(...enabledControllerHooks(options, chain, files, logger, storage.engine.isSingleWriter));
  closers.push(() => chain.stores.close());
  closers.push(() => chain.authorization.close());
  closers.push(() => chain.kubelets.close());
  closers.push(() => chain.proxyTransports.close());
  closers.push(() => chain.aggregation.close());
  authorizers.follow(chain.authorization);
  await chain.synced;
  const { authenticator } = authentication;
  const auditing = await openAuditing(options, logger, egress?.controlplane);
  const tracing = await openTracingIfAsked(options, logger, egress);
  const flowControl = createFlowControl(options, chain, registry);
  closers.push(() => flowControl?.close());
  const prepared = prepareRun(
    chain,
    frontOptions(options, { logger, values, chain, authenticator, verificationKeys, address, auditing, tracing, registry, flowControl, refusedFingerprints }),
  );
  const running = await prepared.run((onExchange) => startListening(options, files, logger, onExchange), stop);
  address.port = running.listener.address.port;
  return { ...running, keys };
}

/** Whoever asks for a token is not told what is wrong with a key. */
const loggingFailures =
  (keys: ServiceAccountKeySource, logger: Logger, stop: AbortSignal): ServiceAccountKeySource =>
  () =>
    keys().catch((error: unknown) => {
      if (!stop.aborted) logger.error('The keys of service account tokens cannot be used', { error });
      throw error;
    });

/** Flags that say which features and APIs there are, and what becomes of objects on their way into the store. */
const SHAPING_FLAGS: readonly FlagName[] = [
  'feature-gates',
  'runtime-config',
  'emulated-version',
  'admission-control',
  'admission-control-config-file',
  'enable-admission-plugins',
  'disable-admission-plugins',
];

/** Stores of our own encoding can begin with what the build's server has stored, where it would be the same. */
const isSeedFit = ({ storageBackend, given }: CompletedOptions): boolean => storageBackend !== 'etcd3' && !SHAPING_FLAGS.some((flag) => given.has(flag));

/** Most servers trace nothing, and need not load what it takes. */
async function openTracingIfAsked(
  { tracingConfigFile, featureGates }: CompletedOptions,
  logger: Logger,
  egress: Egress | undefined,
): Promise<OpenTracing | undefined> {
  if (tracingConfigFile === '') return undefined;
  const { openTracing } = await import('./tracing.ts');
  return openTracing(tracingConfigFile, { logger, serverId: serverId(featureGates), dial: egress?.controlplane });
}

function tokenIssuer(options: CompletedOptions, keys: ServiceAccountKeySource): TokenIssuerOptions | undefined {
  if (options.serviceAccountSigningKeyFile === '') return undefined;
  return {
    issuer: options.serviceAccountIssuer[0]!,
    signingKey: async () => (await keys()).signing!,
    apiAudiences: options.apiAudiences,
    maxLifetimeSeconds: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000),
    extendsPodTokens: options.serviceAccountExtendTokenExpiration,
  };
}
