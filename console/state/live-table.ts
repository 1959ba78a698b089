import { signal } from '@preact/signals';
import type { Client } from '../api/client.ts';
import { type FollowState, follow } from '../api/follow.ts';
import type { ApiError } from '../api/status.ts';
import { isAborted } from '../api/status.ts';
import { TableModel } from '../table/table-model.ts';
import { TABLE, type TableBody, rowEvents, rowsOf } from '../table/table-rows.ts';

export interface TableRequest {
  path: string;
  labelSelector: string;
  fieldSelector: string;
}

/** A collection as rows, followed while somebody looks at it. Readers look at `version`, which changes at most once a frame. */
export class LiveTable {
  readonly model = new TableModel();
  readonly version = signal(0);
  readonly state = signal<FollowState | 'refused' | 'past'>('loading');
  readonly error = signal<ApiError | undefined>(undefined);
  readonly #client: Client;
  #stop = new AbortController();
  #isScheduled = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Shows another collection: what was shown goes when the first page of the new one is there. */
  open({ path, labelSelector, fieldSelector }: TableRequest): void {
    const stopped = this.#begin();
    let isFirst = true;
    void follow(
      this.#client,
      { path, query: { labelSelector, fieldSelector }, accept: TABLE, signal: stopped },
      {
        page: (body, isFirstPage) => {
          if (isFirst || isFirstPage) this.#startWith(body as TableBody);
          else this.model.add(rowsOf(body as TableBody));
          isFirst = false;
          this.#publish();
        },
        listed: () => this.#publish(),
        events: (events) => {
          this.model.apply(rowEvents(events), Date.now());
          this.#publish();
        },
        state: (state) => {
          this.state.value = state;
        },
        refused: (error) => this.#refuse(error),
      },
    );
  }

  /** Shows the rows of one answer, which does not change any more: a moment of history. */
  async openOnce(path: string, query: Record<string, string>): Promise<void> {
    const stopped = this.#begin();
    try {
      const body = await this.#client.json<TableBody>(path, { accept: TABLE, query, signal: stopped });
      this.#startWith(body);
      this.state.value = 'past';
      this.#publish();
    } catch (error) {
      if (!isAborted(error)) this.#refuse(error as ApiError);
    }
  }

  close(): void {
    this.#stop.abort();
  }

  /** After the model was searched or sorted. */
  refresh(): void {
    this.version.value++;
  }

  #begin(): AbortSignal {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.error.value = undefined;
    return this.#stop.signal;
  }

  #startWith(body: TableBody): void {
    if (body.columnDefinitions) this.model.setColumns(body.columnDefinitions);
    this.model.replaceAll(rowsOf(body));
  }

  #refuse(error: ApiError): void {
    this.model.clear();
    this.error.value = error;
    this.state.value = 'refused';
    this.#publish();
  }

  #publish(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.version.value++;
    });
  }
}
