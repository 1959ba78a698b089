import { tooLargeResourceVersion } from '../../api/errors.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { type StoredCodec, jsonCodec } from '../codec.ts';
import { Compacted, type Engine, type RangeResult, type RangeOptions, type StoreReset, type StoredEvent, type Subscription } from '../engine.ts';
import type { CacheState, ResourceStorageMetrics } from '../storage-metrics.ts';
import { compareKeys, prefixEnd } from '../key-order.ts';
import { type OrderedMap, orderedMap } from '../ordered-map.ts';
import { PageSize } from '../page-size.ts';
import type { AttributeIndex } from './attribute-index.ts';
import { NAME } from './attributes.ts';
import type { CacheEvent, CacheList, CacheListOptions, CacheNarrowing, CacheSelectOptions, CacheSelection, Lookup, ObjectCache } from './cache.ts';
import { EntryMemory, StoredEntry } from './entry.ts';
import type { CacheFeed, FeedRoute } from './feed.ts';
import { CacheChange, DEFAULT_HISTORY_LIMITS, History, type HistoryLimits } from './history.ts';
import type { CacheImage } from './image.ts';
import { IndexScan } from './index-scan.ts';
import { Indexes } from './indexes.ts';
import { ProgressTicker } from './progress.ts';
import { Scan, type ScanRange, type Search, keyBehind } from './scan.ts';
import { Snapshots } from './snapshots.ts';
import { type Watcher, Watchers } from './watchers.ts';

interface ObjectCacheOptions {
  codec?: StoredCodec;
  history?: HistoryLimits;
  /** Absent where nothing is counted. */
  metrics?: ResourceStorageMetrics | undefined;
  /** How often `onProgress` calls. */
  progressIntervalMs?: number;
}

/** The cache of the keys under `prefix`, which ends with a `/`. */
export const openCache = (feed: CacheFeed, prefix: string, options: ObjectCacheOptions = {}): ObjectCache => new FedCache(feed, prefix, options);

type Tree = OrderedMap<string, StoredEntry>;

const OBJECTS_A_PAGE = 1_000;

class FedCache implements ObjectCache, FeedRoute, CacheState {
  readonly ready: Promise<void>;
  readonly #feed: CacheFeed;
  readonly #prefix: string;
  /** All of them. */
  readonly #keys: { start: string; end: string };
  #memory: EntryMemory;
  readonly #history: History;
  readonly #snapshots = new Snapshots();
  readonly #progress: ProgressTicker;
  readonly #watchers = new Watchers();
  readonly #indexes: Indexes;
  readonly #metrics: ResourceStorageMetrics | undefined;
  #tree: Tree = orderedMap<string, StoredEntry>(compareKeys);
  /** The tree is the state of every revision from here to the newest. */
  #changedAt = 0;
  #loadedRevision = 0;
  #isLoaded = false;
  #sequence = 0;
  /** Taken in, and not yet told to watchers. */
  #unannounced: CacheChange[] = [];
  /** What arrives while the state is being loaded. */
  #early: StoredEvent[] | undefined = [];

