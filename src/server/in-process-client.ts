import { delay } from '../util/delay.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { type NextObject, type SentObject, serverMade } from '../registry/write.ts';
import type { Client, Concerns, DeleteChoices, Informer, ResourceClient, ResourceIdentity } from '../client/client.ts';
import { clone } from '../schema/clone.ts';
import { appliedObject } from '../registry/apply-ownership.ts';
import type { RequestContext } from '../registry/request-context.ts';
import type { DeleteOptions, ResourceStore, UpdateOptions, WriteOptions } from '../registry/store.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { ALL_AUTHENTICATED, SYSTEM_PRIVILEGED_GROUP } from '../api/user.ts';
import type { ClientCall, ClientMetrics } from './metrics/client-metrics.ts';
import { LIST_ALL, StoreFollower } from './store-follower.ts';

/** A new one for each write, which marks it where the object is large. */
const makeContext = (): RequestContext => ({
  user: { name: 'system:apiserver', groups: [SYSTEM_PRIVILEGED_GROUP, ALL_AUTHENTICATED] },
  userAgent: 'kube-apiserver',
  warn() {},
  annotateAudit() {},
  signal: undefined,
});
const WRITE: WriteOptions = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore', raw: {} };
const DELETE: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  preconditions: undefined,
  orphanDependents: undefined,
  propagationPolicy: undefined,
  raw: {},
};

/** The stores of the chain, as code inside the process uses them. Resources join as their servers install them. */
export class InProcessClient implements Client {
  readonly #clients = new Map<string, StoreClient<ApiObject>>();
  readonly #listeners = new Set<() => void>();
  readonly #metrics: ClientMetrics | undefined;
  readonly #now: () => Date;

  constructor(metrics?: ClientMetrics, now: () => Date = () => new Date()) {
    this.#metrics = metrics;
    this.#now = now;
  }

