import type { Concerns, Informer } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';
import { delay } from '../util/delay.ts';

export type RemoteChange = { type: string; object: ApiObject };

export interface RemoteFeed {
  /** All objects, and the version to watch from. */
  list(): Promise<{ items: ApiObject[]; resourceVersion: string }>;
  /** Yields changes until the server ends the watch; throws where it breaks off. */
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<RemoteChange>;
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

/**
 * The metadata of a resource that another server has, by list and watch. It begins when someone first looks; whenever the watch ends, all is listed anew, so
 * that no deletion is missed for longer than the server is away.
 */
export class RemoteInformer implements Informer {
  readonly #feed: RemoteFeed;
  readonly #signal: AbortSignal;
  readonly #objects = new Map<string, ApiObject>();
  readonly #listeners = new Set<(object: ApiObject | undefined, old: ApiObject | undefined) => void>();
  readonly #synced: Promise<void>;
  #resolveSynced!: () => void;
  #hasBegun = false;

  constructor(feed: RemoteFeed, signal: AbortSignal) {
    this.#feed = feed;
    this.#signal = signal;
    this.#synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  get synced(): Promise<void> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      void this.#follow();
    }
    return this.#synced;
  }

  get(namespace: string, name: string): ApiObject | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  list(namespace: string): ApiObject[] {
    return [...this.#objects.values()].filter(({ metadata }) => namespace === '' || metadata.namespace === namespace);
  }

  async scan(visit: (object: ApiObject) => void, concerns: Concerns): Promise<void> {
    for (const object of this.#objects.values()) if (concerns(Buffer.from(JSON.stringify(object)))) visit(object);
  }

  async forEach(namespace: string, visit: (object: ApiObject) => void): Promise<void> {
    for (const object of this.list(namespace)) visit(object);
  }

  onChange(listener: (object: ApiObject | undefined, old: ApiObject | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #follow(): Promise<void> {
    let delayMs = FIRST_DELAY_MS;
    while (!this.#signal.aborted) {
      try {
        const { items, resourceVersion } = await this.#feed.list();
        this.#replace(items);
        this.#resolveSynced();
        delayMs = FIRST_DELAY_MS;
        for await (const change of this.#feed.watch(resourceVersion, this.#signal)) this.#take(change);
      } catch {
        // Why is told by the availability of the APIService.
        delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
      }
      await delay(delayMs, this.#signal);
    }
  }

  #replace(items: readonly ApiObject[]): void {
    const gone = new Map(this.#objects);
    for (const object of items) {
      gone.delete(keyOf(object));
      this.#set(object);
    }
    for (const object of gone.values()) this.#remove(object);
  }

  #take({ type, object }: RemoteChange): void {
    if (type === 'ADDED' || type === 'MODIFIED') this.#set(object);
    else if (type === 'DELETED') this.#remove(object);
  }

  #set(object: ApiObject): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (old?.metadata.resourceVersion === object.metadata.resourceVersion && old?.metadata.uid === object.metadata.uid) return;
    // One of the same name that is another has gone unseen.
    if (old && old.metadata.uid !== object.metadata.uid) this.#remove(old);
    this.#objects.set(key, object);
    this.#tell(object, old);
  }

  #remove(object: ApiObject): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (old?.metadata.uid === object.metadata.uid) this.#objects.delete(key);
    this.#tell(undefined, object);
  }

  #tell(object: ApiObject | undefined, old: ApiObject | undefined): void {
    for (const listener of this.#listeners) listener(object, old);
  }
}

const keyOf = ({ metadata: { namespace = '', name = '' } }: ApiObject): string => `${namespace}/${name}`;
