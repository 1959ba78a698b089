import type { JsonObject } from '../encoding/json-types.ts';
import { delay } from '../util/delay.ts';
import { type ClusterClient, ClusterError } from './cluster-client.ts';
import { pathOf } from './cluster-resources.ts';
import type { RecordedResource } from './flight-format.ts';
import type { FlightWriter } from './flight-writer.ts';
import { listOf, memberOf, textOf, versionOf } from './json-fields.ts';
import { recordedObject } from './resource-choice.ts';

const PAGE_OBJECTS = 500;
/** Servers end watches after five to ten minutes by themselves. */
const WATCH_SECONDS = 300;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** What the server says when the versions that a watch or a page would begin with are no longer kept. */
const GONE = 410;

interface ResourceRecorderParts {
  client: ClusterClient;
  writer: FlightWriter;
  resource: RecordedResource;
  now: () => number;
  /** At most so many lists at once, of all resources. */
  takeTurn: <T>(list: () => Promise<T>) => Promise<T>;
  /** A problem that the recorder goes on after. */
  onProblem: (message: string) => void;
  /** Called for every object that is written. */
  onChange: () => void;
}

/** Records the objects of one resource: lists them, watches, and lists again where a watch cannot go on from where it was. */
export class ResourceRecorder {
  readonly #parts: ResourceRecorderParts;
  readonly #number: number;
  readonly #keys = new Set<string>();
  readonly #stop = new AbortController();
  /** Until when the server has told everything. */
  #completeUntilMs: number | undefined;
  #ended: Promise<void> | undefined;
  #onListed!: () => void;
  /** Resolves when the first list is written, or cannot be had. */
  readonly listed = new Promise<void>((resolve) => (this.#onListed = resolve));

  constructor(parts: ResourceRecorderParts) {
    this.#parts = parts;
    this.#number = parts.writer.addResource(parts.resource, parts.now());
  }

  get resource(): RecordedResource {
    return this.#parts.resource;
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** `isGone`: the server has the resource no more, and so none of its objects. */
  async stop({ isGone }: { isGone: boolean }): Promise<void> {
    this.#stop.abort();
    await this.#ended;
    if (isGone) for (const key of this.#keys) this.#delete(key);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let version: string | undefined;
    for (let failures = 0; !signal.aborted;) {
      try {
        version ??= await this.#parts.takeTurn(() => this.#list());
        this.#onListed();
        version = await this.#watch(version);
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof ClusterError && error.status === GONE) version = undefined;
        else this.#parts.onProblem(this.#problemOf(error as Error));
        this.#onListed();
        await delay(Math.min(FIRST_DELAY_MS * 2 ** failures++, MAX_DELAY_MS), signal);
      }
    }
    this.#onListed();
  }

  /** Where the server does not answer, it is the same for every resource. */
  #problemOf(error: Error): string {
    return error instanceof ClusterError ? `${this.#parts.resource.plural}: ${error.message}` : error.message;
  }

  /** Answers the version of the list. */
  async #list(): Promise<string> {
    const { client, writer, now } = this.#parts;
    const startMs = now();
    const seen = new Set<string>();
    let [page, version] = ['', ''];
    if (this.#completeUntilMs !== undefined) writer.gap(this.#number, this.#completeUntilMs, startMs);
    do {
      const list = await client.get(`${this.#path}?limit=${PAGE_OBJECTS}${page === '' ? '' : `&continue=${encodeURIComponent(page)}`}`, this.#stop.signal);
      [page, version] = [textOf(memberOf(list, 'metadata')['continue']), versionOf(list)];
      for (const item of listOf(list['items'])) seen.add(this.#put(item, startMs));
    } while (page !== '');
    for (const key of this.#keys) if (!seen.has(key)) this.#delete(key);
    this.#completeUntilMs = now();
    writer.listed(this.#number, this.#completeUntilMs, version);
    return version;
  }

  /** Until the server ends it; answers the version from which the next one goes on. */
  async #watch(from: string): Promise<string> {
    const { client, resource, now } = this.#parts;
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${encodeURIComponent(from)}`;
    let version = from;
    for await (const { type, object } of client.watch(`${this.#path}?${query}`, this.#stop.signal)) {
      if (type === 'ERROR') throw new ClusterError(textOf(object['message']), Number(object['code'] ?? 0));
      version = versionOf(object) || version;
      this.#completeUntilMs = now();
      if (type === 'DELETED') this.#delete(recordedObject(resource, object).key, version);
      else if (type !== 'BOOKMARK') this.#put(object, now());
    }
    return version;
  }

  #put(item: JsonObject, timeMs: number): string {
    const { resource, writer, onChange } = this.#parts;
    const { key, object } = recordedObject(resource, item);
    this.#keys.add(key);
    writer.put(this.#number, key, object, timeMs);
    onChange();
    return key;
  }

  #delete(key: string, resourceVersion?: string): void {
    if (!this.#keys.delete(key)) return;
    this.#parts.writer.delete(this.#number, key, this.#parts.now(), resourceVersion);
    this.#parts.onChange();
  }

  get #path(): string {
    return pathOf(this.#parts.resource);
  }
}
