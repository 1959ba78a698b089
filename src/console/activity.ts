import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { ServerRequest } from '../endpoints/request.ts';
import type { Family, Series } from '../metrics/family.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import { MAX_NAME_CHARACTERS, cutText } from './cut-text.ts';
import type { RequestRecorder } from './request-recorder.ts';

export interface PriorityLevelActivity {
  name: string;
  seats: number;
  limit: number;
  queued: number;
  executing: number;
  rejected: number;
}

/** What the server knows of itself anyway. */
export interface ActivitySources {
  registry: MetricRegistry;
  backend: string;
  /** Of the store's file; undefined where it has none, or another server has it. */
  storeSizeBytes(): number | undefined;
  objects(): Iterable<{ group: string; resource: string; count: number; averageBytes: number }>;
  inFlight(): { readOnly: number; mutating: number };
  watches(): readonly IncomingRequest[];
  priorityLevels(): readonly PriorityLevelActivity[];
  /** Since somebody signed in. */
  recorded: Pick<RequestRecorder, 'clients' | 'byCode'>;
}

const MAX_ROWS = 200;
/** Delays are told of the last so long. */
const LOOP_WINDOW_MS = 10_000;
const LOOP_RESOLUTION_MS = 10;
/** Nobody has asked for so long: nobody looks on any more. */
const LOOP_IDLE_MS = 30_000;
const NS_PER_MS = 1e6;

/** `/console/activity`: what the server is doing. The page asks each second; nothing is measured for it while nobody asks. */
export class Activity {
  readonly #sources: ActivitySources;
  readonly #loop = new LoopDelays();

  constructor(sources: ActivitySources) {
    this.#sources = sources;
  }

  serve({ exchange }: ServerRequest): void {
    exchange.respond(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }, JSON.stringify(this.#read()));
  }

  close(): void {
    this.#loop.stop();
  }

  #read(): object {
    const { registry, inFlight, priorityLevels, recorded } = this.#sources;
    const { readOnly, mutating } = inFlight();
    const byCode = recorded.byCode();
    return {
      time: new Date().toISOString(),
      uptimeSeconds: Math.floor(performance.now() / 1000),
      process: processActivity(),
      eventLoop: this.#loop.read(),
      store: this.#store(),
      requests: {
        inFlightReadOnly: readOnly,
        inFlightMutating: mutating,
        total: [...byCode.values()].reduce((sum, count) => sum + count, 0),
        byCode: Object.fromEntries(byCode),
      },
      watches: countWatches(this.#sources.watches()),
      clients: this.#clients(),
      priorityLevels: priorityLevels(),
      webhooks: webhookActivity(registry),
      policies: policyActivity(registry),
    };
  }

  #store(): object {
    const { backend, storeSizeBytes, objects } = this.#sources;
    const all = [...objects()];
    const sizeBytes = storeSizeBytes() ?? Math.round(all.reduce((sum, { count, averageBytes }) => sum + count * averageBytes, 0));
    return { backend, sizeBytes, objects: all.filter(({ count }) => count > 0).map(({ resource, group, count }) => ({ resource, group, count })) };
  }

  /** Those who ask the most first. */
  #clients(): object[] {
    return this.#sources.recorded
      .clients()
      .toSorted((a, b) => b.requests - a.requests)
      .slice(0, MAX_ROWS)
      .map(({ lastSeenMs, ...client }) => ({ ...client, lastSeen: new Date(lastSeenMs).toISOString() }));
  }
}

function processActivity(): object {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    rssBytes: rss,
    heapUsedBytes: heapUsed,
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    externalBytes: external,
    cpuSeconds: (user + system) / 1e6,
  };
}

/** How late timers of the event loop come, from the first question on, until nobody asks any more. */
class LoopDelays {
  #histogram: IntervalHistogram | undefined;
  #idle: NodeJS.Timeout | undefined;
  #startMs = 0;
  #last = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

  read(): object {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.stop(), LOOP_IDLE_MS).unref();
    if (!this.#histogram) {
      this.#histogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
      this.#histogram.enable();
      this.#startMs = performance.now();
      return this.#last;
    }
    if (this.#histogram.count > 0) this.#last = delaysIn(this.#histogram);
    if (performance.now() - this.#startMs > LOOP_WINDOW_MS) {
      this.#histogram.reset();
      this.#startMs = performance.now();
    }
    return this.#last;
  }

