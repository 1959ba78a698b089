import { hostname } from 'node:os';
import type { Event } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { microTimeOf } from '../../util/time.ts';

/** The same finding within this time is one event, with a series that counts (client-go/tools/events, finishTime). */
const SERIES_MS = 6 * 60_000;
const MAX_REMEMBERED = 4096;
/** Further ones are dropped, as client-go's broadcaster drops them. */
const MAX_WAITING = 1000;

export interface Finding {
  reason: string;
  action: string;
  note: string;
}

interface Remembered {
  namespace: string;
  name: string;
  count: number;
  lastMs: number;
}

/** Warnings about services and their addresses, as Event objects beside them; what cannot be written is reported instead. */
export class RepairEvents {
  readonly #client: Client;
  readonly #controller: string;
  readonly #options: { report(error: Error): void; now(): Date };
  /** By object, reason and action; the oldest goes first. */
  readonly #remembered = new Map<string, Remembered>();
  #written: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** `controller`: whom the events name as their source, `ipallocator-repair-controller`. */
  constructor(client: Client, controller: string, options: { report(error: Error): void; now(): Date }) {
    this.#client = client;
    this.#controller = controller;
    this.#options = options;
  }

  /** Nobody waits for it: admission webhooks may be asked about events, and at start-up they may not answer yet. */
  warn(kind: { apiVersion: string; kind: string }, object: ApiObject, finding: Finding): void {
    if (this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    this.#written = this.#written.then(async () => {
      await this.#write(kind, object, finding);
      this.#waiting--;
    });
  }

  /** When all that was told so far is written. */
  get written(): Promise<void> {
    return this.#written;
  }

  async #write(kind: { apiVersion: string; kind: string }, { metadata }: ApiObject, finding: Finding): Promise<void> {
    const now = this.#options.now();
    const key = [kind.kind, metadata.namespace, metadata.name, metadata.uid, finding.reason, finding.action].join(' ');
    const known = this.#remembered.get(key);
    try {
      if (known && now.getTime() - known.lastMs < SERIES_MS) await this.#repeat(known, now);
      else this.#remember(key, await this.#create(kind, metadata, finding, now));
    } catch (error) {
      this.#options.report(error as Error);
    }
  }

  async #create(kind: { apiVersion: string; kind: string }, metadata: ApiObject['metadata'], finding: Finding, now: Date): Promise<Remembered> {
    const { namespace, name = '', uid, resourceVersion } = metadata;
    const event: Event = {
      kind: 'Event',
      apiVersion: 'v1',
      // Named as client-go names events: after their object and the nanosecond in hexadecimal.
      metadata: { name: `${name}.${(BigInt(now.getTime()) * 1_000_000n).toString(16)}`, namespace: namespace ?? 'default' },
      involvedObject: { ...kind, name, ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
      reason: finding.reason,
      message: finding.note,
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      type: 'Warning',
      eventTime: microTimeOf(now),
      action: finding.action,
      reportingComponent: this.#controller,
      reportingInstance: `${this.#controller}-${hostname()}`,
    };
    await this.#client.resource<Event>('', 'events').create(event.metadata.namespace!, event);
    return { namespace: event.metadata.namespace!, name: event.metadata.name!, count: 1, lastMs: now.getTime() };
  }

  async #repeat(known: Remembered, now: Date): Promise<void> {
    known.count++;
    known.lastMs = now.getTime();
    await this.#client.resource<Event>('', 'events').update(known.namespace, known.name, (event) => {
      event.series = { count: known.count, lastObservedTime: microTimeOf(now) };
    });
  }

  #remember(key: string, made: Remembered): void {
    this.#remembered.delete(key);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!);
    this.#remembered.set(key, made);
  }
}