  constructor(
    feed: CacheFeed,
    prefix: string,
    { codec = jsonCodec, history = DEFAULT_HISTORY_LIMITS, progressIntervalMs = 60_000, metrics }: ObjectCacheOptions,
  ) {
    this.#metrics = metrics;
    metrics?.show(this);
    this.#feed = feed;
    this.#prefix = prefix;
    this.#keys = { start: prefix, end: prefixEnd(prefix)! };
    this.#memory = new EntryMemory(codec);
    this.#history = new History(history, feed.clock, (isIncrease) => metrics?.capacityChanged(isIncrease));
    this.#indexes = new Indexes({ clock: feed.clock, changedAt: () => this.#changedAt, historyBase: () => this.#history.base });
    this.#progress = new ProgressTicker(feed.clock, () => this.revision, progressIntervalMs);
    this.ready = feed.add(prefix, this);
    // Whoever waits for it is told; if nobody does, it must not end the process.
    this.ready.catch(() => undefined);
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get isSynced(): boolean {
    return this.#early === undefined;
  }

  get revision(): number {
    return Math.max(this.#feed.revision, this.#loadedRevision);
  }

  get historyCapacity(): number {
    return this.#history.capacity;
  }

  get count(): number {
    return this.#tree.size;
  }

  freshen(): Promise<void> | undefined {
    return this.#feed.freshen();
  }

  waitFor(revision: number, shown?: string): Promise<void> | undefined {
    return revision <= this.#loadedRevision ? undefined : this.#feed.waitFor(revision, shown);
  }

  get(key: string): StoredEntry | undefined {
    return this.#tree.get(key);
  }

  entryAt(key: string, value: Buffer, revision: number): StoredEntry {
    const current = this.#tree.get(key);
    return current?.revision === revision ? current : new StoredEntry(key, revision, value, this.#memory);
  }

  list(prefix: string, options: CacheListOptions = {}): CacheList {
    const scan = new Scan(...this.#rangeOf(prefix, prefix, options));
    scan.goOn();
    return this.#listOf(scan);
  }

  select(prefix: string, selection: CacheSelection, options: CacheSelectOptions = {}): CacheList | Promise<CacheList> {
    const slice = new TimeSlice();
    const [tree, range] = this.#rangeOf(prefix, narrowed(prefix, selection), options);
    const index = range.isCurrent && selection.lookup ? this.#indexFor(selection.lookup, range, options) : undefined;
    if (index && !index.isComplete && (index.building || !index.build(tree, this.#keys, slice)))
      return this.#selectWhenBuilt(index, prefix, selection, options);
    const search = index?.state
      ? new IndexScan(tree, index.state, selection.lookup!.values, range, selection.matches)
      : new Scan(tree, range, selection.matches);
    return search.goOn(slice) ? this.#listOf(search) : this.#selectOn(search, slice, options);
  }

  /** The index that saves looking at all that is in the range: one that is complete, or is to be built first. */
  #indexFor({ by }: Lookup, { start, end }: ScanRange, { revision }: CacheListOptions): AttributeIndex | undefined {
    const index = this.#indexes.of(by);
    if (index.isComplete) return index;
    // Until it is built, the state that was asked for may be gone.
    if (revision !== undefined) return undefined;
    return index.pays(this.#tree.forRange(start, end, false), this.#tree.size) ? index : undefined;
  }
  /** All who come meanwhile wait for one building. */
  async #selectWhenBuilt(index: AttributeIndex, prefix: string, selection: CacheSelection, options: CacheSelectOptions): Promise<CacheList> {
    await (index.building ??= this.#buildOn(index));
    options.checkWanted?.();
    return this.select(prefix, selection, options);
  }

  async #buildOn(index: AttributeIndex): Promise<void> {
    const slice = new TimeSlice();
    do await slice.next();
    while (!index.isDropped && !index.build(this.#tree, this.#keys, slice));
  }

  async #selectOn(search: Search, slice: TimeSlice, { checkWanted }: CacheSelectOptions): Promise<CacheList> {
    search.holdState();
    do {
      await slice.next();
      checkWanted?.();
    } while (!search.goOn(slice));
    return this.#listOf(search);
  }

  /** The state that is asked for, and the part of it that is looked at. */
  #rangeOf(prefix: string, within: string, { after, limit = Infinity, revision: asked }: CacheListOptions): [Tree, ScanRange] {
    const tree = asked === undefined ? this.#tree : this.#treeAt(asked);
    const revision = asked ?? this.revision;
    const goesOn = after !== undefined && compareKeys(after, within) >= 0;
    const start = goesOn ? keyBehind(after) : within;
    const listEnd = prefixEnd(prefix)!;
    const keyCount = goesOn ? this.#snapshots.remainingBehind(revision, after, listEnd) : start === this.#prefix ? tree.size : undefined;
    return [tree, { start, end: prefixEnd(within)!, listEnd, limit, revision, isCurrent: tree === this.#tree, keyCount }];
  }

  #listOf(search: Search): CacheList {
    const { entries, fetched, lastKey, remaining, range } = search;
    if (remaining > 0 && range.isCurrent) this.#snapshots.keep(range.revision, search.holdState());
    if (remaining > 0) this.#snapshots.endPage(range.revision, { lastKey: lastKey!, listEnd: range.listEnd, remaining });
    return { entries, fetched, revision: range.revision, lastKey, hasMore: remaining > 0, remaining };
  }

  watch(prefix: string, after: number, sink: (event: CacheEvent) => void, onError: (error: Error) => void, where: CacheNarrowing = {}): Subscription {
    if (this.#early) throw new Compacted(this.revision);
    const within = narrowed(prefix, where);
    const { lookup } = where;
    const index = lookup && lookup.by !== NAME ? this.#indexes.of(lookup.by) : undefined;
    const missed = this.#missed(within, after, lookup, index);
    const watcher: Watcher = {
      prefix: within,
      lookup,
      index,
      after,
      heard: this.#sequence,
      sink,
      onError,
      isClosed: false,
      followsResets: where.followsResets === true,
    };
    this.#watchers.add(watcher);
    this.#metrics?.initialEvents(missed.length);
    if (index) index.watchers++;
    for (const event of missed) this.#send(watcher, event);
    return { close: () => this.#closeWatcher(watcher) };
  }

  #missed(prefix: string, after: number, lookup: Lookup | undefined, index: AttributeIndex | undefined): CacheChange[] {
    const { log } = index ?? {};
    if (log && lookup && after >= log.since && after >= this.#history.base) return this.#history.at(log.after(after, lookup.values), prefix);
    const missed = this.#history.after(after, prefix);
    if (lookup?.by !== NAME) return missed;
    const names = new Set(lookup.values);
    return missed.filter(({ entry }) => names.has(NAME.valueOf(entry)));
  }

  onProgress(listener: (revision: number) => void): Subscription {
    return this.#progress.add(listener);
  }

  close(): void {
    this.#metrics?.hide(this);
    this.#feed.remove(this.#prefix, this);
    this.#progress.stop();
    this.#history.close();
    this.#indexes.clear();
    for (const watcher of this.#watchers) this.#closeWatcher(watcher);
  }

  async load(): Promise<void> {
    if (!this.#early) return;
    const startMs = performance.now();
    const image = this.#feed.takeImage(this.#prefix);
    const { tree, memory, revision } = image ? { ...image, tree: image.tree.clone(), memory: this.#memory } : await this.#read();
    this.#metrics?.initialized(tree.size, performance.now() - startMs);
    this.#tree = tree;
    this.#memory = memory;
    this.#changedAt = revision;
    this.#loadedRevision = revision;
    this.#isLoaded = true;
    this.#history.restart(revision);
    this.#snapshots.clear();
    this.#indexes.clear();
    const early = this.#early;
    this.#early = undefined;
    for (const event of early) this.apply(event);
    this.announce();
  }

  retryLoad(): Promise<void> {
    return this.#feed.add(this.#prefix, this);
  }

  async reload(): Promise<void> {
    this.interrupt(new Compacted(this.revision));
    await this.load();
  }

  image(): CacheImage | undefined {
    if (this.#early) return undefined;
    for (const entry of this.#tree.values()) if (!entry.isMade) return undefined;
    // What others hold must not hold this server, as its codec does.
    const memory = new EntryMemory(jsonCodec);
    for (const entry of this.#tree.values()) entry.share(memory);
    return { tree: this.#tree.clone(), revision: this.revision };
  }

  interrupt(error: Error): void {
    this.#early = [];
    this.#unannounced = [];
    for (const watcher of this.#watchers) this.#fail(watcher, error);
  }

  apply(event: StoredEvent): boolean {
    if (this.#early) {
      this.#early.push(event);
      return false;
    }
    if (event.revision <= this.#loadedRevision) return false;
    this.#metrics?.received();
    const change = this.#changeOf(event);
    if (change === undefined) return false;
    change.previous?.leave();
    if (change.type === 'DELETED') this.#tree.delete(event.key);
    else {
      change.entry.enter();
      this.#tree.set(event.key, change.entry);
    }
    this.#changedAt = event.revision;
    this.#snapshots.dropBefore(this.#feed.engine.oldestRevision);
    this.#history.push(change);
    this.#indexes.apply(change);
    this.#unannounced.push(change);
    return true;
  }

  reset(events: readonly StoredEvent[], reset: StoreReset): void {
    for (const watcher of this.#watchers) if (!watcher.followsResets) this.#fail(watcher, reset);
    for (const event of events) this.apply(event);
    this.#snapshots.clear();
    if (this.#early) return;
    this.#changedAt = reset.oldestRevision;
    this.#history.restart(reset.oldestRevision);
  }

  announce(): void {
    const changes = this.#unannounced;
    this.#unannounced = [];
    if (changes.length > 0) this.#metrics?.dispatched(changes.length);
    for (const change of changes) {
      this.#watchers.forEachOf(change, (watcher) => {
        if (change.sequence <= watcher.heard || change.revision <= watcher.after) return;
        watcher.heard = change.sequence;
        this.#send(watcher, change);
      });
    }
  }

  /** The engine's state. In pages, so that its values need not all be in memory beside what is made of them; whole where history is too short for that. */
  async #read(isWhole = false): Promise<{ tree: Tree; memory: EntryMemory; revision: number }> {
    const tree: Tree = orderedMap<string, StoredEntry>(compareKeys);
    const memory = new EntryMemory(this.#memory.codec);
    let loadedRevision = 0;
    try {
      for await (const { items, revision } of pagesOf(this.#feed.engine, this.#prefix, isWhole)) {
        for (const { key, value, revision: writtenAt } of items) {
          const entry = new StoredEntry(key, writtenAt, value, memory);
          entry.enter();
          tree.set(key, entry);
        }
        loadedRevision = revision;
      }
      return { tree, memory, revision: loadedRevision };
    } catch (error) {
      if (error instanceof Compacted && !isWhole) return this.#read(true);
      throw error;
    }
  }

  #changeOf({ type, key, revision, value }: StoredEvent): CacheChange | undefined {
    const previous = this.#tree.get(key);
    const isDeletion = type === 'delete';
    if (isDeletion && previous === undefined) return undefined;
    const entry = isDeletion ? previous!.at(revision) : new StoredEntry(key, revision, value!, this.#memory);
    return new CacheChange(entry, previous, isDeletion, ++this.#sequence);
  }

  #treeAt(revision: number): Tree {
    if (revision > this.revision) throw tooLargeResourceVersion(revision, this.revision);
    // A continue token ends with the compaction of its revision, even where nothing has changed since and the state is still at hand.
    const { oldestRevision } = this.#feed.engine;
    if (revision < oldestRevision) throw new Compacted(oldestRevision);
    if (revision >= this.#changedAt) return this.#tree;
    const kept = this.#snapshots.get(revision);
    if (kept) return kept;
    const tree = this.#tree.clone();
    this.#history.rollBack(tree, revision);
    this.#snapshots.keep(revision, tree);
    return tree;
  }

  /** One watcher's fault is that watcher's end. */
  #send(watcher: Watcher, event: CacheChange): void {
    if (watcher.isClosed) return;
    try {
      watcher.sink(event);
    } catch (error) {
      this.#fail(watcher, error as Error);
    }
  }

  #fail(watcher: Watcher, error: Error): void {
    this.#closeWatcher(watcher);
    try {
      watcher.onError(error);
    } catch {
      // It has been told.
    }
  }

  #closeWatcher(watcher: Watcher): void {
    if (watcher.isClosed) return;
    watcher.isClosed = true;
    this.#watchers.remove(watcher);
    if (watcher.index) this.#indexes.release(watcher.index);
  }
}

/** Never more than was asked for: a selector may name another namespace than its request. */
const narrowed = (prefix: string, { within }: CacheNarrowing): string => (within?.startsWith(prefix) ? within : prefix);

/** The next page is asked for before this one is looked at: across the network, both sides work at once then. */
async function* pagesOf(engine: Engine, prefix: string, isWhole: boolean): AsyncGenerator<RangeResult> {
  const pageSize = new PageSize();
  const size = (): RangeOptions => (isWhole ? {} : { limit: engine.isSingleWriter ? OBJECTS_A_PAGE : pageSize.keys, hasExactCount: false });
  for (let next = engine.range(prefix, size()); ;) {
    const page = await next;
    if (page.remaining === 0) return yield page;
    pageSize.learn(page.items);
    next = engine.range(prefix, { ...size(), after: page.items.at(-1)!.key, revision: page.revision });
    // Whoever does not come to await it has failed otherwise.
    next.catch(() => undefined);
    yield page;
  }
}
