import type { HistogramSeries, NumberSeries } from '../metrics/family.ts';
import type { MetricRegistry } from '../metrics/registry.ts';

/** What is told of one work queue, by upstream's names (component-base/metrics/prometheus/workqueue). */
export class QueueMetrics {
  readonly #adds: NumberSeries;
  readonly #retries: NumberSeries;
  readonly #waited: HistogramSeries;
  readonly #worked: HistogramSeries;
  /** When each key that waits was added, and when the work on each other began. */
  readonly #addedAtMs = new Map<string, number>();
  readonly #startedAtMs = new Map<string, number>();

  constructor(registry: MetricRegistry, name: string) {
    this.#adds = registry.family('workqueue_adds_total').with(name);
    this.#retries = registry.family('workqueue_retries_total').with(name);
    this.#waited = registry.family('workqueue_queue_duration_seconds').with(name);
    this.#worked = registry.family('workqueue_work_duration_seconds').with(name);
    const depth = registry.family('workqueue_depth').with(name);
    const unfinished = registry.family('workqueue_unfinished_work_seconds').with(name);
    const longest = registry.family('workqueue_longest_running_processor_seconds').with(name);
    registry.onCollect(() => {
      const nowMs = performance.now();
      const seconds = [...this.#startedAtMs.values()].map((startMs) => (nowMs - startMs) / 1000);
      depth.set(this.#addedAtMs.size);
      unfinished.set(seconds.reduce((sum, one) => sum + one, 0));
      longest.set(Math.max(0, ...seconds));
    });
  }

  /** Not of a key that waits already. */
  added(key: string): void {
    this.#adds.inc();
    this.#addedAtMs.set(key, performance.now());
  }

  started(key: string): void {
    const nowMs = performance.now();
    this.#waited.observe((nowMs - (this.#addedAtMs.get(key) ?? nowMs)) / 1000);
    this.#addedAtMs.delete(key);
    this.#startedAtMs.set(key, nowMs);
  }

  done(key: string): void {
    this.#worked.observe((performance.now() - (this.#startedAtMs.get(key) ?? performance.now())) / 1000);
    this.#startedAtMs.delete(key);
  }

  retried(): void {
    this.#retries.inc();
  }

  cleared(): void {
    this.#addedAtMs.clear();
  }
}

/** Makes the metrics of a queue of that name. */
export type QueueMetricsOf = (name: string) => QueueMetrics;

export const queueMetricsOf =
  (registry: MetricRegistry): QueueMetricsOf =>
  (name) =>
    new QueueMetrics(registry, name);
