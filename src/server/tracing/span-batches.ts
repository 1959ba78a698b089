import type { Span } from './span.ts';

/** As OpenTelemetry's batch span processor has it. */
const MAX_QUEUED_SPANS = 2048;
const MAX_BATCH_SPANS = 512;
const INTERVAL_MS = 5_000;

export interface SpanBatchesOptions {
  /** Sends a batch; what it rejects with is told, and the batch is lost. */
  send: (spans: readonly Span[]) => Promise<void>;
  onFailure: (error: Error) => void;
  intervalMs?: number;
}

/** Gathers spans and sends them in batches, one at a time. Nobody waits for it: what comes while it is full is dropped. */
export class SpanBatches {
  readonly #options: SpanBatchesOptions;
  readonly #timer: NodeJS.Timeout;
  #queue: Span[] = [];
  #sending: Promise<void> | undefined;

  constructor(options: SpanBatchesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#flush(), options.intervalMs ?? INTERVAL_MS).unref();
  }

  add(span: Span): void {
    if (this.#queue.length >= MAX_QUEUED_SPANS) return;
    this.#queue.push(span);
    if (this.#queue.length >= MAX_BATCH_SPANS) void this.#flush();
  }

  /** Sends what there is. Settles when that is done. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  #flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, MAX_BATCH_SPANS);
      this.#queue = this.#queue.slice(MAX_BATCH_SPANS);
      try {
        await this.#options.send(batch);
      } catch (error) {
        this.#options.onFailure(error as Error);
      }
    }
  }
}
