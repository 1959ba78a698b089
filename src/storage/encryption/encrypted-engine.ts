import { type GroupResource, qualifiedResource } from '../../api/api-object.ts';
import { internalError } from '../../api/errors.ts';
import {
  StoreReset,
  type StorageChange,
  CommitConflict,
  type Engine,
  type RangeResult,
  type RangeOptions,
  type KeptChanges,
  type KeptEvent,
  type Stored,
  type StoredEvent,
  type Subscription,
} from '../engine.ts';
import { markUnreadable } from '../unreadable.ts';
import type { Encryption } from './encryption.ts';
import type { Opened, ValueContext } from './transformer.ts';

/**
 * The engine, with values encrypted in it and plain before it. Keys are not encrypted. A value that can not be decrypted is handed on as it is, marked
 * (unreadable.ts): it is that object's fault, and no other's. `resourceOf` tells what is kept at a key.
 */
export function encryptedEngine(engine: Engine, encryption: Pick<Encryption, 'transformerFor'>, resourceOf: (key: string) => GroupResource): Engine {
  return new EncryptedEngine(engine, encryption, resourceOf);
}

class EncryptedEngine implements Engine {
  readonly #engine: Engine;
  readonly #encryption: Pick<Encryption, 'transformerFor'>;
  readonly #resourceOf: (key: string) => GroupResource;

  constructor(engine: Engine, encryption: Pick<Encryption, 'transformerFor'>, resourceOf: (key: string) => GroupResource) {
    this.#engine = engine;
    this.#encryption = encryption;
    this.#resourceOf = resourceOf;
  }

  get isSingleWriter(): boolean {
    return this.#engine.isSingleWriter;
  }

  get oldestRevision(): number {
    return this.#engine.oldestRevision;
  }

  async get(key: string): Promise<Stored | undefined> {
    const stored = await this.#engine.get(key);
    return stored && this.#opened(stored);
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const { items, ...rest } = await this.#engine.range(prefix, options);
    return { items: await allOf(items.map((stored) => this.#opened(stored))), ...rest };
  }

  async commit(change: StorageChange): Promise<number> {
    try {
      return await this.#engine.commit(change.type === 'put' ? { ...change, value: await this.#seal(change.key, change.value) } : change);
    } catch (error) {
      if (!(error instanceof CommitConflict) || !error.current) throw error;
      throw new CommitConflict(error.key, await this.#opened(error.current));
    }
  }

  /** Events whose values are decrypted at once are passed on at once; one that has to wait for a key holds up those behind it, and no more. */
  watch(
    prefix: string,
    from: number,
    sink: (events: StoredEvent[]) => void,
    onError?: (error: Error) => void,
    onProgress?: (revision: number) => void,
  ): Subscription {
    const queue = new OrderedDelivery();
    const subscription = this.#engine.watch(
      prefix,
      from,
      (events) => {
        queue.add(allOf(events.map((event) => this.#openedEvent(event))), sink);
      },
      onError && ((error) => this.#passError(queue, error, onError)),
      onProgress && ((revision) => queue.add(revision, onProgress)),
    );
    return {
      close: () => {
        queue.close();
        subscription.close();
      },
      requestProgress: () => subscription.requestProgress?.(),
    };
  }

  #passError(queue: OrderedDelivery, error: Error, onError: (error: Error) => void): void {
    if (!(error instanceof StoreReset)) return queue.add(error, onError);
    queue.add(allOf(error.events.map((event) => this.#openedEvent(event))), (events) => onError(new StoreReset(error.oldestRevision, events)));
  }

  currentRevision(): Promise<number> {
    return this.#engine.currentRevision();
  }

  get keptChanges(): KeptChanges | undefined {
    const kept = this.#engine.keptChanges;
    return (
      kept && {
        since: kept.since,
        recover: async () => Promise.all((await kept.recover()).map((event) => this.#openedKept(event))),
        release: (revision) => kept.release(revision),
      }
    );
  }

  async #openedKept(event: KeptEvent): Promise<KeptEvent> {
    const { key, value, previous } = event;
    return { ...event, value: value && (await this.#open(key, value)).value, previous: previous && (await this.#open(key, previous)).value };
  }

  compact(revision: number): Promise<void> {
    return this.#engine.compact(revision);
  }

  checkHealth(timeoutMs?: number): Promise<void> {
    return this.#engine.checkHealth(timeoutMs);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #contextOf(key: string): { resource: GroupResource; context: ValueContext } {
    const resource = this.#resourceOf(key);
    return { resource, context: { key, resource: qualifiedResource(resource) } };
  }

  async #seal(key: string, value: Buffer): Promise<Buffer> {
    const { resource, context } = this.#contextOf(key);
    try {
      return await this.#encryption.transformerFor(resource).toStorage(value, context);
    } catch (error) {
      throw internalError((error as Error).message);
    }
  }

  #open(key: string, value: Buffer): Opened | Promise<Opened> {
    const { resource, context } = this.#contextOf(key);
    const unreadable = (error: Error): Opened => ({
      value: markUnreadable(value, error, async () => (await this.#encryption.transformerFor(resource).fromStorage(value, context)).value),
      isStale: true,
    });
    try {
      const opened = this.#encryption.transformerFor(resource).fromStorage(value, context);
      return opened instanceof Promise ? opened.catch(unreadable) : opened;
    } catch (error) {
      return unreadable(error as Error);
    }
  }

  #opened(stored: Stored): Stored | Promise<Stored> {
    const made = ({ value, isStale }: Opened): Stored => ({ key: stored.key, value, revision: stored.revision, ...(isStale && { isStale }) });
    const opened = this.#open(stored.key, stored.value);
    return opened instanceof Promise ? opened.then(made) : made(opened);
  }

  #openedEvent(event: StoredEvent): StoredEvent | Promise<StoredEvent> {
    const value = event.value && this.#open(event.key, event.value);
    const previous = event.previous && this.#opened(event.previous);
    if (value instanceof Promise || previous instanceof Promise)
      return Promise.all([value, previous]).then(([opened, before]) => withValues(event, opened, before));
    return withValues(event, value, previous);
  }
}

/** A promise only where one of them is: most are there at once. */
const allOf = <T>(items: (T | Promise<T>)[]): T[] | Promise<T[]> => (items.some((item) => item instanceof Promise) ? Promise.all(items) : (items as T[]));

const withValues = ({ type, key, revision, annotation, timeMs }: StoredEvent, opened: Opened | undefined, previous: Stored | undefined): StoredEvent => ({
  type,
  key,
  revision,
  value: opened?.value,
  previous,
  ...(annotation && { annotation }),
  ...(timeMs !== undefined && { timeMs }),
});

/** Hands on in the order of arrival, whenever what arrived is ready; at once while nothing waits. */
class OrderedDelivery {
  #last: Promise<void> | undefined;
  #isClosed = false;

  add<T>(item: T | Promise<T>, deliver: (item: T) => void): void {
    if (this.#last === undefined && !(item instanceof Promise)) return deliver(item);
    const turn: Promise<void> = Promise.all([item, this.#last]).then(([ready]) => {
      if (this.#last === turn) this.#last = undefined;
      if (!this.#isClosed) deliver(ready);
    });
    this.#last = turn;
  }

  close(): void {
    this.#isClosed = true;
  }
}
