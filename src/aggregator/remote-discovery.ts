import { WorkQueue } from '../controllers/work-queue.ts';
import type { QueueMetricsOf } from '../controllers/work-queue-metrics.ts';
import { parseLongJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { entryInList, entryOfLegacyList } from './discovery-entry.ts';
import type { Fetched } from '../serving/proxy/fetch.ts';
import { AGGREGATOR_USER } from './reach.ts';
import type { RemoteApi } from './remote-api.ts';
import type { RemoteRegistry } from './remote-registry.ts';
import { LIMITS } from '../util/limits.ts';

export interface RemoteDiscoveryOptions {
  signal: AbortSignal;
  report(error: Error): void;
  /** Absent where nothing is counted. */
  queueMetrics?: QueueMetricsOf;
  /** No server answers at that path. */
  onUnreachable?(path: string): void;
  /** What `entry` answers has become another. */
  onChange(): void;
}

const REFRESH_MS = 60_000;
const FIRST_RETRY_MS = 500;
const TIMEOUT_MS = 5_000;
const START_MS = 1_000;
const LIST_TYPE = 'as=APIGroupDiscoveryList';
const ACCEPT = ['v2', 'v2beta1'].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};${LIST_TYPE}`).join(',');

interface Kept {
  etag: string;
  list: Json;
}

/**
 * Knows what every other server says of its resources, and whether that is what it says now (kube-aggregator/pkg/apiserver/handler_discovery.go): asked on
 * every change of its APIService, and every minute.
 */
export class RemoteDiscovery {
  readonly #registry: RemoteRegistry;
  readonly #options: RemoteDiscoveryOptions;
  readonly #entries = new Map<string, JsonObject>();
  /** By APIService: where the server tags its list, an unchanged one is not sent again. */
  readonly #kept = new Map<string, Kept>();
  readonly #failures = new Map<string, number>();
  readonly #queue: WorkQueue;

  constructor(registry: RemoteRegistry, options: RemoteDiscoveryOptions) {
    this.#registry = registry;
    this.#options = options;
    this.#queue = new WorkQueue((name) => this.#sync(name), { ...options, name: 'DiscoveryController', workers: 2 });
  }

  /** Resolves when every server has answered once, or has had its time to. */
  async start(): Promise<void> {
    this.#registry.onChange((name) => this.#queue.add(name));
    for (const { name } of this.#registry.all()) this.#queue.add(name);
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => (timer = setTimeout(resolve, START_MS)));
    await Promise.race([this.#queue.idle(), timeUp]);
    clearTimeout(timer);
  }

  /** As it goes into the merged document. */
  entry({ name, version }: RemoteApi): JsonObject {
    return this.#entries.get(name) ?? stale(version);
  }

  async #sync(name: string): Promise<number | void> {
    const api = this.#registry.get(name);
    if (!api) {
      this.#kept.delete(name);
      this.#failures.delete(name);
      if (this.#entries.delete(name)) this.#options.onChange();
      return;
    }
    try {
      this.#set(name, { ...(await this.#fetch(api)), freshness: 'Current' });
      this.#failures.delete(name);
      return REFRESH_MS;
    } catch {
      // Why is told by the availability of the APIService.
      this.#set(name, stale(api.version));
      const failures = this.#failures.get(name) ?? 0;
      this.#failures.set(name, failures + 1);
      return Math.min(FIRST_RETRY_MS * 2 ** failures, REFRESH_MS);
    }
  }

  #set(name: string, entry: JsonObject): void {
    const isNew = JSON.stringify(this.#entries.get(name)) !== JSON.stringify(entry);
    this.#entries.set(name, entry);
    if (isNew) this.#options.onChange();
  }

  async #fetch(api: RemoteApi): Promise<JsonObject> {
    const { name, group, version } = api;
    const kept = this.#kept.get(name);
    const headers = { accept: ACCEPT, ...(kept && { 'if-none-match': kept.etag }) };
    const { status, headers: answered, body } = await this.#fetchList(api, headers);
    if (status === 304 && kept) return entryInList(kept.list, group, version) ?? { version };
    this.#kept.delete(name);
    if (status === 503) throw new Error(`service ${name} returned non-success response code: ${status}`);
    if (status !== 200 || !String(answered['content-type']).includes(LIST_TYPE)) return this.#fetchLegacy(api);
    const list = await parseLongJson(body);
    const etag = answered['etag'];
    if (typeof etag === 'string' && etag !== '') this.#kept.set(name, { etag, list });
    return entryInList(list, group, version) ?? { version };
  }

  async #fetchList(api: RemoteApi, headers: Record<string, string>): Promise<Fetched> {
    try {
      return await api.fetch('/apis', { user: AGGREGATOR_USER, headers, timeoutMs: TIMEOUT_MS, limitBytes: LIMITS.remoteDiscoveryBytes });
    } catch (error) {
      this.#options.onUnreachable?.('/apis');
      throw error;
    }
  }

  /** For servers that know nothing of merged discovery. */
  async #fetchLegacy(api: RemoteApi): Promise<JsonObject> {
    const path = api.group === '' ? `/api/${api.version}` : `/apis/${api.group}/${api.version}`;
    const headers = { accept: 'application/json' };
    const { status, body } = await api.fetch(path, { user: AGGREGATOR_USER, headers, timeoutMs: TIMEOUT_MS, limitBytes: LIMITS.remoteDiscoveryBytes });
    if (status !== 200) throw new Error(`failed to download legacy discovery for ${path}: ${status}`);
    return entryOfLegacyList(await parseLongJson(body), api.version);
  }
}

const stale = (version: string): JsonObject => ({ version, freshness: 'Stale' });
