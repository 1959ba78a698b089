import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ChangeKeeping, type Engine, StorageMisconfigured, StorageUnavailable } from '../storage/engine.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { ChangeLogLimits } from '../storage/engines/change-log.ts';
import type { EtcdEngine, EtcdEngineOptions } from '../storage/engines/etcd/engine.ts';
import type { MemoryImage } from '../storage/engines/memory.ts';
import type { LocalEngine } from '../storage/engines/local-engine.ts';
import type { GrpcTls } from '../grpc/channel.ts';
import { openEngine } from '../storage/open.ts';
import type { Clock } from '../util/clock.ts';
import type { Dial } from '../net/dial.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Logger } from './logger.ts';

/** What the options say of where objects are kept, and how. */
export type StorageSettings = Pick<
  CompletedOptions,
  | Extract<keyof CompletedOptions, `etcd${string}` | `encryption${string}`>
  | 'featureGates'
  | 'storageBackend'
  | 'storeDir'
  | 'storageMediaType'
  | 'leaseReuseDurationSeconds'
>;

/** The stores that the options name, open. */
export interface OpenStorage {
  /** Where everything is kept that has no store of its own. */
  readonly engine: Engine;
  /** Stores of single resources, by `group/resource` (--etcd-servers-overrides); several may share one. */
  readonly overrides: ReadonlyMap<string, Engine>;
  close(): Promise<void>;
}

type EtcdSettings = Omit<EtcdEngineOptions, 'endpoints'>;

export interface StorageRoute {
  /** Which changes the embedded store keeps until the history has them. */
  keeping?: ChangeKeeping | undefined;
  /** The way to etcd. */
  dial?: Dial | undefined;
  /** Where the embedded or memory store is served that the options name: another process has it. */
  storeUrl?: string | undefined;
  /** What the memory store begins with. */
  image?: MemoryImage | undefined;
  /** By which the embedded or memory store tells the time. */
  clock?: Clock;
}

