import type { ServerCall, ServerCallHandler } from '../../grpc/server.ts';
import type { Clock, Timer } from '../../util/clock.ts';
import { Compacted, type StoredEvent, type Subscription } from '../engine.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import { type KeyBounds, isWithin } from '../engines/range.ts';
import { prefixEnd } from '../key-order.ts';
import { boundsOf } from './key-values.ts';
import { type WatchCreateRequest, decodeWatchRequest } from './requests.ts';
import { encodeEvent, encodeWatchAnswer } from './responses.ts';

/**
 * So much goes into one message, but for one event that is larger. No message has to be split into fragments for clients that ask for them, which etcd does with those of
 * more than 1.5 MiB and a margin.
 */
const BATCH_BYTES = 1024 * 1024;
/** As etcd's --experimental-watch-progress-notify-interval. */
const PROGRESS_INTERVAL_MS = 10 * 60 * 1_000;
/** The answer to a request for progress is of no watch in particular (etcd clientv3.InvalidWatchID). */
const ALL_WATCHES = -1;

/** etcd's service `Watch`: any number of watches on one stream. */
export class Watches {
  readonly #engine: LocalEngine;
  readonly #clock: Clock;
  readonly #encoder: EventEncoder;

  constructor(engine: LocalEngine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
    this.#encoder = new EventEncoder(engine);
  }

  readonly watch = (call: ServerCall): ServerCallHandler => new WatchStream(call, this.#engine, this.#encoder, this.#clock);
}

/**
 * Several clients that watch the same keys are sent the same bytes. They are told of a change one after the other, in the turn in which it is published, so that
 * only those of the newest publication are kept: as long as the engine's history lives, they would take as much memory again.
 */
class EventEncoder {
  readonly #engine: LocalEngine;
  #revision = 0;
  #encoded = new Map<StoredEvent, Buffer>();

  constructor(engine: LocalEngine) {
    this.#engine = engine;
  }

  encode(event: StoredEvent, withPrevious: boolean): Buffer {
    if (!withPrevious) return encodeEvent(event, false);
    if (this.#revision !== this.#engine.publishedRevision) {
      this.#revision = this.#engine.publishedRevision;
      this.#encoded = new Map();
    }
    let bytes = this.#encoded.get(event);
    if (!bytes) this.#encoded.set(event, (bytes = encodeEvent(event, true)));
    return bytes;
  }
}

class WatchStream implements ServerCallHandler {
  readonly #call: ServerCall;
  readonly #engine: LocalEngine;
  readonly #encoder: EventEncoder;
  readonly #clock: Clock;
  readonly #watches = new Map<number, KeyWatch>();
  #nextId = 0;
  #isFull = false;
  /** Progress was asked for while the client did not read. */
  #owesProgress = false;
  #progressTimer: Timer | undefined;

  constructor(call: ServerCall, engine: LocalEngine, encoder: EventEncoder, clock: Clock) {
    this.#call = call;
    this.#engine = engine;
    this.#encoder = encoder;
    this.#clock = clock;
  }

  onMessage(message: Buffer): void {
    const request = decodeWatchRequest(message);
    if (request?.type === 'create') this.#create(request.request);
    else if (request?.type === 'cancel') this.#cancel(request.watchId);
    else if (request?.type === 'progress') void this.#tellProgress();
  }

  onHalfClose(): void {
    this.#call.end();
  }

  onEnd(): void {
    this.#progressTimer?.cancel();
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
  }

  /** Watches that were stopped, so that nothing more waits in memory, go on with what they missed. */
  onDrain(): void {
    this.#isFull = false;
    for (const watch of this.#watches.values()) {
      if (!this.#isFull) watch.resume();
    }
    if (this.#owesProgress && !this.#isFull) void this.#tellProgress();
  }

  #create(request: WatchCreateRequest): void {
    const watchId = this.#idFor(request.watchId);
    if (watchId === undefined) {
      this.#send(0, { watchId: ALL_WATCHES, isCreated: true, isCanceled: true, cancelReason: 'etcdserver: duplicate watch ID provided on the WatchStream' });
      return;
    }
    const watch = new KeyWatch(request, this.#engine, {
      send: (events, revision) => this.#sendEvents(watchId, request, events, revision),
      fail: (error) => this.#fail(watchId, error),
    });
    this.#watches.set(watchId, watch);
    this.#send(this.#engine.publishedRevision, { watchId, isCreated: true });
    watch.resume();
    if (request.notifiesProgress) this.#progressTimer ??= this.#notifyLater();
  }

  #idFor(wantedId: number): number | undefined {
    if (wantedId !== 0) return this.#watches.has(wantedId) ? undefined : wantedId;
    while (this.#watches.has(this.#nextId)) this.#nextId++;
    return this.#nextId++;
  }

  #cancel(watchId: number): void {
    const watch = this.#watches.get(watchId);
    if (!watch) return;
    watch.close();
    this.#watches.delete(watchId);
    this.#send(this.#engine.publishedRevision, { watchId, isCanceled: true });
  }

