import type { AdmissionController } from '../registry/admission.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { GenericStore } from '../registry/generic-store.ts';
import type { StoreParts } from '../registry/store-parts.ts';
import { codecOf, customCodec, unservedCodec } from '../registry/stored-codec.ts';
import { StoredObjects } from '../registry/stored-objects.ts';
import { type ReviewHandler, ReviewStore } from '../registry/review-store.ts';
import type { StorageConversion } from '../registry/storage-conversion.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { CacheEntry, ObjectCache } from '../storage/cache/cache.ts';
import type { CacheImage } from '../storage/cache/image.ts';
import { type StoredCodec, jsonCodec, withDecodeErrors } from '../storage/codec.ts';
import { withCorruptObjects } from '../storage/corrupt-object.ts';
import { type CacheFeed } from '../storage/cache/feed.ts';
import type { ResourceStorageMetrics, StorageMetrics } from '../storage/storage-metrics.ts';
import { ConsistencyChecker } from '../storage/cache/consistency.ts';
import { openCache } from '../storage/cache/object-cache.ts';
import type { UpstreamEncoding } from '../storage/encoding/upstream-codec.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { Clock, Timer } from '../util/clock.ts';
import type { InProcessClient } from './in-process-client.ts';

export interface StoresOptions {
  feed: CacheFeed;
  /** Of resources with a store of their own, by `group/resource`; those that share their objects with another go by that one. */
  feedOverrides?: ReadonlyMap<string, CacheFeed>;
  /** `/registry/` (--etcd-prefix) */
  keyPrefix: string;
  /** Where values are stored as upstream stores them; as our own JSON where absent. */
  encoding?: UpstreamEncoding;
  admission: AdmissionController;
  collectsGarbage: boolean;
  deleteWorkers: number;
  /** Where caches are to be compared with the store (DetectCacheInconsistency): told of those that differ. */
  reportInconsistency?: (message: string, details: Record<string, unknown>) => void;
  /** AllowUnsafeMalformedObjectDeletion */
  tellsCorrupt?: boolean;
  /** --history */
  annotatesWrites?: boolean;
  client: InProcessClient;
  now: () => Date;
  metrics: StorageMetrics;
}

/** Opens the stores of a chain: one cache a prefix (events have two stores on one), all fed by one watch of the engine, each known to the in-process client. */
export class Stores {
  readonly #options: StoresOptions;
  readonly #caches = new Map<string, { cache: ObjectCache; codec: StoredCodec; metrics: ResourceStorageMetrics }>();
  /** Of resources that may go again. */
  readonly #cachesApart = new Set<ObjectCache>();
  readonly #checkers = new Set<ConsistencyChecker>();
  #isClosed = false;
  /** By `deployments.apps`. */
  readonly #sizes = new Map<string, ResourceSize>();
  /** Of resources that may go again. */
  readonly #sizesApart = new Set<ResourceSize>();

  constructor(options: StoresOptions) {
    this.#options = options;
  }

