import type { WatchSink } from '../registry/store.ts';
import type { ResponseStream } from '../serving/exchange.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { Subscription } from '../storage/engine.ts';
import { ApiError, internalError } from '../api/errors.ts';
import type { WatchMetrics } from './endpoint-metrics.ts';
import { scopeOf } from './request-labels.ts';
import type { ServerRequest } from './request.ts';
import type { EventType, WatchEncoder } from './watch-encoder.ts';
import { LIMITS } from '../util/limits.ts';
import { TimeSlice } from '../util/time-slice.ts';

/** Beyond this the stream's own buffer is left to drain, and events wait in ours, as references to what the cache holds anyway. */
const WRITE_AHEAD_BYTES = 256 * 1024;
/** What a watcher may be behind in changes; the initial state does not count, however long. Past it the watch is cut off, and the client starts anew. */
const BACKLOG_EVENTS_MAX = LIMITS.watchBacklogEvents;
const BACKLOG_BYTES_MAX = LIMITS.watchBacklogBytes;

type Pending = { type: EventType; entry: CacheEntry; isInitial: boolean } | { bookmark: number; isInitialEventsEnd: boolean };

/**
 * Writes the events of one watch to its client, in order, at the client's pace.
 *
 *     send → [backlog] → encoder → stream → client
 *              empty unless the stream is more than WRITE_AHEAD_BYTES behind
 */
export class WatchStream implements WatchSink {
  readonly #begin: () => ResponseStream | undefined;
  readonly #encoder: WatchEncoder;
  readonly #timer: NodeJS.Timeout;
  readonly #request: ServerRequest;
  readonly #metrics: WatchMetrics | undefined;
  #stream: ResponseStream | undefined;
  #subscription: Subscription | undefined;
  #isOver = false;
  #isDraining = false;
  /** Taken from at #backlogAt, so that a long one costs nothing to shift. */
  #backlog: Pending[] = [];
  #backlogAt = 0;
  #changes = 0;
  #changeBytes = 0;
  /** Of the thread's time, for what there is when the watch begins: it may be ten thousand objects. */
  readonly #slice = new TimeSlice();

  /** `begin` begins the answer; undefined where the client can have none, and was told so. */
  constructor(request: ServerRequest, begin: () => ResponseStream | undefined, encoder: WatchEncoder, timeoutMs: number, metrics?: WatchMetrics) {
    this.#request = request;
    this.#metrics = metrics;
    this.#begin = begin;
    this.#encoder = encoder;
    this.#timer = setTimeout(() => this.#end(), timeoutMs);
    request.exchange.onClose(() => this.#close());
    // The server ends its watches by aborting their requests.
    request.signal?.addEventListener('abort', () => this.#abort(request.signal?.reason), { once: true });
  }

  get isStarted(): boolean {
    return this.#stream !== undefined;
  }

  /** The store has accepted the watch: the client learns so at once, whether or not there are events. */
  subscribed(subscription: Subscription): void {
    this.#subscription = subscription;
    if (this.#isOver) subscription.close();
    else this.#open();
  }

  /** The watch was refused before it began; the refusal is answered by others. */
  abandon(): void {
    this.#close();
  }

  send(type: EventType, entry: CacheEntry, event: unknown): void {
    if (this.#isOver) return;
    const isInitial = event === undefined;
    if (this.#isDraining) this.#postpone({ type, entry, isInitial });
    else this.#write(this.#encoder.event(type, entry));
    if (isInitial && !this.#isDraining && this.#slice.isSpent) this.#pause();
  }

  bookmark(revision: number, isInitialEventsEnd: boolean): void {
    if (this.#isOver) return;
    if (this.#isDraining) this.#postpone({ bookmark: revision, isInitialEventsEnd });
    else this.#writeBookmark(revision, isInitialEventsEnd);
  }

  #writeBookmark(revision: number, isInitialEventsEnd: boolean): void {
    this.#write(this.#encoder.bookmark(revision, isInitialEventsEnd));
    if (isInitialEventsEnd) this.#metrics?.listed(scopeOf(this.#request.info), performance.now() - this.#request.receivedAtMs);
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    const { status } = error instanceof ApiError ? error : internalError('the watch has failed');
    this.#open()?.write(this.#encoder.error(status));
    this.#end();
  }

  end(): void {
    this.#end();
  }

  #open(): ResponseStream | undefined {
    this.#stream ??= this.#begin();
    if (!this.#stream) this.#close();
    return this.#stream;
  }

  #write(frame: Buffer): void {
    const stream = this.#open();
    this.#metrics?.events.inc();
    this.#metrics?.sizes.observe(frame.length);
    if (!stream || stream.write(frame) || stream.bufferedBytes <= WRITE_AHEAD_BYTES) return;
    this.#isDraining = true;
    stream.onDrain(() => this.#resume());
  }

  /** What follows waits in the backlog until others have had their turn. */
  #pause(): void {
    this.#isDraining = true;
    void this.#slice.next().then(() => this.#resume());
  }

  #postpone(pending: Pending): void {
    this.#backlog.push(pending);
    if ('bookmark' in pending || pending.isInitial) return;
    this.#changes++;
    this.#changeBytes += pending.entry.bytes.length;
    if (this.#changes <= BACKLOG_EVENTS_MAX && this.#changeBytes <= BACKLOG_BYTES_MAX) return;
    this.#metrics?.terminated();
    this.#request.logWarning?.('A watch was ended: its client does not read', { events: this.#changes, bytes: this.#changeBytes });
    this.#stream?.destroy();
    this.#close();
  }

  #resume(): void {
    this.#isDraining = false;
    while (!this.#isOver && !this.#isDraining && this.#backlogAt < this.#backlog.length) {
      const pending = this.#backlog[this.#backlogAt++]!;
      if ('bookmark' in pending) this.#writeBookmark(pending.bookmark, pending.isInitialEventsEnd);
      else {
        if (!pending.isInitial) this.#changes--;
        if (!pending.isInitial) this.#changeBytes -= pending.entry.bytes.length;
        this.#write(this.#encoder.event(pending.type, pending.entry));
        if (pending.isInitial && !this.#isDraining && this.#slice.isSpent) this.#pause();
      }
    }
    // What was sent is let go even of a backlog that never empties.
    this.#backlog.splice(0, this.#backlogAt);
    this.#backlogAt = 0;
  }

  /** A reason that is a Status is told to the client. */
  #abort(reason: unknown): void {
    if (reason instanceof ApiError) this.fail(reason);
    else this.#end();
  }

  /** A proper end of the answer, so that the client knows that nothing was cut off. */
  #end(): void {
    if (this.#isOver) return;
    this.#open()?.end();
    this.#close();
  }

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#subscription?.close();
    this.#backlog = [];
    this.#backlogAt = 0;
  }
}