  #fail(watchId: number, error: Error): void {
    this.#watches.delete(watchId);
    const compactRevision = error instanceof Compacted ? error.oldestRevision : 0;
    const cancelReason = error instanceof Compacted ? 'etcdserver: mvcc: required revision has been compacted' : error.message;
    this.#send(this.#engine.publishedRevision, { watchId, isCanceled: true, compactRevision, cancelReason });
  }

  /** A watch that has not sent all that it knows makes it late. */
  async #tellProgress(): Promise<void> {
    this.#owesProgress = this.#isFull;
    if (!this.#isFull) this.#send(this.#engine.publishedRevision, { watchId: ALL_WATCHES });
  }

  #notifyLater(): Timer {
    return this.#clock.after(PROGRESS_INTERVAL_MS, () => {
      this.#progressTimer = this.#notifyLater();
      if (this.#isFull) return;
      for (const [watchId, { notifiesProgress }] of this.#watches) if (notifiesProgress) this.#send(this.#engine.publishedRevision, { watchId });
    });
  }

  #sendEvents(watchId: number, { prevKv }: WatchCreateRequest, events: readonly StoredEvent[], revision: number): boolean {
    return this.#send(revision, { watchId, events: events.map((event) => this.#encoder.encode(event, prevKv)) });
  }

  #send(revision: number, answer: Parameters<typeof encodeWatchAnswer>[1]): boolean {
    if (!this.#call.send(encodeWatchAnswer(revision, answer))) this.#isFull = true;
    return !this.#isFull;
  }
}

/** Each has changes of at most so many bytes, but for one that is larger. */
function* batchesOf(events: readonly StoredEvent[]): Generator<StoredEvent[]> {
  let first = 0;
  let sizeBytes = 0;
  for (const [index, { key, value, previous }] of events.entries()) {
    const eventBytes = key.length + (value?.length ?? 0) + (previous?.value.length ?? 0);
    if (index > first && sizeBytes + eventBytes > BATCH_BYTES) {
      yield events.slice(first, index);
      first = index;
      sizeBytes = 0;
    }
    sizeBytes += eventBytes;
  }
  yield events.slice(first);
}

interface KeyWatchOwner {
  /** False where the client has to read first: the watch is stopped, and resumed later. */
  send(events: readonly StoredEvent[], revision: number): boolean;
  fail(error: Error): void;
}

/** One watch. While its client does not read, it is no watcher of the engine's, but a revision to go on from: what it missed is in the engine's history. */
class KeyWatch {
  readonly notifiesProgress: boolean;
  readonly #request: WatchCreateRequest;
  readonly #bounds: KeyBounds;
  readonly #prefix: string;
  readonly #engine: LocalEngine;
  readonly #owner: KeyWatchOwner;
  #subscription: Subscription | undefined;
  #nextRevision: number;
  #isClosed = false;

  constructor(request: WatchCreateRequest, engine: LocalEngine, owner: KeyWatchOwner) {
    this.notifiesProgress = request.notifiesProgress;
    this.#request = request;
    this.#bounds = boundsOf(request.key, request.end);
    this.#prefix = prefixOf(this.#bounds);
    this.#engine = engine;
    this.#owner = owner;
    this.#nextRevision = request.startRevision || engine.publishedRevision + 1;
  }

  /** Goes on where it stopped. */
  resume(): void {
    if (this.#subscription || this.#isClosed) return;
    let isStopped = false;
    try {
      const subscription = this.#engine.watch(
        this.#prefix,
        this.#nextRevision,
        (events) => {
          // Changes are still told while a subscription that stops in its first call is being made.
          if (isStopped || this.#isClosed || this.#take(events)) return;
          isStopped = true;
          this.#stop();
        },
        (error) => this.#failed(error),
      );
      if (isStopped || this.#isClosed) subscription.close();
      else this.#subscription = subscription;
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #stop(): void {
    this.#subscription?.close();
    this.#subscription = undefined;
  }

  #failed(error: Error): void {
    this.close();
    this.#owner.fail(error);
  }

  #take(events: readonly StoredEvent[]): boolean {
    const revision = this.#engine.publishedRevision;
    for (const batch of batchesOf(events)) {
      this.#nextRevision = batch.at(-1)!.revision + 1;
      const wanted = batch.filter((event) => this.#wants(event));
      if (wanted.length > 0 && !this.#owner.send(wanted, revision)) return false;
    }
    return true;
  }

  #wants({ type, key }: StoredEvent): boolean {
    const { leavesOutPuts, leavesOutDeletes } = this.#request;
    return !(type === 'put' ? leavesOutPuts : leavesOutDeletes) && isWithin(this.#bounds, key);
  }
}

/** What all keys within the bounds begin with. */
function prefixOf({ start, end }: KeyBounds): string {
  if (end === undefined) return '';
  if (end === prefixEnd(start)) return start;
  let length = 0;
  while (length < start.length && start[length] === end[length]) length++;
  return start.slice(0, length);
}
