import type { ApiObject } from '../../api/api-object.ts';
import type { Subscription } from '../engine.ts';
import type { CacheImage } from './image.ts';

/**
 * The current state of one resource, its recent history and its watchers, fed by an engine's watch. One a resource.
 *
 * Reads may be stale only by what has not yet arrived from the engine; `freshen` waits that out.
 */
export interface ObjectCache {
  /** Resolves once the first load is in; rejects when it failed. */
  readonly ready: Promise<void>;
  /** Whether the first load is in. */
  readonly isLoaded: boolean;
  /** Whether it is as the engine's watch has it: not before the first load, nor while it is loaded anew after a gap. */
  readonly isSynced: boolean;
  /** The newest revision this cache has seen, its own resource's or not. */
  readonly revision: number;

  /** Waits until the cache is as new as the store was when this was called. Undefined when there is nothing to wait for. */
  freshen(): Promise<void> | undefined;
  /** Waits until the cache has reached `revision`; throws tooLargeResourceVersion after three seconds, which tells it as `shown`. Undefined when it has. */
  waitFor(revision: number, shown?: string): Promise<void> | undefined;

  get(key: string): CacheEntry | undefined;
  /** The entry that a commit of `value` at `revision` made: the cache's own where it still is the newest, else one made for the caller. */
  entryAt(key: string, value: Buffer, revision: number): CacheEntry;
  /** Keys under `prefix`, ascending, from one consistent state. Throws Compacted when `revision` is no longer kept. */
  list(prefix: string, options?: CacheListOptions): CacheList;
  /**
   * The same of those entries that match, from one state, not older than that of when this was called. Looking at many takes slices of the thread's time;
   * synchronous where one is enough. Throws what `options.checkWanted` throws, which is called before each further slice.
   */
  select(prefix: string, selection: CacheSelection, options?: CacheSelectOptions): CacheList | Promise<CacheList>;
  /**
   * Events of keys under `prefix` after revision `after`, in order, each once; of those that `where` leaves out, any number. Throws Compacted, with the oldest revision it could have started after,
   * when that history is gone. Events that are already in history are delivered synchronously, before this returns. A sink that throws is closed.
   */
  watch(prefix: string, after: number, sink: (event: CacheEvent) => void, onError: (error: Error) => void, where?: CacheNarrowing): Subscription;
  /**
   * Calls back once a minute, first a minute from now, with the cache's revision: the time to send a bookmark. By then every change up to that
   * revision has been delivered.
   */
  onProgress(listener: (revision: number) => void): Subscription;

  /** Tries a first load that has failed again. */
  retryLoad(): Promise<void>;

  /** Reads the store anew. Watches end, as those whose history is gone, and begin anew. */
  reload(): Promise<void>;

  /** What it has now, for another cache to begin with; undefined where that would not spare it anything. */
  image(): CacheImage | undefined;

  /** How many objects there are; for metrics and work estimates. */
  readonly count: number;
  close(): void;
}

/** What can be told of a selection without looking at entries. All that match are within it; not all that are within it match. */
export interface CacheNarrowing {
  /** The prefix of their keys; of no use unless it is longer than the one that is listed or watched. */
  within?: string | undefined;
  lookup?: Lookup | undefined;
  /** Of a watch: hears of what differs when the store is taken to another state, where others end. */
  followsResets?: boolean | undefined;
}

export interface CacheSelection extends CacheNarrowing {
  matches(entry: CacheEntry): boolean;
}

/** Entries whose attribute has one of these values, each of which is named once. */
export interface Lookup {
  readonly by: Attribute;
  readonly values: readonly string[];
}

/** What the cache makes an index of where somebody selects by it. */
export type Attribute = FieldAttribute | LabelAttribute;

/** A field is the same to the cache where this object is. */
export interface FieldAttribute {
  readonly label?: undefined;
  valueOf(entry: CacheEntry): string;
}

export interface LabelAttribute {
  /** Its key. */
  readonly label: string;
}

export interface CacheListOptions {
  after?: string;
  limit?: number;
  /** Exactly this state, not the current one. */
  revision?: number;
}

export interface CacheSelectOptions extends CacheListOptions {
  /** Throws where nobody waits for the answer any more. */
  checkWanted?: (() => void) | undefined;
}

export interface CacheList {
  entries: CacheEntry[];
  /** How many were looked at. */
  fetched: number;
  revision: number;
  /** The key of the last entry looked at, and whether more keys follow it: for a continue token. */
  lastKey: string | undefined;
  hasMore: boolean;
  /** Keys beyond `lastKey`, whether they match or not. */
  remaining: number;
}

/** One object at one revision. Immutable; shared by all readers. */
export interface CacheEntry {
  readonly key: string;
  readonly revision: number;
  /** The object as JSON in its storage version, resourceVersion included: what a client is sent. Starts with `{"kind":"K","apiVersion":"V",`. */
  readonly bytes: Buffer;
  /** Length of `{"kind":"K","apiVersion":"V",`: what list items leave out. */
  readonly typePrefixLength: number;
  /** The object, decoded on first use. Shared: callers that change it must clone it first. */
  object<T = ApiObject>(): T;
  /** Encoded forms of this object other than `bytes`, by a name that the encoder chooses; made once, shared. */
  form(name: string, make: () => Buffer): Buffer;
}

export interface CacheEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  readonly revision: number;
  /** The object after the change; for DELETED the last state, with the deletion's revision as its resourceVersion. */
  readonly entry: CacheEntry;
  /** The object before a MODIFIED or DELETED. */
  readonly previous: CacheEntry | undefined;
  /** The previous object carrying this event's revision: what a watcher is sent when the object left its selection. */
  asDeleted(): CacheEntry;
}
