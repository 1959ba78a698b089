import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import { isAborted, isForbidden } from '../api/status.ts';
import type { RequestRecord } from '../server/activity.ts';

const MAX_RECORDS = 3_000;
const RETRY_MS = 2_000;
const PUBLISH_MS = 250;

/** The latest requests to the server, followed while somebody looks. Readers look at `version`, which changes a few times a second. */
export class RequestLog {
  /** Oldest first. */
  records: RequestRecord[] = [];
  readonly version = signal(0);
  readonly dropped = signal(0);
  readonly error = signal<unknown>(undefined);
  readonly #client: Client;
  #readers = 0;
  #stop = new AbortController();
  #isScheduled = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Gives back what ends it; it is followed as long as there is a reader. */
  follow(): () => void {
    if (this.#readers++ === 0) void this.#run();
    return () => {
      if (--this.#readers === 0) this.#stop.abort();
    };
  }

  async #run(): Promise<void> {
    this.#stop = new AbortController();
    const { signal: stopped } = this.#stop;
    while (!stopped.aborted) {
      this.records = [];
      try {
        await this.#client.lines('/console/requests', { query: { watch: 'true' }, signal: stopped }, (documents) => this.#take(documents));
      } catch (error) {
        if (isAborted(error)) return;
        this.error.value = error;
        if (isForbidden(error)) return;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #take(documents: readonly unknown[]): void {
    this.error.value = undefined;
    for (const document of documents as (RequestRecord | { dropped: number })[]) {
      if ('dropped' in document) this.dropped.value += document.dropped;
      else this.records.push(document);
    }
    if (this.records.length > MAX_RECORDS) this.records = this.records.slice(-MAX_RECORDS);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      this.version.value++;
    }, PUBLISH_MS);
  }
}
