import type { Admission } from '../registry/admission.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { RequestContext } from '../registry/request-context.ts';
import type {
  AmendOptions,
  DeleteOptions,
  DeleteResult,
  ListOptions,
  ListResult,
  ResourceStore,
  UpdateOptions,
  WatchOptions,
  WatchSink,
  WriteOptions,
  WriteResult,
} from '../registry/store.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { Subscription } from '../storage/engine.ts';
import type { ApiObject } from '../util/api-object.ts';

interface Opened {
  store: ResourceStore;
  close(): void;
}

/** A store that is opened by the first who uses it: most definitions of a cluster are not used in a process' life, and each costs a cache. */
export class LazyStore implements ResourceStore {
  readonly definition: ResourceDefinition;
  readonly #open: () => Opened;
  readonly #sinks = new Set<WatchSink>();
  #opened: Opened | undefined;
  #isReady = false;

  constructor(definition: ResourceDefinition, open: () => Opened) {
    this.definition = definition;
    this.#open = open;
  }

  get ready(): Promise<void> {
    return this.#store.ready;
  }
  get admission(): Admission {
    return this.#store.admission;
  }

  get(namespace: string, name: string, resourceVersion: string): CacheEntry | Promise<CacheEntry> {
    return this.#whenReady((store) => store.get(namespace, name, resourceVersion));
  }
  list(namespace: string, options: ListOptions): ListResult | Promise<ListResult> {
    return this.#whenReady((store) => store.list(namespace, options));
  }
  async watch(namespace: string, options: WatchOptions, sink: WatchSink): Promise<Subscription> {
    await this.#whenReady(() => undefined);
    const subscription = await this.#store.watch(namespace, options, sink);
    this.#sinks.add(sink);
    return {
      close: () => {
        this.#sinks.delete(sink);
        subscription.close();
      },
    };
  }

  async create(context: RequestContext, namespace: string, object: ApiObject, options: WriteOptions): Promise<WriteResult> {
    return this.#whenReady((store) => store.create(context, namespace, object, options));
  }
  async update(
    context: RequestContext,
    namespace: string,
    name: string,
    next: (current: ApiObject | undefined) => ApiObject | Promise<ApiObject>,
    options: UpdateOptions,
  ): Promise<WriteResult> {
    return this.#whenReady((store) => store.update(context, namespace, name, next, options));
  }
  async delete(context: RequestContext, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult> {
    return this.#whenReady((store) => store.delete(context, namespace, name, options));
  }
  async deleteCollection(context: RequestContext, namespace: string, list: ListOptions, options: DeleteOptions): Promise<ListResult> {
    return this.#whenReady((store) => store.deleteCollection(context, namespace, list, options));
  }
  async amend(namespace: string, name: string, change: (object: ApiObject) => void, options: AmendOptions): Promise<ApiObject> {
    return this.#whenReady((store) => store.amend(namespace, name, change, options));
  }
  withoutAdmission(): ResourceStore {
    return this.#store.withoutAdmission();
  }

  /** Ends its watches: their clients watch on, on whatever has taken this store's place. */
  close(): void {
    this.#opened?.close();
    for (const sink of this.#sinks) sink.end();
    this.#sinks.clear();
  }

  get #store(): ResourceStore {
    return this.#openIfNeeded().store;
  }

  #openIfNeeded(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const opened = this.#open();
    opened.store.ready.then(
      () => (this.#isReady = true),
      // The next who comes tries again.
      () => {
        opened.close();
        this.#opened = undefined;
      },
    );
    return (this.#opened = opened);
  }

  #whenReady<R>(use: (store: ResourceStore) => R | Promise<R>): R | Promise<R> {
    const { store } = this.#openIfNeeded();
    return this.#isReady ? use(store) : store.ready.then(() => use(store));
  }
}
