import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import type { Resource } from '../api/discovery.ts';
import { follow } from '../api/follow.ts';
import type { ApiObject, ObjectList } from '../api/objects.ts';
import { type ResourcePath, formatPath } from '../api/resource-path.ts';
import { pastPath } from '../history/change.ts';
import { isAborted } from '../api/status.ts';

export type ObjectState = 'loading' | 'live' | 'still' | 'deleted' | 'past' | 'failed';

/** One object, followed while somebody looks at it. */
export class LiveObject {
  readonly object = signal<ApiObject | undefined>(undefined);
  readonly state = signal<ObjectState>('loading');
  readonly error = signal<unknown>(undefined);
  readonly #client: Client;
  #stop = new AbortController();

  constructor(client: Client) {
    this.#client = client;
  }

  async open(place: ResourcePath & { name: string }, resource: Resource): Promise<void> {
    const stopped = this.#begin();
    try {
      const object = await this.#client.json<ApiObject>(formatPath(place), { signal: stopped });
      this.object.value = object;
      this.state.value = 'still';
      if (resource.verbs.includes('watch')) await this.#watch(place, object, stopped);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** As it was at some moment. */
  async openPast(place: ResourcePath & { name: string }, at: string): Promise<void> {
    const stopped = this.#begin();
    try {
      this.object.value = await this.#client.json<ApiObject>(pastPath(place), { query: { at }, signal: stopped });
      this.state.value = 'past';
    } catch (error) {
      this.#fail(error);
    }
  }

  close(): void {
    this.#stop.abort();
  }

  #begin(): AbortSignal {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.error.value = undefined;
    return this.#stop.signal;
  }

  #fail(error: unknown): void {
    if (isAborted(error)) return;
    this.object.value = undefined;
    this.error.value = error;
    this.state.value = 'failed';
  }

  async #watch(place: ResourcePath & { name: string }, first: ApiObject, stopped: AbortSignal): Promise<void> {
    const { name, ...collection } = place;
    const take = (object: ApiObject): void => {
      // Items of lists leave out what the list says of all of them.
      this.object.value = { ...object, apiVersion: first.apiVersion ?? '', kind: first.kind ?? '' };
      this.state.value = 'live';
    };
    const request = {
      path: formatPath(collection),
      query: { fieldSelector: `metadata.name=${name}` },
      accept: 'application/json',
      from: first.metadata.resourceVersion ?? '0',
      signal: stopped,
    };
    await follow(this.#client, request, {
      page: (body) => {
        const [item] = (body as ObjectList).items;
        if (item) take(item);
        else this.state.value = 'deleted';
      },
      events: (events) => {
        for (const { type, object } of events) {
          if (type === 'DELETED') this.state.value = 'deleted';
          else take(object as ApiObject);
        }
      },
      state: (state) => {
        if (state === 'live' && this.state.value === 'still') this.state.value = 'live';
      },
      // Who may get an object need not be allowed to watch it.
      refused: () => {
        this.state.value = 'still';
      },
    });
  }
}
