import { Compacted, type Engine, type StoredEvent, type Subscription } from '../../storage/engine.ts';
import type { Clock } from '../../util/clock.ts';
import type { HandedChange, KeptHistory } from './kept-history.ts';

interface RecordingOptions {
  engine: Engine;
  /** `/registry/` */
  prefix: string;
  clock: Clock;
  /** Opens what is kept already, if that is known up to the revision that is told and everything after it will be handed over; else begins anew. */
  open(revision: number, isKnown: (revision: number) => boolean): Promise<KeptHistory>;
  isRecorded(key: string): boolean;
  /** Hears that the history had to begin anew. */
  onRestart(error: Error): void;
}

/** Hands every change of a store to its history. */
export class StoreRecording {
  readonly history: KeptHistory;
  readonly #options: RecordingOptions;
  #subscription: Subscription | undefined;
  #isClosed = false;

  private constructor(history: KeptHistory, options: RecordingOptions) {
    this.history = history;
    this.#options = options;
  }

  static async start(options: RecordingOptions): Promise<StoreRecording> {
    const { engine } = options;
    const revision = await engine.currentRevision();
    const { keptChanges } = engine;
    const recovered = (await keptChanges?.recover()) ?? [];
    const history = await options.open(revision, (known) => keptChanges !== undefined && known >= keptChanges.since);
    const recording = new StoreRecording(history, options);
    history.record(recovered.filter(({ key }) => options.isRecorded(key)));
    recording.#watch(revision + 1);
    return recording;
  }

  /** Resolves when everything up to that revision can be read. */
  async reached(_revision: number): Promise<void> {
    await this.history.drain();
  }

  #watch(from: number): void {
    const { engine, prefix } = this.#options;
    this.#subscription = engine.watch(
      prefix,
      from,
      (events) => this.#hand(events),
      (error) => void this.#restart(error),
    );
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
    if (this.#isClosed) return;
    const { engine, onRestart } = this.#options;
    if (!(error instanceof Compacted)) onRestart(error);
    const revision = await engine.currentRevision();
    await this.history.restart(revision);
    if (!this.#isClosed) this.#watch(revision + 1);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#subscription?.close();
    await this.history.close();
  }
}
