import type { GenericServer } from '../server/generic-server.ts';
import { InProcessClient } from '../server/in-process-client.ts';
import { ClientMetrics } from '../server/metrics/client-metrics.ts';
import { MetricRegistry } from '../metrics/registry.ts';
import type { Closers } from './closers.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { type Egress, openEgress } from './egress.ts';
import type { Logger } from './logger.ts';
import { openMetricSelection } from '../options/metric-selection.ts';
import type { WorkerLink } from '../workers/worker-link.ts';
import type { Clock } from '../util/clock.ts';
import { type HistoryKeeping, historyKeeping } from './history-keys.ts';
import { Provided } from './provided.ts';
import type { Replay } from './replay/replay.ts';
import type { ServerImage } from './server-image.ts';
import { type ServingFiles, openServingFiles } from './serving-files.ts';
import { type OpenStorage, openStorage } from './storage.ts';

/** What all later phases use. */
export interface Foundation {
  options: CompletedOptions;
  /** Where this process is one of several (`--workers`). */
  worker: WorkerLink | undefined;
  /** What the store begins with, where that is another server's state. */
  image: ServerImage | undefined;
  /** What is served in place of a store. */
  replay: Replay | undefined;
  logger: Logger;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
  clock: Clock;
  /** The clock's time. */
  now(): Date;
  /** Logs failures of controllers, which try again. */
  report(error: Error): void;
  /** Aborts when the server is to stop. */
  stop: AbortSignal;
  closers: Closers;
  registry: MetricRegistry;
  /** --egress-selector-config-file */
  egress: Egress | undefined;
  files: ServingFiles;
  /** Which changes become history; undefined where none is kept. */
  keeping: HistoryKeeping | undefined;
  /** The engines that the options name, values in them as they are stored. */
  storage: OpenStorage;
  /** The stores join it as they are opened. */
  client: InProcessClient;
  /** From the head of the chain: aggregator, kube, extensions. Provided once they are created; admission, which they need, asks what they serve. */
  servers: Provided<readonly GenericServer[]>;
  /** Provided by the listener: --secure-port may be 0, for any free one. */
  securePort: Provided<number>;
}

/** Opens files and engines that the options name. Throws a CommandError or a StorageUnavailable, with what is open by then in `closers`. */
export async function openFoundation({
  options,
  logger,
  stop,
  closers,
  worker,
  image,
  replay,
  clock,
}: Pick<Foundation, 'options' | 'logger' | 'stop' | 'closers' | 'worker' | 'image' | 'replay' | 'clock'>): Promise<Foundation> {
  const registry = new MetricRegistry(await openMetricSelection(options), undefined, options.featureGates.isEnabled('NativeHistograms'));
  const egress = await openEgress(options.egressSelectorConfigFile, registry);
  const files = openServingFiles(options, logger);
  closers.add(() => files.close());
  const keeping = historyKeeping(options);
  const route = { dial: egress?.etcd, storeUrl: worker?.settings.storeUrl, image: image?.store, clock, keeping };
  const storage = replay?.storage ?? (await openStorage(options, logger, registry, route));
  closers.addStorage(() => storage.close());
  const securePort = new Provided<number>('port');
  return {
    options,
    worker,
    image,
    replay,
    logger,
    isEnabled: (gate) => options.featureGates.isEnabled(gate),
    clock,
    now: () => new Date(clock.now()),
    report: (error) => logger.warn('A controller failed and will try again', { error }),
    stop,
    closers,
    registry,
    egress,
    files,
    keeping,
    storage,
    client: new InProcessClient(
      new ClientMetrics(registry, () => `127.0.0.1:${securePort.isProvided ? securePort.value : options.securePort}`),
      () => new Date(clock.now()),
    ),
    servers: new Provided('chain of servers'),
    securePort,
  };
}
