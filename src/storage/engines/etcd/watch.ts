import type { Clock, Timer } from '../../../util/clock.ts';
import { Compacted, type StoredEvent, type Subscription } from '../../engine.ts';
import type { GrpcStream } from '../../../grpc/channel.ts';
import { prefixEnd } from '../../key-order.ts';
import type { EtcdClient } from './client.ts';
import { KEYSPACE_START, WATCH, type WatchResponse, decodeWatch, encodeWatchCreation, encodeWatchProgress } from './messages.ts';

export interface WatchParts {
  client: EtcdClient;
  clock: Clock;
  prefix: string;
  from: number;
  /** Whether the members' word on progress can be trusted: `hasSafeProgress` in `engine.ts`. */
  trustsProgress: boolean;
  sink: (events: StoredEvent[]) => void;
  onError?: ((error: Error) => void) | undefined;
  onProgress?: ((revision: number) => void) | undefined;
  /** A member has told of its progress, whether that is trusted or not. */
  onMemberProgress?: (() => void) | undefined;
}

/** A member that has lost its cluster ends the watch, instead of keeping it quiet (clientv3 WithRequireLeader). */
const REQUIRE_LEADER = { hasleader: 'true' };
const REOPEN_PAUSE_MS = 100;
/** A member that was asked for its progress, and says nothing for so long, is left. */
const STALL_MS = 2_000;
/** A change's own news comes with its answer, or something is wrong that the writer need not wait for. */
const DELIVERY_MS = 1_000;

/**
 * A watch that outlives its connections: after each break it goes on, at whichever member answers, with the revision that is due.
 *
 * Where progress cannot be trusted, the watch is on all keys there are, and what lies outside of `prefix` counts as progress only: every revision
 * of etcd has a change, so the last one seen is how far this watch is.
 */
export class EtcdWatch implements Subscription {
  readonly #parts: WatchParts;
  /** The first revision that has not been delivered. */
  #next: number;
  #stream: GrpcStream | undefined;
  #fragments: StoredEvent[] = [];
  #reopening: Timer | undefined;
  #stall: Timer | undefined;
  #isClosed = false;
  /** In the order in which they came. */
  #waiters: { revision: number; resolve: () => void }[] = [];

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#next = parts.from;
    this.#open();
  }

  /**
   * Waits until a change of `key` at `revision` has been delivered; undefined when it has been, or is not for this watch. A broken connection is not
   * waited for.
   */
  delivered(key: string, revision: number): Promise<void> | undefined {
    if (this.#isClosed || revision < this.#next || !this.#stream || !key.startsWith(this.#parts.prefix)) return undefined;
    return new Promise((resolve) => {
      const timer = this.#parts.clock.after(DELIVERY_MS, resolve);
      this.#waiters.push({
        revision,
        resolve() {
          timer.cancel();
          resolve();
        },
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#release(Infinity);
    this.#reopening?.cancel();
    this.#stall?.cancel();
    this.#stream?.cancel();
  }

  /** Makes the member say how far it is, if only to learn that it is alive. */
  requestProgress(): void {
    if (this.#isClosed || !this.#stream) return;
    this.#stream.send(encodeWatchProgress());
    this.#stall ??= this.#parts.clock.after(STALL_MS, () => {
      this.#stream?.cancel();
      this.#reopenSoon();
    });
  }

  #open(): void {
    const { client, prefix, trustsProgress } = this.#parts;
    this.#fragments = [];
    let hasEnded = false;
    const stream = client.stream(
      WATCH,
      {
        onMessage: (message) => this.#receive(message),
        onEnd: () => {
          hasEnded = true;
          this.#reopenSoon();
        },
      },
      REQUIRE_LEADER,
    );
    if (hasEnded) return;
    this.#stream = stream;
    const key = trustsProgress ? prefix : '';
    stream.send(encodeWatchCreation({ key: key || KEYSPACE_START, end: prefixEnd(key) ?? KEYSPACE_START, fromRevision: this.#next }));
  }

  #reopenSoon(): void {
    this.#stream = undefined;
    this.#stall?.cancel();
    this.#stall = undefined;
    this.#release(Infinity);
    if (this.#isClosed) return;
    this.#reopening ??= this.#parts.clock.after(REOPEN_PAUSE_MS, () => {
      this.#reopening = undefined;
      this.#open();
    });
  }

  #receive(message: Buffer): void {
    if (this.#isClosed) return;
    this.#stall?.cancel();
    this.#stall = undefined;
    const response = decodeWatch(message);
    if (response.isCanceled) return this.#onCancel(response);
    if (response.isCreated) return;
    if (response.events.length > 0 || this.#fragments.length > 0) return this.#onEvents(response);
    this.#parts.onMemberProgress?.();
    if (this.#parts.trustsProgress) this.#advance(response.revision);
  }

  #onCancel({ compactRevision, cancelReason }: WatchResponse): void {
    if (compactRevision > 0) return this.#fail(new Compacted(compactRevision));
    // No leader, for one: another member may do better.
    this.#stream?.cancel();
    if (/permission denied/.test(cancelReason)) return this.#fail(new Error(cancelReason));
    this.#reopenSoon();
  }

  #onEvents({ events, isFragment }: WatchResponse): void {
    if (isFragment || this.#fragments.length > 0) for (const event of events) this.#fragments.push(event);
    if (isFragment) return;
    const whole = this.#fragments.length > 0 ? this.#fragments : events;
    this.#fragments = [];
    const last = whole.at(-1)!.revision;
    // Members before 3.4.31 and 3.5.13 send events from before the revision asked for, when that is yet to come (etcd issue 17507).
    const due = whole.filter((event) => event.revision >= this.#next && event.key.startsWith(this.#parts.prefix));
    this.#next = Math.max(this.#next, last + 1);
    if (due.length > 0 && !this.#deliver(due)) return;
    this.#advance(last);
  }

  #deliver(events: StoredEvent[]): boolean {
    try {
      this.#parts.sink(events);
      return true;
    } catch (error) {
      this.#fail(error as Error);
      return false;
    }
  }

  #advance(revision: number): void {
    this.#next = Math.max(this.#next, revision + 1);
    if (!this.#isClosed) this.#parts.onProgress?.(revision);
    this.#release(revision);
  }

  #release(revision: number): void {
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter((waiter) => waiter.revision <= revision);
    if (due.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
    for (const waiter of due) waiter.resolve();
  }

  #fail(error: Error): void {
    this.close();
    this.#parts.onError?.(error);
  }
}
