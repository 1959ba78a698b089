import type { HistogramSeries, NumberSeries } from '../metrics/family.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { RequestInfo } from './request.ts';

/** What is counted of the watches of one resource. */
export interface WatchMetrics {
  readonly events: NumberSeries;
  readonly sizes: HistogramSeries;
  /** A watch that began with the objects there were has sent them all. */
  listed(scope: string, durationMs: number): void;
  /** A client did not keep up. */
  terminated(): void;
}

/** What handlers of resources count, by upstream's names (apiserver/pkg/endpoints/metrics, …/storage/cacher/metrics). */
export class EndpointMetrics {
  readonly #deprecated;
  readonly #events;
  readonly #sizes;
  readonly #listed;
  readonly #terminated;
  readonly #watches = new Map<string, WatchMetrics>();

  constructor(registry: MetricRegistry) {
    this.#deprecated = registry.family('apiserver_requested_deprecated_apis');
    this.#events = registry.family('apiserver_watch_events_total');
    this.#sizes = registry.family('apiserver_watch_events_sizes');
    this.#listed = registry.family('apiserver_watch_list_duration_seconds');
    this.#terminated = registry.family('apiserver_terminated_watchers_total');
  }

  deprecatedRequest({ apiGroup, apiVersion, resource, subresource }: RequestInfo, removedRelease: string): void {
    this.#deprecated.with(apiGroup, apiVersion, resource, subresource, removedRelease).set(1);
  }

  watchesOf({ apiGroup, apiVersion, resource }: RequestInfo): WatchMetrics {
    const key = `${apiGroup}/${apiVersion}/${resource}`;
    let metrics = this.#watches.get(key);
    if (metrics === undefined) this.#watches.set(key, (metrics = this.#createWatchMetrics(apiGroup, apiVersion, resource)));
    return metrics;
  }

  #createWatchMetrics(group: string, version: string, resource: string): WatchMetrics {
    return {
      events: this.#events.with(group, version, resource),
      sizes: this.#sizes.with(group, version, resource),
      listed: (scope, durationMs) => this.#listed.with(group, version, resource, scope).observe(durationMs / 1000),
      terminated: () => this.#terminated.with(group, resource).inc(),
    };
  }
}
