import type { Admission } from '../registry/admission.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { GenericStore } from '../registry/generic-store.ts';
import { type Review, ReviewStore } from '../registry/review-store.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { ObjectCache } from '../storage/cache/cache.ts';
import { type CacheFeed } from '../storage/cache/feed.ts';
import { openCache } from '../storage/cache/object-cache.ts';
import type { ApiObject } from '../util/api-object.ts';
import type { InProcessClient } from './in-process-client.ts';

export interface StoresOptions {
  feed: CacheFeed;
  /** `/registry/` (--etcd-prefix) */
  keyPrefix: string;
  admission: Admission;
  collectsGarbage: boolean;
  deleteWorkers: number;
  client: InProcessClient;
  now: () => Date;
}

/** Opens the stores of a chain: one cache a prefix (events have two stores on one), all fed by one watch of the engine, each known to the in-process client. */
export class Stores {
  readonly #options: StoresOptions;
  readonly #caches = new Map<string, ObjectCache>();
  readonly #counts: { resource: string; count: () => number }[] = [];

  constructor(options: StoresOptions) {
    this.#options = options;
  }

  open(definition: ResourceDefinition): ResourceStore {
    const { feed, admission, collectsGarbage, deleteWorkers, now, client } = this.#options;
    const keyPrefix = `${this.#options.keyPrefix}${definition.storagePrefix}/`;
    const known = this.#caches.get(keyPrefix);
    const cache = known ?? openCache(feed, keyPrefix);
    const store = new GenericStore({ definition, engine: feed.engine, cache, keyPrefix, admission, collectsGarbage, deleteWorkers, now });
    client.add(store);
    if (known) return store;
    this.#caches.set(keyPrefix, cache);
    this.#counts.push({ resource: definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`, count: () => cache.count });
    return store;
  }

  review<T extends ApiObject>(definition: ResourceDefinition, review: Review<T>): ResourceStore {
    return new ReviewStore(definition, review as unknown as Review, this.#options.admission);
  }

  /** How many objects there are of each resource, for metrics. */
  *counts(): Iterable<readonly [resource: string, objects: number]> {
    for (const { resource, count } of this.#counts) yield [resource, count()];
  }
}