/** Throws StorageUnavailable, with one line for the operator. */
export async function openStorage(
  options: StorageSettings,
  logger: Logger,
  registry: MetricRegistry,
  { dial, storeUrl, image, clock, keeping }: StorageRoute = {},
): Promise<OpenStorage> {
  const opened: Engine[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((engine) => engine.close()));
  };
  const open = async (engine: Promise<Engine>): Promise<Engine> => {
    opened.push(await engine);
    return engine;
  };
  // It is compacted where it is kept.
  if (storeUrl !== undefined) {
    const { leaseReuseDurationSeconds: leaseReuseSeconds, etcdPrefix: prefix } = options;
    return { engine: await open(reachEtcd({ prefix, leaseReuseSeconds, endpoints: [storeUrl], hasHealthService: true }, logger)), overrides: new Map(), close };
  }
  const own = await openOwnStore(options, { image, keeping, ...(clock && { clock }) });
  if (own) {
    opened.push(own);
    if (options.storageBackend === 'embedded') registerStoreFile(registry, own);
    return { engine: own, overrides: new Map(), close };
  }
  const { registerEtcdMetrics, pollSizes } = await import('./etcd-metrics.ts');
  const settings: EtcdSettings = { ...etcdSettings(options), dial, observer: registerEtcdMetrics(registry, `${options.etcdPrefix}/`) };
  try {
    const engine = await open(reachEtcd({ ...settings, endpoints: options.etcdServers }, logger));
    const overrides = await openOverrides(options, (endpoints) => open(reachEtcd({ ...settings, endpoints }, logger)));
    const pollMs = options.etcdDbMetricPollIntervalMs;
    const stopPolling = pollMs > 0 ? pollSizes(registry, opened as EtcdEngine[], pollMs) : undefined;
    return {
      engine,
      overrides,
      close() {
        stopPolling?.();
        return close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface OwnStoreSettings {
  /** How much of the past it holds, where others than this process read it. */
  history?: ChangeLogLimits;
  /** What it begins with, where it is in memory. */
  image?: MemoryImage | undefined;
  clock?: Clock;
  keeping?: ChangeKeeping | undefined;
}

/** The store that a server keeps itself; undefined where it is an etcd. */
export async function openOwnStore(
  { storageBackend, storeDir, etcdCompactionIntervalMs: compactionIntervalMs }: StorageSettings,
  { history, image, clock, keeping }: OwnStoreSettings = {},
): Promise<LocalEngine | undefined> {
  const settings = { compactionIntervalMs, ...(history && { history }), ...(clock && { clock }) };
  if (storageBackend === 'memory') return openEngine({ backend: 'memory', ...settings, image }) as Promise<LocalEngine>;
  if (storageBackend !== 'embedded') return undefined;
  makeDataDir(storeDir);
  return openEngine({ backend: 'embedded', dataDir: storeDir, ...settings, keeping }) as Promise<LocalEngine>;
}

/** --data-dir, with the folders above it, whatever else is or is not kept there. */
function makeDataDir(storeDir: string): void {
  const dataDir = dirname(storeDir);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StorageUnavailable(`cannot make the folder ${dataDir}: ${(error as Error).message}; choose another with --data-dir`);
  }
}

/** Upstream's name for the size of its store, and our own for what of the file is free: read when they are asked for. */
export function registerStoreFile(registry: MetricRegistry, engine: Pick<LocalEngine, 'statistics'>): void {
  const size = registry.family('apiserver_storage_size_bytes');
  const free = registry.family('binnacle_storage_free_bytes');
  const pages = registry.family('binnacle_storage_pages');
  const freePages = registry.family('binnacle_storage_free_pages');
  registry.onCollect(() => {
    const statistics = engine.statistics();
    if (statistics === undefined) return;
    size.with('embedded').set(statistics.sizeBytes);
    free.with().set(statistics.freeBytes);
    pages.with().set(statistics.pages);
    freePages.with().set(statistics.freePages);
  });
}

function etcdSettings(options: StorageSettings): EtcdSettings {
  return {
    tls: etcdTls(options),
    prefix: options.etcdPrefix,
    leaseReuseSeconds: options.leaseReuseDurationSeconds,
    compactionIntervalMs: options.etcdCompactionIntervalMs,
  };
}

function etcdTls({ etcdCafile, etcdCertfile, etcdKeyfile }: StorageSettings): GrpcTls | undefined {
  if (etcdCafile === '' && etcdCertfile === '' && etcdKeyfile === '') return undefined;
  return {
    ...(etcdCafile !== '' && { ca: readFileSync(etcdCafile) }),
    ...(etcdCertfile !== '' && { cert: readFileSync(etcdCertfile) }),
    ...(etcdKeyfile !== '' && { key: readFileSync(etcdKeyfile) }),
  };
}

/** As long as upstream's client dials (storagebackend/factory/etcd3.go). */
const REACH_MS = 20_000;
const RETRY_MS = 500;

async function reachEtcd(options: EtcdEngineOptions, logger: Logger): Promise<Engine> {
  const deadlineMs = performance.now() + REACH_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await openEngine({ backend: 'etcd3', ...options });
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || error instanceof StorageMisconfigured || performance.now() > deadlineMs) throw error;
      if (attempt === 1) logger.warn(`Waiting up to ${REACH_MS / 1000} s for etcd`, { error: error.message });
      await delay(RETRY_MS);
    }
  }
}

/** One engine for each set of servers, however many resources name it, in whatever order. */
async function openOverrides({ etcdServersOverrides }: StorageSettings, open: (endpoints: string[]) => Promise<Engine>): Promise<Map<string, Engine>> {
  const byServers = new Map<string, Engine>();
  const byResource = new Map<string, Engine>();
  for (const override of etcdServersOverrides) {
    const [resource, servers] = override.split('#') as [string, string];
    const endpoints = servers.split(';');
    const name = endpoints.toSorted().join(';');
    const engine = byServers.get(name) ?? (await open(endpoints));
    byServers.set(name, engine);
    byResource.set(resource, engine);
  }
  return byResource;
}