  open(definition: ResourceDefinition): ResourceStore {
    const { client } = this.#options;
    const feed = this.#feedOf(definition);
    const keyPrefix = `${this.#options.keyPrefix}${definition.storage.prefix}/`;
    const known = this.#caches.get(keyPrefix);
    const metrics = known?.metrics ?? this.#options.metrics.of(definition.group, definition.plural);
    const codec = known?.codec ?? this.#readable(codecOf(definition, this.#options.encoding), metrics);
    const cache = known?.cache ?? openCache(feed, keyPrefix, { codec, metrics });
    if (!known) this.#compare(feed, cache, keyPrefix, metrics);
    const store = new GenericStore({ ...this.#shared(), definition, engine: feed.engine, cache, codec, keyPrefix, metrics });
    client.add(store);
    if (known) return store;
    this.#caches.set(keyPrefix, { cache, codec, metrics });
    this.#sizes.set(definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`, new ResourceSize(cache, keyPrefix, definition));
    return store;
  }

  /** The same for a resource that may go again, in each of its versions: its cache is its own until it is closed, which ends its watches, and the client is not told. */
  openApart(
    definition: ResourceDefinition,
    form: StoredCodec,
  ): { storeOf(definition: ResourceDefinition, conversion?: StorageConversion): ResourceStore; close(): void } {
    const feed = this.#feedOf(definition);
    const keyPrefix = `${this.#options.keyPrefix}${definition.storage.prefix}/`;
    const metrics = this.#options.metrics.of(definition.group, definition.plural);
    const codec = this.#readable(customCodec(form, this.#options.encoding), metrics);
    const cache = openCache(feed, keyPrefix, { codec, metrics });
    const checker = this.#compare(feed, cache, keyPrefix, metrics);
    this.#cachesApart.add(cache);
    const size = new ResourceSize(cache, keyPrefix, definition);
    this.#sizesApart.add(size);
    const shared = { ...this.#shared(), engine: feed.engine, cache, codec, keyPrefix, metrics };
    return {
      storeOf: (version, conversion) => new GenericStore({ ...shared, definition: version, ...(conversion && { conversion }) }),
      close: () => {
        this.#cachesApart.delete(cache);
        this.#sizesApart.delete(size);
        if (checker) this.#checkers.delete(checker);
        checker?.close();
        cache.close();
      },
    };
  }

  #compare({ engine, clock }: CacheFeed, cache: ObjectCache, prefix: string, metrics: ResourceStorageMetrics): ConsistencyChecker | undefined {
    const { reportInconsistency: report } = this.#options;
    if (!report) return undefined;
    const checker = new ConsistencyChecker({ engine, cache, prefix, clock, metrics, report });
    this.#checkers.add(checker);
    return checker;
  }

  #shared(): Pick<StoreParts, 'admission' | 'collectsGarbage' | 'deleteWorkers' | 'tellsCorrupt' | 'annotatesWrites' | 'now'> {
    const { admission, collectsGarbage, deleteWorkers, tellsCorrupt = false, annotatesWrites = false, now } = this.#options;
    return { admission, collectsGarbage, deleteWorkers, tellsCorrupt, annotatesWrites, now };
  }

  /** What clients would be sent of a value at this key. What no store of a built-in resource keeps is JSON. */
  clientBytes(key: string, value: Buffer, revision: number): Buffer {
    const prefix = [1, 2].map((slashes) => prefixOf(key, this.#options.keyPrefix, slashes)).find((each) => this.#caches.has(each));
    const codec = prefix === undefined ? jsonCodec : this.#caches.get(prefix)!.codec;
    return codec.toClientBytes(value, revision);
  }

  /** Values that can not be read are counted, and where that is asked for, told of by their keys. */
  #readable(codec: StoredCodec, metrics: ResourceStorageMetrics): StoredCodec {
    const counted = withDecodeErrors(codec, () => metrics.decodeFailed());
    return this.#options.tellsCorrupt ? withCorruptObjects(counted) : counted;
  }

  /** Objects that the servers of one store keep for each other, under `folder` below the prefix. `resource`: what they are called by --etcd-servers-overrides. */
  openUnserved<T extends ApiObject>(schema: ObjectSchema, folder: string, resource: string): StoredObjects<T> {
    const { engine } = this.#options.feedOverrides?.get(`/${resource}`) ?? this.#options.feed;
    return new StoredObjects(engine, unservedCodec(schema, this.#options.encoding), `${this.#options.keyPrefix}${folder}/`);
  }

  review<T extends ApiObject>(definition: ResourceDefinition, review: ReviewHandler<T>): ResourceStore {
    return new ReviewStore(definition, review as unknown as ReviewHandler, this.#options.admission, this.#options.now);
  }

  /** Resolves once the caches opened so far have what is stored; rejects when one could not be loaded. */
  async loaded(): Promise<void> {
    await Promise.all([...this.#caches.values()].map(({ cache }) => cache.ready));
  }

  /**
   * The same, but those that nothing in this process follows are waited for no longer than `timeoutMs` (--storage-initialization-timeout): requests for them
   * are refused until they are there. Settles with those that are not.
   */
  async initialized(timeoutMs: number, clock: Clock): Promise<string[]> {
    const { client } = this.#options;
    const sizes = [...this.#sizes.values()];
    const followed = (): Promise<unknown> => Promise.all(sizes.filter(({ group, resource }) => client.isFollowed(group, resource)).map(({ ready }) => ready));
    let timer: Timer | undefined;
    const timeout = new Promise<void>((resolve) => (timer = clock.after(timeoutMs, resolve)));
    await Promise.race([this.loaded(), timeout.then(followed)]);
    timer?.cancel();
    for (const size of sizes) {
      size.isLate = !size.isLoaded;
      if (size.isLate) void this.#loadLate(size, clock);
    }
    return [...this.#sizes].flatMap(([resource, { isLate }]) => (isLate ? [resource] : []));
  }

  /** Calls to the store have their deadlines, which a slow one may miss any number of times. */
  async #loadLate(size: ResourceSize, clock: Clock): Promise<void> {
    let loaded = size.ready;
    for (;;) {
      try {
        return await loaded;
      } catch {
        await new Promise<void>((resolve) => clock.after(LATE_RETRY_MS, resolve));
        if (this.#isClosed) return;
        loaded = size.retryLoad();
      }
    }
  }

  /** All changes up to here are in the caches. */
  get revision(): number {
    return this.#options.feed.revision;
  }

  /** Resolves when the caches have everything that was acknowledged by now, by whatever process. */
  catchUp(): Promise<void> | undefined {
    return this.#options.feed.catchUp();
  }

  /** Resolves when the caches have everything up to that revision of the store. */
  async waitFor(revision: number): Promise<void> {
    await this.#options.feed.waitFor(revision);
  }

  /** What the caches of built-in resources have now, by the prefix of their keys. What custom ones make of an object depends on their definition. */
  images(): Map<string, CacheImage> {
    return new Map(
      [...this.#caches].flatMap(([prefix, { cache }]) => {
        const image = cache.image();
        return image ? [[prefix, image] as const] : [];
      }),
    );
  }

  /** Ends every watch and every timer. */
  close(): void {
    this.#isClosed = true;
    for (const checker of this.#checkers) checker.close();
    for (const { cache } of this.#caches.values()) cache.close();
    for (const cache of this.#cachesApart) cache.close();
    const { feed, feedOverrides } = this.#options;
    for (const each of new Set([feed, ...(feedOverrides?.values() ?? [])])) each.close();
  }

  #feedOf({ group, storage, plural }: ResourceDefinition): CacheFeed {
    return this.#options.feedOverrides?.get(`${storage.group ?? group}/${plural}`) ?? this.#options.feed;
  }

  /** The resources (`deployments.apps`) whose caches are not what the store is, but for those that the start did not wait for. */
  unsynced(): string[] {
    return [...this.#sizes].flatMap(([resource, { isSynced, isLate, isLoaded }]) => (isSynced || (isLate && !isLoaded) ? [] : [resource]));
  }

  /** How many objects there are of each resource, and how large they are. */
  *sizes(): Iterable<{ readonly group: string; readonly resource: string; readonly count: number; readonly averageBytes: number }> {
    yield* this.#sizes.values();
    yield* this.#sizesApart;
  }

  /** What a list of a resource (`deployments.apps`) would cost; undefined for one that is not stored here. */
  statsOf(resource: string): { readonly count: number; readonly averageBytes: number } | undefined {
    return this.#sizes.get(resource);
  }
}

const LATE_RETRY_MS = 1_000;

/** Of a key: up to so many slashes behind the store's own prefix. */
function prefixOf(key: string, start: string, slashes: number): string {
  let end = start.length - 1;
  for (let left = slashes; left > 0; left--) end = key.indexOf('/', end + 1);
  return key.slice(0, end + 1);
}

const SAMPLE_OBJECTS = 16;
const SAMPLE_KEPT_MS = 60_000;

/** How many objects there are, and how big they are on average: a guess from the first few, made anew once a minute at most. */
class ResourceSize {
  readonly group: string;
  readonly resource: string;
  /** The start did not wait for it. */
  isLate = false;
  readonly #cache: ObjectCache;
  readonly #prefix: string;
  #sampledAtMs = -Infinity;
  #averageBytes = 0;
  constructor(cache: ObjectCache, prefix: string, { group, plural }: ResourceDefinition) {
    this.group = group;
    this.resource = plural;
    this.#cache = cache;
    this.#prefix = prefix;
  }

  get ready(): Promise<void> {
    return this.#cache.ready;
  }

  retryLoad(): Promise<void> {
    return this.#cache.retryLoad();
  }

  get isLoaded(): boolean {
    return this.#cache.isLoaded;
  }

  get isSynced(): boolean {
    return this.#cache.isSynced;
  }

  get count(): number {
    return this.#cache.count;
  }

  get averageBytes(): number {
    const nowMs = performance.now();
    const isKnown = this.#averageBytes > 0 && nowMs - this.#sampledAtMs < SAMPLE_KEPT_MS;
    if (isKnown || this.#cache.count === 0) return this.#averageBytes;
    const { entries } = this.#cache.list(this.#prefix, { limit: SAMPLE_OBJECTS });
    this.#averageBytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0) / Math.max(1, entries.length);
    this.#sampledAtMs = nowMs;
    return this.#averageBytes;
  }
}

/** None of an object that can not be read: whoever reads it is told, and nobody else. */
function bytesOf(entry: CacheEntry): number {
  try {
    return entry.bytes.length;
  } catch {
    return 0;
  }
}
