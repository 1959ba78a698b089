import { setTimeout as sleep } from 'node:timers/promises';
import { TokenBucket } from '../util/token-bucket.ts';
import type { AuditBackend, AuditObserver } from './backend.ts';
import { type AuditEvent, objectBytesOf } from './event.ts';

export interface BatchOptions {
  /** Events that may wait; more are lost. */
  bufferSize: number;
  maxBatchSize: number;
  /** How long events wait for company. */
  maxWaitMs: number;
  throttle: { perSecond: number; burst: number } | undefined;
  /** How many batches may be on their way at once: 1 where order matters. Upstream has no limit, and runs out of memory behind a dead webhook. */
  maxInFlight: number;
  sleep?: (durationMs: number) => Promise<void>;
}

const BATCHES_A_TURN = 50;

/** So much of requests' and answers' objects may wait, or be on its way. Upstream counts events alone, and runs out of memory where they are lists. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** A batch with more of them leaves alone (upstream's own default, where it splits batches: --audit-webhook-truncate-max-batch-size). */
const MAX_BATCH_BYTES = 10 * 1024 * 1024;

/**
 * Requests do not wait for their events, which go in batches (apiserver/plugin/pkg/audit/buffered).
 *
 *     process → [queue ≤ bufferSize, ≤ MAX_HELD_BYTES] → a batch when full, or old → throttle → ≤ maxInFlight on their way → backend
 */
export class BatchingBackend implements AuditBackend {
  readonly #backend: AuditBackend;
  readonly #options: BatchOptions;
  readonly #observer: AuditObserver;
  readonly #throttle: TokenBucket | undefined;
  readonly #sleep: (durationMs: number) => Promise<void>;
  readonly #inFlight = new Set<Promise<unknown>>();
  #queue: AuditEvent[] = [];
  /** Of the objects of events that wait or are on their way. */
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** What waits in the queue is old enough to leave, be it a whole batch or not. */
  #isDue = false;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(backend: AuditBackend, options: BatchOptions, observer: AuditObserver) {
    this.#backend = backend;
    this.#options = options;
    this.#observer = observer;
    this.#throttle = options.throttle && new TokenBucket(options.throttle.perSecond, options.throttle.burst, performance.now());
    this.#sleep = options.sleep ?? sleep;
  }

  process(events: readonly AuditEvent[]): boolean {
    const lost = events.filter((event) => !this.#take(event));
    if (lost.length > 0) this.#observer.onError('buffered', this.#isClosed ? 'audit backend shut down' : 'audit buffer queue blocked', lost);
    this.#schedule();
    return true;
  }

  #take(event: AuditEvent): boolean {
    const heldBytes = this.#heldBytes + objectBytesOf(event);
    if (this.#isClosed || this.#queue.length >= this.#options.bufferSize || heldBytes > MAX_HELD_BYTES) return false;
    this.#heldBytes = heldBytes;
    this.#queue.push(event);
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isDue = true;
    this.#schedule();
    while (this.#sending !== undefined) await this.#sending;
    await Promise.all(this.#inFlight);
    await this.#backend.close();
  }

  #schedule(): void {
    if (this.#sending !== undefined || this.#queue.length === 0) return;
    if (this.#isDue || this.#queue.length >= this.#options.maxBatchSize) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#sending = this.#send().finally(() => {
        this.#sending = undefined;
        this.#schedule();
      });
    } else {
      this.#timer ??= setTimeout(() => this.#onOld(), this.#options.maxWaitMs).unref();
    }
  }

  #onOld(): void {
    this.#timer = undefined;
    this.#isDue = true;
    this.#schedule();
  }

  async #send(): Promise<void> {
    const { maxBatchSize, maxInFlight } = this.#options;
    for (let sent = 0; this.#queue.length >= maxBatchSize || (this.#isDue && this.#queue.length > 0); sent++) {
      // Requests go first: the one that filled the batch, and others in between.
      if (sent % BATCHES_A_TURN === 0) await new Promise(setImmediate);
      if (this.#inFlight.size >= maxInFlight) await Promise.race(this.#inFlight);
      const waitMs = this.#throttle?.take(performance.now()) ?? 0;
      if (waitMs > 0) await this.#sleep(waitMs);
      const batch = this.#queue.splice(0, this.#batchSize());
      if (this.#queue.length === 0 && !this.#isClosed) this.#isDue = false;
      this.#hand(batch);
    }
  }

  /** How many of those that wait leave together. */
  #batchSize(): number {
    let count = 0;
    for (let bytes = 0; count < Math.min(this.#options.maxBatchSize, this.#queue.length); count++) {
      bytes += objectBytesOf(this.#queue[count]!);
      if (count > 0 && bytes > MAX_BATCH_BYTES) break;
    }
    return count;
  }

  #hand(batch: AuditEvent[]): void {
    const stored = this.#backend.process(batch);
    if (!(stored instanceof Promise)) return this.#forget(batch);
    const done = stored.finally(() => {
      this.#inFlight.delete(done);
      this.#forget(batch);
    });
    this.#inFlight.add(done);
  }

  #forget(batch: readonly AuditEvent[]): void {
    for (const event of batch) this.#heldBytes -= objectBytesOf(event);
  }
}
