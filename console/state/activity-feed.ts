import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import { isAborted, isForbidden } from '../api/status.ts';
import type { Activity } from '../server/activity.ts';

/** What charts show of one poll. */
export interface ActivitySample {
  rssBytes: number;
  heapUsedBytes: number;
  loopP99Ms: number;
  loopMaxMs: number;
  cpuPercent: number;
  inFlight: number;
}

const INTERVAL_MS = 1_000;
export const MAX_SAMPLES = 120;

/** What the server is doing, asked for each second while somebody looks. */
export class ActivityFeed {
  readonly latest = signal<Activity | undefined>(undefined);
  readonly samples = signal<readonly ActivitySample[]>([]);
  readonly error = signal<unknown>(undefined);
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Gives back what ends it. */
  follow(): () => void {
    const stop = new AbortController();
    void this.#run(stop.signal);
    return () => stop.abort();
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      try {
        this.#take(await this.#client.json<Activity>('/console/activity', { signal: stopped }));
        this.error.value = undefined;
      } catch (error) {
        if (isAborted(error)) return;
        this.error.value = error;
        if (isForbidden(error)) return;
      }
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }

  #take(activity: Activity): void {
    const previous = this.latest.value;
    const passedMs = previous === undefined ? 0 : Date.parse(activity.time) - Date.parse(previous.time);
    const cpuSeconds = previous === undefined ? 0 : activity.process.cpuSeconds - previous.process.cpuSeconds;
    const sample = {
      rssBytes: activity.process.rssBytes,
      heapUsedBytes: activity.process.heapUsedBytes,
      loopP99Ms: activity.eventLoop.p99Ms,
      loopMaxMs: activity.eventLoop.maxMs,
      cpuPercent: passedMs > 0 ? (100_000 * cpuSeconds) / passedMs : 0,
      inFlight: activity.requests.inFlightReadOnly + activity.requests.inFlightMutating,
    };
    this.latest.value = activity;
    this.samples.value = [...this.samples.value, sample].slice(-MAX_SAMPLES);
  }
}
