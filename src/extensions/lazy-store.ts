import type { AdmissionController } from '../registry/admission.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { StorageConversion } from '../registry/storage-conversion.ts';
import type { ResourceStore, WatchOptions, WatchSink } from '../registry/store.ts';
import type { Subscription } from '../storage/engine.ts';

interface Opened {
  store: ResourceStore;
  close(): void;
}

/** A cache of what is stored, and the stores over it. */
interface OpenedCache {
  storeOf(definition: ResourceDefinition, conversion: StorageConversion | undefined): ResourceStore;
  close(): void;
}

/** One cache for the stores of all versions of a resource, opened by the first that is used. */
export class SharedCache {
  readonly #open: () => OpenedCache;
  #opened: OpenedCache | undefined;

  constructor(open: () => OpenedCache) {
    this.#open = open;
  }

  open(definition: ResourceDefinition, conversion: StorageConversion | undefined): Opened {
    const opened = (this.#opened ??= this.#open());
    return {
      store: opened.storeOf(definition, conversion),
      close: () => {
        if (this.#opened !== opened) return;
        this.#opened = undefined;
        opened.close();
      },
    };
  }
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
  get admission(): AdmissionController {
    return this.#store.admission;
  }

  get(...call: Parameters<ResourceStore['get']>): ReturnType<ResourceStore['get']> {
    return this.#whenReady((store) => store.get(...call));
  }
  list(...call: Parameters<ResourceStore['list']>): ReturnType<ResourceStore['list']> {
    return this.#whenReady((store) => store.list(...call));
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

  async create(...call: Parameters<ResourceStore['create']>): ReturnType<ResourceStore['create']> {
    return this.#whenReady((store) => store.create(...call));
  }
  async update(...call: Parameters<ResourceStore['update']>): ReturnType<ResourceStore['update']> {
    return this.#whenReady((store) => store.update(...call));
  }
  async delete(...call: Parameters<ResourceStore['delete']>): ReturnType<ResourceStore['delete']> {
    return this.#whenReady((store) => store.delete(...call));
  }
  async deleteCollection(...call: Parameters<ResourceStore['deleteCollection']>): ReturnType<ResourceStore['deleteCollection']> {
    return this.#whenReady((store) => store.deleteCollection(...call));
  }
  async amend(...call: Parameters<ResourceStore['amend']>): ReturnType<ResourceStore['amend']> {
    return this.#whenReady((store) => store.amend(...call));
  }
  get kept(): NonNullable<ResourceStore['kept']> {
    return this.#store.kept!;
  }
  over(...call: Parameters<NonNullable<ResourceStore['over']>>): ResourceStore {
    return this.#store.over!(...call);
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
