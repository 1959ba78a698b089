import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import { type Discovery, discover } from '../api/discovery.ts';
import { follow } from '../api/follow.ts';
import { METADATA_ONLY } from '../api/objects.ts';
import { isAborted } from '../api/status.ts';

const SETTLE_MS = 300;
const POLL_MS = 60_000;

/**
 * What the server serves, kept current: asked for again when a definition or an API service changes. Whoever may not watch those has it asked for each minute.
 */
export class LiveDiscovery {
  readonly current = signal<Discovery | undefined>(undefined);
  readonly #client: Client;
  #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPolled = false;

  constructor(client: Client) {
    this.#client = client;
  }

  start(): void {
    this.stop();
    this.#stop = new AbortController();
    this.#isPolled = false;
    void this.#load().then(() => {
      for (const path of ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', '/apis/apiregistration.k8s.io/v1/apiservices']) this.#followSource(path);
    });
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  #followSource(path: string): void {
    void follow(
      this.#client,
      { path, accept: METADATA_ONLY, signal: this.#stop.signal },
      {
        events: () => this.#loadIn(SETTLE_MS),
        refused: () => {
          this.#isPolled = true;
          this.#loadIn(POLL_MS);
        },
      },
    );
  }

  #loadIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(), delayMs);
  }

  async #load(): Promise<void> {
    try {
      this.current.value = await discover(this.#client, this.#stop.signal);
    } catch (error) {
      if (isAborted(error)) return;
      this.#loadIn(POLL_MS / 10);
    }
    if (this.#isPolled) this.#loadIn(POLL_MS);
  }
}
