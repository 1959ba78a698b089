import type { CacheEntry, CacheEvent } from '../storage/cache/cache.ts';
import { internalError } from '../api/errors.ts';
import { encodeContinue } from './continue-token.ts';
import type { StorageConversion } from './storage-conversion.ts';
import type { ListOptions, ListResult, Selection, WatchSink } from './store.ts';

/** Events that wait for their conversion; a watcher further behind is cut off. */
const MAX_PENDING_EVENTS = 10_000;
/** Stored objects that are looked at together, where a selection may leave out most of them. */
const PAGE_ENTRIES = 500;

type Matches = (entry: CacheEntry) => boolean;

/** How what is stored is listed, whatever its version. */
interface StoredList {
  /** `/registry/example.com/things/default/` */
  prefix: string;
  /** What keys alone tell of the selection, whatever the converted objects look like. */
  selection: Selection;
  list(options: ListOptions): ListResult | Promise<ListResult>;
}

/** A list in the definition's version. Selectors look at objects as they are converted: a webhook may give them other labels and other fields. */
export async function listConverted(
  conversion: StorageConversion,
  stored: StoredList,
  options: ListOptions,
  matches: Matches | undefined,
): Promise<ListResult> {
  if (matches === undefined) {
    const list = await stored.list(options);
    return { ...list, entries: await conversion.readAll(list.entries) };
  }
  // Version 0 is served whole from upstream's cache.
  const limit = options.resourceVersion === '0' && options.continue === '' ? 0 : options.limit;
  const unselected: ListOptions = { ...options, limit: limit > 0 ? Math.max(limit, PAGE_ENTRIES) : 0, selection: stored.selection };
  const found: CacheEntry[] = [];
  let page = await stored.list(unselected);
  const { revision } = page;
  for (;;) {
    for (const [index, entry] of (await conversion.readAll(page.entries)).entries()) {
      if (!matches(entry)) continue;
      found.push(entry);
      const hasMore = index + 1 < page.entries.length || page.continue !== '';
      if (found.length === limit && hasMore)
        return { entries: found, revision, continue: encodeContinue(entry.key, stored.prefix, revision), remainingItemCount: undefined };
    }
    if (page.continue === '') return { entries: found, revision, continue: '', remainingItemCount: undefined };
    page = await stored.list({ ...unselected, continue: page.continue, resourceVersion: '', resourceVersionMatch: '' });
  }
}

/** Takes every change of what is stored, and passes on what a watcher of the definition's version sees of it, in order. */
export function convertingSink(conversion: StorageConversion, matches: Matches | undefined, sink: WatchSink): WatchSink {
  const queue = new DeliveryQueue((error) => sink.fail(error));
  return {
    send: (type, entry, event) => queue.add(() => deliverConverted(conversion, matches, sink, { type, entry, event })),
    bookmark: (revision, isInitialEventsEnd) => queue.add(() => sink.bookmark(revision, isInitialEventsEnd)),
    fail: (error) => queue.add(() => queue.fail(error)),
    end: () => queue.add(() => sink.end()),
  };
}

type Deliver = () => Promise<void> | void;

/** Deliveries one after the other, at once where nothing has to be waited for. One that fails is the last. */
class DeliveryQueue {
  readonly #onFailure: (error: Error) => void;
  readonly #waiting: Deliver[] = [];
  #isBusy = false;
  #isOver = false;

  constructor(onFailure: (error: Error) => void) {
    this.#onFailure = onFailure;
  }

  add(deliver: Deliver): void {
    if (this.#isOver) return;
    if (this.#waiting.length >= MAX_PENDING_EVENTS) return this.fail(internalError('the conversion of events fell behind'));
    this.#waiting.push(deliver);
    if (!this.#isBusy) this.#run();
  }

  fail(error: Error): void {
    if (!this.#isOver) this.#onFailure(error);
    this.#isOver = true;
    this.#waiting.length = 0;
  }

  #run(): void {
    this.#isBusy = true;
    try {
      for (let deliver = this.#waiting.shift(); deliver !== undefined; deliver = this.#waiting.shift()) {
        const delivered = deliver();
        if (delivered)
          return void delivered.then(
            () => this.#run(),
            (error: unknown) => this.fail(error as Error),
          );
      }
    } catch (error) {
      this.fail(error as Error);
    }
    this.#isBusy = false;
  }
}

interface StoredChange {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  entry: CacheEntry;
  event: CacheEvent | undefined;
}

function deliverConverted(conversion: StorageConversion, matches: Matches | undefined, sink: WatchSink, change: StoredChange): Promise<void> | void {
  const { type, entry, event } = change;
  if (matches !== undefined) return deliverSelected(conversion, matches, sink, change);
  const converted = conversion.read(entry);
  return converted instanceof Promise ? converted.then((ready) => sink.send(type, ready, event)) : sink.send(type, converted, event);
}

/** As read.ts delivers changes that need no conversion: an object that comes to match is added, one that ceases to is deleted. */
function deliverSelected(conversion: StorageConversion, matches: Matches, sink: WatchSink, { type, entry, event }: StoredChange): Promise<void> | void {
  const deliver = (after: CacheEntry, before: CacheEntry | undefined): Promise<void> | void => {
    const isIn = type !== 'DELETED' && matches(after);
    const wasIn = before !== undefined && matches(before);
    if (isIn) return sink.send(wasIn ? 'MODIFIED' : 'ADDED', after, event);
    if (!wasIn) return;
    if (type === 'DELETED') return sink.send('DELETED', after, event);
    const deleted = conversion.read(event!.asDeleted());
    return deleted instanceof Promise ? deleted.then((ready) => sink.send('DELETED', ready, event)) : sink.send('DELETED', deleted, event);
  };
  const [after, before] = [conversion.read(entry), event?.previous && conversion.read(event.previous)];
  if (!(after instanceof Promise || before instanceof Promise)) return deliver(after, before);
  return Promise.all([after, before]).then(([ready, former]) => deliver(ready, former));
}
