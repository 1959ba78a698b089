import type { Family, HistogramSeries, NumberSeries } from '../metrics/family.ts';
import type { MetricRegistry } from '../metrics/registry.ts';

export type StorageOperation = 'get' | 'list' | 'create' | 'update' | 'delete';

/** What a watch cache shows of itself when it is asked. */
export interface CacheState {
  readonly revision: number;
  readonly isSynced: boolean;
  /** Events that its history has room for. */
  readonly historyCapacity: number;
}

type Counter = Family<NumberSeries, readonly ['group', 'resource']>;

/** What the stores of one server count, by upstream's names (apiserver/pkg/storage/etcd3/metrics, …/storage/cacher/metrics). */
export class StorageMetrics {
  readonly families;
  /** Whether the requests to the store are counted here. Those to an etcd are counted by its client. */
  readonly countsRequests: boolean;
  readonly #caches = new Map<CacheState, readonly [group: string, resource: string]>();

  constructor(registry: MetricRegistry, countsRequests: boolean) {
    this.families = storageFamilies(registry);
    this.countsRequests = countsRequests;
    registry.onCollect(() => this.#collect());
  }

  of(group: string, resource: string): ResourceStorageMetrics {
    return new ResourceStorageMetrics(this, group, resource);
  }

  show(cache: CacheState, group: string, resource: string): void {
    this.#caches.set(cache, [group, resource]);
  }
  hide(cache: CacheState): void {
    this.#caches.delete(cache);
  }

  #collect(): void {
    const { revision, capacity } = this.families;
    revision.clear();
    capacity.clear();
    for (const [cache, labels] of this.#caches) {
      if (cache.isSynced) revision.with(...labels).set(cache.revision);
      capacity.with(...labels).set(cache.historyCapacity);
    }
  }
}

function storageFamilies(registry: MetricRegistry) {
  return {
    storeEvents: registry.family('apiserver_storage_events_received_total'),
    cacheEvents: registry.family('apiserver_watch_cache_events_received_total'),
    dispatched: registry.family('apiserver_watch_cache_events_dispatched_total'),
    initializations: registry.family('apiserver_watch_cache_initializations_total'),
    initialEvents: registry.family('apiserver_init_events_total'),
    revision: registry.family('apiserver_watch_cache_resource_version'),
    capacity: registry.family('watch_cache_capacity'),
    capacityIncreases: registry.family('watch_cache_capacity_increase_total'),
    capacityDecreases: registry.family('watch_cache_capacity_decrease_total'),
    readWait: registry.family('apiserver_watch_cache_read_wait_seconds'),
    consistentReads: registry.family('apiserver_watch_cache_consistent_read_total'),
    lists: registry.family('apiserver_storage_list_total'),
    listFetched: registry.family('apiserver_storage_list_fetched_objects_total'),
    listEvaluated: registry.family('apiserver_storage_list_evaluated_objects_total'),
    listReturned: registry.family('apiserver_storage_list_returned_objects_total'),
    cacheLists: registry.family('apiserver_cache_list_total'),
    cacheListFetched: registry.family('apiserver_cache_list_fetched_objects_total'),
    cacheListReturned: registry.family('apiserver_cache_list_returned_objects_total'),
    shardedWatches: registry.family('apiserver_watch_shards_total'),
    shardFiltered: registry.family('apiserver_watch_filtered_events_total'),
    consistencyChecks: registry.family('apiserver_storage_consistency_checks_total'),
    decodeErrors: registry.family('apiserver_storage_decode_errors_total'),
    timesCompared: registry.family('apiserver_request_timestamp_comparison_time'),
    requests: registry.family('etcd_requests_total'),
    requestSeconds: registry.family('etcd_request_duration_seconds'),
    requestErrors: registry.family('etcd_request_errors_total'),
  };
}

/** The same of one resource. Series begin when there is something to count: there may be a thousand custom resources that nobody uses. */
export class ResourceStorageMetrics {
  readonly #metrics: StorageMetrics;
  readonly #labels: readonly [group: string, resource: string];
  readonly #kept = new Map<Counter, NumberSeries>();
  readonly #requests = new Map<StorageOperation, { total: NumberSeries; seconds: HistogramSeries }>();
  #readWait: HistogramSeries | undefined;
  #consistentReads: NumberSeries | undefined;