  /** `asStored`: what informers read, where reading the store itself may have to wait for a conversion. */
  add(store: ResourceStore, asStored = store): void {
    const client = new StoreClient(store, this.#metrics, this.#now, WRITE, new StoreInformer(asStored));
    this.#clients.set(`${store.definition.group}/${store.definition.plural}`, client);
    for (const listener of this.#listeners) listener();
  }

  /** Forgets a resource that is no longer served. */
  remove(group: string, plural: string): void {
    this.#clients.delete(`${group}/${plural}`);
    for (const listener of this.#listeners) listener();
  }

  resource<T extends ApiObject>(group: string, plural: string, fieldManager?: string): ResourceClient<T> {
    const client = this.#clients.get(`${group}/${plural}`)?.as(fieldManager);
    if (!client) throw new Error(`no resource ${plural} of group ${JSON.stringify(group)} is installed`);
    return client as unknown as ResourceClient<T>;
  }

  /** Whether something in this process reads the resource by its informer. */
  isFollowed(group: string, plural: string): boolean {
    return this.#clients.get(`${group}/${plural}`)?.isFollowed ?? false;
  }

  resources(): ResourceIdentity[] {
    return Array.from(this.#clients.values(), ({ identity }) => identity);
  }

  onResourcesChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

class StoreClient<T extends ApiObject> implements ResourceClient<T> {
  readonly #informer: StoreInformer<T>;
  readonly #store: ResourceStore<T>;
  readonly #write: WriteOptions;
  readonly #metrics: ClientMetrics | undefined;
  readonly #now: () => Date;
  #identity: ResourceIdentity | undefined;

  constructor(store: ResourceStore<T>, metrics: ClientMetrics | undefined, now: () => Date, write: WriteOptions, informer: StoreInformer<T>) {
    this.#store = store;
    this.#metrics = metrics;
    this.#now = now;
    this.#write = write;
    this.#informer = informer;
  }

  get informer(): Informer<T> {
    this.#informer.isFollowed = true;
    return this.#informer;
  }

  get isFollowed(): boolean {
    return this.#informer.isFollowed;
  }

  get identity(): ResourceIdentity {
    return (this.#identity ??= identityOf(this.#store));
  }

  /** The same for another field manager. */
  as(fieldManager: string | undefined): StoreClient<T> {
    return fieldManager === undefined ? this : new StoreClient(this.#store, this.#metrics, this.#now, { ...WRITE, fieldManager }, this.#informer);
  }

  async get(namespace: string, name: string): Promise<T | undefined> {
    return orUndefined(async () =>
      (
        await this.#counted(
          'GET',
          '',
          async () => this.#store.get(namespace, name, ''),
          (entry) => entry,
        )
      ).object<T>(),
    );
  }
  async list(namespace: string): Promise<T[]> {
    const { entries } = await this.#counted('LIST', '', async () => this.#store.list(namespace, { ...LIST_ALL, resourceVersion: '' }), noEntry);
    const slice = new TimeSlice();
    const objects: T[] = [];
    for (const entry of entries) {
      if (slice.isSpent) await slice.next();
      objects.push(objectIn<T>(entry));
    }
    return objects;
  }
  /** Defaults come from the version it is stored in, which is the one that code here speaks. */
  async create(namespace: string, object: T): Promise<T> {
    const sent = clone(object);
    this.#store.definition.served[0]!.default?.(sent);
    return (await this.#counted('POST', '', () => this.#store.create(makeContext(), namespace, () => serverMade(sent), this.#write), entryOf)).object;
  }
  async update(namespace: string, name: string, change: (object: T) => boolean | void, subresource = ''): Promise<T> {
    const options: UpdateOptions = { ...this.#write, subresource, mayCreate: false, isApply: false };
    const next: NextObject<T> = (current) => {
      const changed = clone(current!);
      return serverMade(change(changed) === false ? current! : changed);
    };
    return (await this.#counted('PUT', subresource, () => this.#store.update(makeContext(), namespace, name, next, options), entryOf)).object;
  }
  async apply(namespace: string, name: string, config: ApiObject, subresource = ''): Promise<T> {
    const { definition } = this.#store;
    const options: UpdateOptions = { ...this.#write, subresource, mayCreate: true, isApply: true };
    const [served] = definition.served;
    const next: NextObject<T> = (current) => {
      const apply = {
        definition,
        context: makeContext(),
        options,
        now: this.#now(),
        served: served!,
        subresource: definition.subresources?.[subresource],
        force: true,
      };
      return appliedObject({ ...apply, config: config as unknown as JsonObject }, current) as SentObject<T> | Promise<SentObject<T>>;
    };
    return (await this.#counted('PATCH', subresource, () => this.#store.update(makeContext(), namespace, name, next, options), entryOf)).object;
  }
  async delete(namespace: string, name: string, choices: DeleteChoices = {}): Promise<void> {
    await this.#counted('DELETE', '', () => this.#store.delete(makeContext(), namespace, name, { ...DELETE, ...choices, raw: choices }), noEntry);
  }

  async #counted<R>(method: ClientCall['method'], subresource: string, call: () => Promise<R>, sized: (result: R) => CacheEntry | undefined): Promise<R> {
    if (!this.#metrics) return call();
    const { group, plural: resource } = this.#store.definition;
    const startMs = performance.now();
    const counted = { method, group, resource, subresource };
    try {
      const result = await call();
      const sizeBytes = sized(result)?.bytes.length ?? 0;
      this.#metrics.called(counted, method === 'POST' ? 201 : 200, startMs, method === 'GET' ? 0 : sizeBytes, sizeBytes);
      return result;
    } catch (error) {
      this.#metrics.called(counted, error instanceof ApiError ? error.code : 500, startMs, 0, 0);
      throw error;
    }
  }
}

const entryOf = ({ entry }: { entry?: CacheEntry | undefined }): CacheEntry | undefined => entry;
const noEntry = (): undefined => undefined;

/** One that can not be read keeps its kind from being used here: whoever is told must learn which it is. */
function objectIn<T>(entry: CacheEntry): T {
  try {
    return entry.object<T>();
  } catch (error) {
    throw new Error(`${entry.key}: ${(error as Error).message}`, { cause: error });
  }
}

function identityOf<T extends ApiObject>({ definition }: ResourceStore<T>): ResourceIdentity {
  const { group, version, plural, kind, namespaced, verbs, served } = definition;
  return { group, version, plural, kind, namespaced, verbs, apiVersions: served.map((one) => apiVersionOf(one.group, one.version)) };
}

/** How long a scan may hold up all others, and how long it then leaves to them. The first one waits until a server that is starting serves. */
const SCAN_DELAY_MS = 25;
const SCAN_SLICE_MS = 4;
const SCAN_PAUSE_MS = 4;

/** Reads the store's cache, which is told of a change before the change is acknowledged. */
class StoreInformer<T extends ApiObject> implements Informer<T> {
  isFollowed = false;
  readonly #store: ResourceStore<T>;

  constructor(store: ResourceStore<T>) {
    this.#store = store;
  }
  get synced(): Promise<void> {
    return this.#store.ready;
  }
  get(namespace: string, name: string): T | undefined {
    try {
      return this.#atHand(this.#store.get(namespace, name, '0')).object<T>();
    } catch (error) {
      // No object can have a name that is refused.
      if (isApiError(error, 'NotFound') || isApiError(error, 'BadRequest')) return undefined;
      throw error;
    }
  }
  list(namespace: string): T[] {
    return this.#atHand(this.#store.list(namespace, LIST_ALL)).entries.map((entry) => objectIn<T>(entry));
  }
  async scan(visit: (object: T) => void, concerns: Concerns, signal: AbortSignal): Promise<void> {
    await delay(SCAN_DELAY_MS, signal);
    if (signal.aborted) return;
    let sliceEndMs = performance.now() + SCAN_SLICE_MS;
    for (const entry of this.#atHand(this.#store.list('', LIST_ALL)).entries) {
      if (performance.now() > sliceEndMs) {
        await delay(SCAN_PAUSE_MS, signal);
        sliceEndMs = performance.now() + SCAN_SLICE_MS;
      }
      if (signal.aborted) return;
      if (concerns(entry.bytes) && this.#isCurrent(entry)) visit(entry.object<T>());
    }
  }
  async forEach(namespace: string, visit: (object: T) => void, signal: AbortSignal): Promise<void> {
    const slice = new TimeSlice();
    for (const entry of this.#atHand(this.#store.list(namespace, LIST_ALL)).entries) {
      if (slice.isSpent) await slice.next();
      if (signal.aborted) return;
      visit(objectIn<T>(entry));
    }
  }
  onChange(listener: (object: T | undefined, old: T | undefined) => void, concerns: Concerns = () => true): () => void {
    const follower = new StoreFollower(this.#store, listener, concerns);
    return () => follower.close();
  }
  #isCurrent(entry: CacheEntry): boolean {
    const [name = '', namespace = ''] = entry.key.split('/').toReversed();
    try {
      return this.#store.get(this.#store.definition.namespaced ? namespace : '', name, '0') === entry;
    } catch {
      return false;
    }
  }
  /** Version 0 asks for what is at hand, so nothing is ever waited for. */
  #atHand<R extends object>(answer: R | Promise<R>): R {
    if (answer instanceof Promise) throw new Error(`reading ${this.#store.definition.plural} from the cache had to wait`);
    return answer;
  }
}

async function orUndefined<R>(read: () => Promise<R>): Promise<R | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
}