  stop(): void {
    clearTimeout(this.#idle);
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}

/** The histogram has the time from one timer to the next: what is beyond the time that it was set for is the delay. */
function delaysIn(histogram: IntervalHistogram): { p50Ms: number; p99Ms: number; maxMs: number } {
  const delayMs = (ns: number): number => Math.round(Math.max(0, ns / NS_PER_MS - LOOP_RESOLUTION_MS) * 1000) / 1000;
  return { p50Ms: delayMs(histogram.percentile(50)), p99Ms: delayMs(histogram.percentile(99)), maxMs: delayMs(histogram.max) };
}

interface WatchRow {
  user: string;
  userAgent: string;
  group: string;
  resource: string;
  count: number;
}

function countWatches(watches: readonly IncomingRequest[]): WatchRow[] {
  const rows = new Map<string, WatchRow>();
  for (const { user, userAgent, info } of watches) {
    const [name, agent] = [cutText(user.name, MAX_NAME_CHARACTERS), cutText(userAgent, MAX_NAME_CHARACTERS)];
    const key = `${name}\n${agent}\n${info.apiGroup}/${info.resource}`;
    const row = rows.get(key);
    if (row) row.count++;
    else rows.set(key, { user: name, userAgent: agent, group: info.apiGroup, resource: info.resource, count: 1 });
  }
  return [...rows.values()].sort((a, b) => b.count - a.count).slice(0, MAX_ROWS);
}

type Labels = readonly string[];

function* seriesOf<S extends Series>(family: Family<S, Labels>): Generator<{ label: (name: string) => string; series: S }> {
  const { labels } = family.declaration;
  for (const page of family.pages()) {
    for (const { values, series } of page.shown()) yield { label: (name) => values[labels.indexOf(name)] ?? '', series: series as S };
  }
}

interface WebhookRow {
  name: string;
  type: string;
  answered: number;
  refused: number;
  failed: number;
  p50Ms: number;
}

/** What webhooks said, and how often they could not be asked, by the metrics of admission. */
function webhookActivity(registry: MetricRegistry): WebhookRow[] {
  const rows = new Map<string, WebhookRow>();
  const durations = new Map<string, Map<number, number>>();
  const rowOf = (label: (name: string) => string): WebhookRow => {
    const [name, type] = [label('name'), label('type') === 'admit' ? 'mutating' : 'validating'];
    const row = rows.get(`${type}/${name}`) ?? { name, type, answered: 0, refused: 0, failed: 0, p50Ms: 0 };
    rows.set(`${type}/${name}`, row);
    return row;
  };
  for (const { label, series } of seriesOf(registry.family('apiserver_admission_webhook_request_total'))) rowOf(label).answered += series.value;
  for (const { label, series } of seriesOf(registry.family('apiserver_admission_webhook_fail_open_count'))) rowOf(label).failed += series.value;
  for (const { label, series } of seriesOf(registry.family('apiserver_admission_webhook_rejection_count'))) {
    if (label('error_type') === 'no_error') rowOf(label).refused += series.value;
    else rowOf(label).failed += series.value;
  }
  for (const { label, series } of seriesOf(registry.family('apiserver_admission_webhook_admission_duration_seconds'))) {
    const { type, name } = rowOf(label);
    const sums = durations.get(`${type}/${name}`) ?? new Map<number, number>();
    for (const { le, value } of series.samples()) if (le !== undefined) sums.set(le, (sums.get(le) ?? 0) + value);
    durations.set(`${type}/${name}`, sums);
  }
  for (const [key, sums] of durations) rows.get(key)!.p50Ms = medianMs([...sums]);
  for (const row of rows.values()) row.answered = Math.max(0, row.answered - row.failed);
  return [...rows.values()].slice(0, MAX_ROWS);
}

/** Of a histogram's buckets, which count what is below each bound: within its bucket, the median is taken to lie evenly. */
function medianMs(buckets: readonly (readonly [bound: number, below: number])[]): number {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return 0;
  let [lower, before] = [0, 0];
  for (const [bound, below] of buckets) {
    if (below * 2 >= total) return Math.round((bound === Infinity ? lower : lower + ((bound - lower) * (total / 2 - before)) / (below - before)) * 1e6) / 1000;
    [lower, before] = [bound, below];
  }
  return lower * 1000;
}

interface PolicyRow {
  name: string;
  type: string;
  evaluated: number;
  refused: number;
  failed: number;
}

/** Of policies that validate, upstream's metrics count what was not kept alone. */
function policyActivity(registry: MetricRegistry): PolicyRow[] {
  const rows = new Map<string, PolicyRow>();
  const rowOf = (name: string, type: string): PolicyRow => {
    const row = rows.get(`${type}/${name}`) ?? { name, type, evaluated: 0, refused: 0, failed: 0 };
    rows.set(`${type}/${name}`, row);
    return row;
  };
  for (const { label, series } of seriesOf(registry.family('apiserver_validating_admission_policy_check_total'))) {
    const row = rowOf(label('policy'), 'validating');
    row.evaluated += series.value;
    if (label('enforcement_action') === 'deny') row.refused += series.value;
    if (label('enforcement_action') === 'allow') row.failed += series.value;
  }
  for (const { label, series } of seriesOf(registry.family('apiserver_mutating_admission_policy_check_total'))) {
    const row = rowOf(label('policy'), 'mutating');
    row.evaluated += series.value;
    if (label('error_type') !== 'no_error') row.failed += series.value;
  }
  return [...rows.values()].slice(0, MAX_ROWS);
}
