import { timeout } from '../../api/errors.ts';
import type { Engine, StoredEvent, Subscription } from '../../storage/engine.ts';
import type { Clock } from '../../util/clock.ts';
import type { AuthorLedger } from './author-ledger.ts';
import type { HandedChange, KeptHistory } from './kept-history.ts';

interface RecordingOptions {
  engine: Engine;
  /** Where the store does not tell who made a change. */
  ledger?: AuthorLedger | undefined;
  /** `/registry/` */
  prefix: string;
  clock: Clock;
  /** Opens what is kept already, if that is known up to the revision that is told and everything after it will be handed over; else begins anew. */
  open(revision: number, isKnown: (revision: number) => boolean): Promise<KeptHistory>;
  isRecorded(key: string): boolean;
  /** Called when the history had to begin anew. */
  onRestart(error: Error): void;
}

/** As long as upstream's cache lets a reader wait for a revision. */
const REACH_MS = 3_000;
const PROGRESS_MS = 20;

/** Hands every change of a store to its history. */
export class StoreRecording {
  readonly history: KeptHistory;
  readonly #options: RecordingOptions;
  #subscription: Subscription | undefined;
  /** Up to where events have come. */
  #seenRevision: number;
  /** Events of which it is not known yet who made the first. */
  #waiting: StoredEvent[] = [];
  #isClosed = false;

  private constructor(history: KeptHistory, options: RecordingOptions, revision: number) {
    this.history = history;
    this.#options = options;
    this.#seenRevision = revision;
    if (options.ledger) options.ledger.onSettled = () => this.#handWaiting();
  }

  static async start(options: RecordingOptions): Promise<StoreRecording> {
    const { engine } = options;
    const revision = await engine.currentRevision();
    const { keptChanges } = engine;
    const recovered = (await keptChanges?.recover()) ?? [];
    // A store that others write to too keeps what has happened for a while, and says where that is not enough.
    const isKnown = (known: number): boolean => (keptChanges ? known >= keptChanges.since : !engine.isSingleWriter) && known <= revision;
    const history = await options.open(revision, isKnown);
    const from = engine.isSingleWriter ? revision : Math.min(history.revision, revision);
    const recording = new StoreRecording(history, options, from);
    history.record(recovered.filter(({ key }) => options.isRecorded(key)));
    recording.#watch(from + 1);
    return recording;
  }

  /** Resolves when everything up to that revision can be read; rejects where it does not come. */
  async reached(revision: number): Promise<void> {
    const { engine } = this.#options;
    const deadlineMs = performance.now() + REACH_MS;
    while (!engine.isSingleWriter && (this.#seenRevision < revision || this.#waiting.length > 0)) {
      if (performance.now() > deadlineMs) throw timeout('the history has not come so far', 1);
      this.#subscription?.requestProgress?.();
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_MS));
    }
    await this.history.drain();
  }

  #watch(from: number): void {
    const { engine, prefix } = this.#options;
    try {
      this.#subscription = engine.watch(
        prefix,
        from,
        (events) => this.#take(events),
        (error) => void this.#restart(error),
        (revision) => (this.#seenRevision = Math.max(this.#seenRevision, revision)),
      );
    } catch (error) {
      void this.#restart(error as Error);
    }
  }

  #take(events: readonly StoredEvent[]): void {
    this.#seenRevision = Math.max(this.#seenRevision, events.at(-1)?.revision ?? 0);
    if (!this.#options.ledger) return this.#hand(events);
    this.#waiting.push(...events);
    this.#handWaiting();
  }

  #handWaiting(): void {
    const ledger = this.#options.ledger!;
    const held = this.#waiting.findIndex((event) => ledger.isOpen(event));
    const known = this.#waiting.splice(0, held < 0 ? this.#waiting.length : held);
    if (known.length > 0) this.#hand(known.map((event) => ({ ...event, annotation: ledger.take(event) })));
  }

  #hand(events: readonly StoredEvent[]): void {
    const { isRecorded, clock } = this.#options;
    const changes: HandedChange[] = [];
    for (const event of events) {
      if (!isRecorded(event.key)) continue;
      const { type, key, revision, value, previous, annotation, timeMs = clock.now() } = event;
      changes.push({ type, key, revision, timeMs, value, previous: previous?.value, previousRevision: previous?.revision ?? 0, annotation });
    }
    if (changes.length > 0) this.history.record(changes);
  }

  /** What came between is not known: the history begins anew. */
  async #restart(error: Error): Promise<void> {
    const { engine, onRestart } = this.#options;
    if (this.#isClosed) return;
    onRestart(error);
    this.#waiting = [];
    try {
      const revision = await engine.currentRevision();
      await this.history.restart(revision);
      if (!this.#isClosed) this.#watch(revision + 1);
    } catch (failure) {
      this.#options.clock.after(REACH_MS, () => void this.#restart(failure as Error));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#subscription?.close();
    await this.history.close();
  }
}
