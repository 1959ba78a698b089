import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import { follow } from '../api/follow.ts';
import type { ObjectList } from '../api/objects.ts';
import { isAborted } from '../api/status.ts';
import type { Change } from '../history/change.ts';

const PAGE_SIZE = 500;
const MAX_CHANGES = 2_000;

/** What was changed, oldest first: the latest so many, and what comes while somebody looks. */
export class ChangeLog {
  readonly changes = signal<readonly Change[]>([]);
  readonly hasMore = signal(false);
  readonly error = signal<unknown>(undefined);
  readonly #client: Client;
  #stop = new AbortController();
  #next: string | undefined;
  #request = { path: '', fieldSelector: '' };

  constructor(client: Client) {
    this.#client = client;
  }

  async open(path: string, fieldSelector: string): Promise<void> {
    this.close();
    this.#stop = new AbortController();
    const { signal: stopped } = this.#stop;
    this.#request = { path, fieldSelector };
    this.changes.value = [];
    try {
      const version = await this.#loadPage(undefined, stopped);
      await follow(
        this.#client,
        { path, query: { fieldSelector }, accept: 'application/json', from: version, signal: stopped },
        { events: (events) => this.#add(events.filter(({ type }) => type === 'ADDED').map(({ object }) => object as Change)) },
      );
    } catch (error) {
      if (!isAborted(error)) this.error.value = error;
    }
  }

  async loadOlder(): Promise<void> {
    if (this.#next !== undefined) await this.#loadPage(this.#next, this.#stop.signal);
  }

  close(): void {
    this.#stop.abort();
  }

  async #loadPage(next: string | undefined, stopped: AbortSignal): Promise<string> {
    const { path, fieldSelector } = this.#request;
    const query = { fieldSelector, order: 'newest', limit: String(PAGE_SIZE), continue: next };
    const { items, metadata } = await this.#client.json<ObjectList<Change>>(path, { query, signal: stopped });
    this.changes.value = [...items.toReversed(), ...this.changes.value].slice(-MAX_CHANGES);
    this.#next = metadata.continue || undefined;
    this.hasMore.value = this.#next !== undefined && this.changes.value.length < MAX_CHANGES;
    return metadata.resourceVersion ?? '';
  }

  #add(changes: readonly Change[]): void {
    const known = new Set(this.changes.value.map(({ metadata }) => metadata.name));
    this.changes.value = [...this.changes.value, ...changes.filter(({ metadata }) => !known.has(metadata.name))].slice(-MAX_CHANGES);
  }
}
