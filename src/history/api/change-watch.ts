import type { WatchOptions, WatchSink } from '../../registry/store.ts';
import type { CacheEntry } from '../../storage/cache/cache.ts';
import type { Subscription } from '../../storage/engine.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import type { KeptHistory } from '../kept/kept-history.ts';
import type { ChangeFilter } from './change-filter.ts';
import type { ChangesStore } from './changes-store.ts';

const CHUNK_CHANGES = 200;
const BOOKMARK_MS = 60_000;

interface ChangeWatchOptions extends WatchOptions {
  /** The number of the first record. */
  from: number;
  filter: ChangeFilter;
}

/** Sends changes as they come, at its own pace: what has come meanwhile is read from the history. */
export class ChangeWatch implements Subscription {
  readonly #store: Pick<ChangesStore, 'entriesOf'>;
  readonly #history: KeptHistory;
  readonly #options: ChangeWatchOptions;
  readonly #sink: WatchSink;
  readonly #unsubscribe: () => void;
  readonly #bookmarks: NodeJS.Timeout | undefined;
  #next: number;
  #isInitial: boolean;
  #isSending = false;
  #isClosed = false;

  constructor(store: Pick<ChangesStore, 'entriesOf'>, history: KeptHistory, options: ChangeWatchOptions, sink: WatchSink) {
    this.#store = store;
    this.#history = history;
    this.#options = options;
    this.#sink = sink;
    this.#next = options.from;
    this.#isInitial = options.sendInitialEvents === true;
    this.#unsubscribe = history.subscribe(() => void this.#send());
    if (options.allowBookmarks) this.#bookmarks = setInterval(() => this.#bookmark(false), BOOKMARK_MS).unref();
    void this.#send();
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearInterval(this.#bookmarks);
  }

  #bookmark(isInitialEventsEnd: boolean): void {
    if (!this.#isClosed) this.#sink.bookmark(this.#history.revision, isInitialEventsEnd);
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      const slice = new TimeSlice();
      while (!this.#isClosed && this.#next < this.#history.range[1]) {
        await this.#sendChunk();
        if (slice.isSpent) await slice.next();
      }
      if (this.#isInitial) this.#bookmark(true);
      this.#isInitial = false;
    } catch (error) {
      this.close();
      this.#sink.fail(error as Error);
    } finally {
      this.#isSending = false;
    }
  }

  async #sendChunk(): Promise<void> {
    const end = Math.min(this.#history.range[1], this.#next + CHUNK_CHANGES);
    const seqs = Array.from({ length: end - this.#next }, (_, index) => this.#next + index);
    const entries = await this.#store.entriesOf(seqs, this.#options.filter, this.#options.selection);
    this.#next = end;
    for (const entry of entries) if (!this.#isClosed) this.#sink.send('ADDED', entry, this.#isInitial ? undefined : eventOf(entry));
  }
}

const eventOf = (entry: CacheEntry) => ({
  type: 'ADDED' as const,
  key: '',
  revision: entry.revision,
  entry,
  previous: undefined,
  asDeleted: () => entry,
});
