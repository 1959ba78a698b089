import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import { follow } from '../api/follow.ts';
import { type ApiObject, METADATA_ONLY, type ObjectList } from '../api/objects.ts';

/** The names of all namespaces, live; none where the user may not list them. */
export class Namespaces {
  readonly names = signal<readonly string[]>([]);
  readonly isRefused = signal(false);
  readonly #client: Client;
  readonly #all = new Set<string>();
  #stop = new AbortController();

  constructor(client: Client) {
    this.#client = client;
  }

  start(): void {
    this.stop();
    this.#stop = new AbortController();
    void follow(
      this.#client,
      { path: '/api/v1/namespaces', accept: METADATA_ONLY, signal: this.#stop.signal },
      {
        page: (body, isFirst) => {
          if (isFirst) this.#all.clear();
          for (const { metadata } of (body as ObjectList).items) this.#all.add(metadata.name);
        },
        listed: () => this.#publish(),
        events: (events) => {
          for (const { type, object } of events) {
            const { name } = (object as ApiObject).metadata;
            if (type === 'DELETED') this.#all.delete(name);
            else this.#all.add(name);
          }
          this.#publish();
        },
        refused: () => {
          this.isRefused.value = true;
        },
      },
    );
  }

  stop(): void {
    this.#stop.abort();
    this.isRefused.value = false;
  }

  #publish(): void {
    this.names.value = [...this.#all].sort();
  }
}