  constructor(metrics: StorageMetrics, group: string, resource: string) {
    this.#metrics = metrics;
    this.#labels = [group, resource];
  }

  show(cache: CacheState): void {
    this.#metrics.show(cache, ...this.#labels);
  }
  hide(cache: CacheState): void {
    this.#metrics.hide(cache);
  }

  /** An event came from the store. */
  received(): void {
    const { storeEvents, cacheEvents } = this.#metrics.families;
    this.#add(storeEvents, 1);
    this.#add(cacheEvents, 1);
  }
  dispatched(events: number): void {
    this.#add(this.#metrics.families.dispatched, events);
  }
  /** Events with which a watch begins. */
  initialEvents(events: number): void {
    if (events > 0) this.#add(this.#metrics.families.initialEvents, events);
  }
  /** The cache has read all that there is. */
  initialized(objects: number, durationMs: number): void {
    this.#add(this.#metrics.families.initializations, 1);
    this.listedStore(objects, objects);
    this.requested('list', durationMs, true);
  }
  capacityChanged(isIncrease: boolean): void {
    const { capacityIncreases, capacityDecreases } = this.#metrics.families;
    this.#add(isIncrease ? capacityIncreases : capacityDecreases, 1);
  }

  /** Watches of shards began (1), or ended (-1). */
  shardedWatches(change: 1 | -1): void {
    this.#add(this.#metrics.families.shardedWatches, change);
  }
  /** An object was not in the shard of a watch. */
  shardFiltered(): void {
    this.#add(this.#metrics.families.shardFiltered, 1);
  }

  /** The cache was compared with the store. */
  consistencyChecked(status: 'success' | 'failure' | 'error'): void {
    this.#metrics.families.consistencyChecks.with(...this.#labels, status).inc();
  }

  /** A stored object could not be decoded. */
  decodeFailed(): void {
    this.#add(this.#metrics.families.decodeErrors, 1);
  }

  /** A list was answered from the store itself. */
  listedStore(fetched: number, returned: number): void {
    const { lists, listFetched, listEvaluated, listReturned } = this.#metrics.families;
    this.#add(lists, 1);
    this.#add(listFetched, fetched);
    this.#add(listEvaluated, fetched);
    this.#add(listReturned, returned);
  }
  /** A list was answered from the cache. */
  listedCache(fetched: number, returned: number): void {
    const { cacheLists, cacheListFetched, cacheListReturned } = this.#metrics.families;
    const [group, resource] = this.#labels;
    cacheLists.with(group, resource, '').inc();
    cacheListFetched.with(group, resource, '').inc(fetched);
    this.#add(cacheListReturned, returned);
  }
  /** A read waited until the cache was as new as it has to be. */
  waited(durationMs: number): void {
    this.#readWait ??= this.#metrics.families.readWait.with(...this.#labels);
    this.#readWait.observe(durationMs / 1000);
  }
  /** Where there was something to wait for, it was not in vain: reads that fail do not come here. */
  readConsistently(): void {
    this.#consistentReads ??= this.#metrics.families.consistentReads.with(...this.#labels, 'true', 'false');
    this.#consistentReads.inc();
  }

  requested(operation: StorageOperation, durationMs: number, isSuccess: boolean): void {
    if (!this.#metrics.countsRequests) return;
    let series = this.#requests.get(operation);
    if (series === undefined) {
      const { requests, requestSeconds } = this.#metrics.families;
      series = { total: requests.with(operation, ...this.#labels), seconds: requestSeconds.with(operation, ...this.#labels) };
      this.#requests.set(operation, series);
    }
    series.total.inc();
    series.seconds.observe(durationMs / 1000);
    if (!isSuccess) this.#metrics.families.requestErrors.with(operation, ...this.#labels).inc();
  }

  /** An update was compared with what was stored (apiserver/pkg/endpoints/handlers/fieldmanager/equality.go). */
  timesCompared(outcome: string, durationMs: number): void {
    this.#metrics.families.timesCompared.with(outcome).observe(durationMs / 1000);
  }

  #add(family: Counter, count: number): void {
    let series = this.#kept.get(family);
    if (series === undefined) this.#kept.set(family, (series = family.with(...this.#labels)));
    series.inc(count);
  }
}
