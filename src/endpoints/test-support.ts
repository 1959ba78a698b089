import { type NextObject, convertObject, defaultObject } from '../registry/write.ts';
import { hasKind, schemaOfKind } from '../apis/facts/schemas.ts';
import type { ResourceDefinition, ServedVersion } from '../registry/definition.ts';
import type { LatencyPart } from '../registry/request-context.ts';
import type { DeleteResult, ListResult, ResourceStore, WatchSink, WriteResult } from '../registry/store.ts';
import { normalize } from '../schema/normalize.ts';
import { parseRequestInfo } from '../server/request-info.ts';
import type { Exchange, ResponseHeaders, ResponseStream } from '../serving/exchange.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject } from '../api/api-object.ts';
import { ApiError, notFound } from '../api/errors.ts';
import { serveResource } from './dispatch.ts';
import type { AuditRecorder, ServerRequest } from './request.ts';
import type { EndpointEnvironment, ResourceTarget } from './target.ts';
import { LooseEntry } from './view.ts';

/** Stand-ins for what lies around the endpoints: a store of a few objects, and an exchange that remembers its answer. */

/** An entry that keeps its forms, and counts how often each was made. */
export class FakeEntry extends LooseEntry implements CacheEntry {
  readonly made: string[] = [];
  readonly #forms = new Map<string, Buffer>();
  override form(name: string, make: () => Buffer): Buffer {
    let form = this.#forms.get(name);
    if (!form) {
      this.made.push(name);
      form = make();
      this.#forms.set(name, form);
    }
    return form;
  }
}

async function storedForm(decode: NextObject, current: ApiObject | undefined): Promise<ApiObject> {
  const sent = await decode(current);
  defaultObject(sent);
  return convertObject(sent).object;
}

export class FakeStore implements ResourceStore {
  readonly definition: ResourceDefinition;
  readonly ready = Promise.resolve();
  readonly admission = { mutate() {}, validate() {} };
  readonly entries = new Map<string, FakeEntry>();
  revision = 100;
  sink: WatchSink | undefined;
  isWatchClosed = false;
  watchError: Error | undefined;
  calls: unknown[] = [];

  constructor(definition: ResourceDefinition) {
    this.definition = definition;
  }

  put(object: ApiObject): FakeEntry {
    const stored = normalize(this.definition.schema, {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(++this.revision) },
    } as never) as unknown as ApiObject;
    const entry = new FakeEntry(stored);
    this.entries.set(stored.metadata.name!, entry);
    return entry;
  }

  get(_namespace: string, name: string): CacheEntry {
    const entry = this.entries.get(name);
    if (!entry) throw notFound({ group: this.definition.group, resource: this.definition.plural }, name);
    return entry;
  }

  list(_namespace: string, options: Parameters<ResourceStore['list']>[1]): ListResult {
    this.calls.push(options);
    const matching = [...this.entries.values()].filter((entry) => {
      const { metadata } = entry.object<ApiObject>();
      return options.selection.labels.matches(metadata.labels) && options.selection.fields.matches(() => metadata.name ?? '');
    });
    const entries = options.limit > 0 ? matching.slice(0, options.limit) : matching;
    const remaining = matching.length - entries.length;
    return { entries, revision: this.revision, continue: remaining > 0 ? 'next' : '', remainingItemCount: remaining > 0 ? remaining : undefined };
  }

  async watch(_namespace: string, options: unknown, sink: WatchSink): Promise<{ close(): void }> {
    this.calls.push(options);
    if (this.watchError) throw this.watchError;
    this.sink = sink;
    return { close: () => (this.isWatchClosed = true) };
  }

  async create(_context: unknown, _namespace: string, decode: NextObject, options: Parameters<ResourceStore['create']>[3]): Promise<WriteResult> {
    const object = await storedForm(decode, undefined);
    this.calls.push(options);
    if (options.dryRun) return { object: normalize(this.definition.schema, object as never) as never, entry: undefined, created: true };
    const entry = this.put(object);
    return { object: entry.object(), entry, created: true };
  }

  async update(_context: unknown, _namespace: string, name: string, decode: NextObject, options: unknown): Promise<WriteResult> {
    this.calls.push(options);
    const current = structuredClone(this.get('', name).object<ApiObject>());
    const entry = this.put(await storedForm(decode, current));
    return { object: entry.object(), entry, created: false };
  }

  async delete(_context: unknown, _namespace: string, name: string, options: Parameters<ResourceStore['delete']>[3]): Promise<DeleteResult> {
    this.calls.push(options);
    const object = this.get('', name).object<ApiObject>();
    const isGone = !object.metadata.finalizers;
    if (isGone) this.entries.delete(name);
    return { object, isGone, answersWithObject: !isGone };
  }

  async deleteCollection(_context: unknown, namespace: string, list: Parameters<ResourceStore['list']>[1], options: unknown): Promise<ListResult> {
    const found = this.list(namespace, list);
    this.calls.push(options);
    this.entries.clear();
    return found;
  }

  async amend(_namespace: string, name: string, change: (object: ApiObject) => void): Promise<ApiObject> {
    const object = structuredClone(this.get('', name).object<ApiObject>());
    change(object);
    return this.put(object).object();
  }

  withoutAdmission(): ResourceStore {
    return this;
  }
}

export const environment: EndpointEnvironment = {
  schemaOfKind: (group, version, kind) => (hasKind(group, version, kind) ? schemaOfKind(group, version, kind) : undefined),
  minRequestTimeoutMs: 1_800_000,
  random: () => 0.5,
  now: () => new Date('2026-01-01T00:05:00Z'),
};

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export function targetOf(
  kind: string,
  plural: string,
  group = '',
  version = 'v1',
  more: Partial<ResourceDefinition> & { served?: ServedVersion[] } = {},
): ResourceTarget & { store: FakeStore } {
  const schema = schemaOfKind(group, version, kind);
  const served = { group, version, kind, schema };
  const definition: ResourceDefinition = {
    ...served,
    settings: { features: new Set<string>(), allowsPrivileged: false },
    plural,
    singular: kind.toLowerCase(),
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: VERBS,
    storage: { prefix: plural },
    served: [served],
    ...more,
  };
  return { store: new FakeStore(definition), served: more.served?.[0] ?? served, isCustom: false, environment };
}

export const configMaps = (): ReturnType<typeof targetOf> => targetOf('ConfigMap', 'configmaps');

export const configMap = (name: string, data: Record<string, string> = { a: '1' }, labels?: Record<string, string>): ApiObject =>
  ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'ns', uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', ...(labels && { labels }) },
    data,
  }) as unknown as ApiObject;

/** What was answered, whole or as a stream. */
export class FakeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly httpVersion = '1.1';
  readonly remoteAddress = '127.0.0.1';
  readonly connection = { peerCertificates: [], requestClose() {}, destroy() {}, pauseReading: () => true, resumeReading() {} };
  isClosed = false;
  status = 0;
  answerHeaders: ResponseHeaders = {};
  readonly chunks: Buffer[] = [];
  readonly #body: Buffer;
  readonly #closeListeners: (() => void)[] = [];
  drainListeners: (() => void)[] = [];
  /** What `write` says, and how far behind the client is. */
  isSlow = false;
  bufferedBytes = 0;
  isEnded = false;
  isDestroyed = false;

  constructor(method: string, target: string, headers: Record<string, string>, body: Buffer) {
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.#body = body;
  }

  headerValues(name: string): string[] {
    return this.headers[name] === undefined ? [] : [this.headers[name]];
  }
  get isAnswered(): boolean {
    return this.status !== 0;
  }
  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }
  get text(): string {
    return this.body.toString();
  }
  /** The body as an answer that tests look into, of whatever kind. */
  get json(): Answer {
    return JSON.parse(this.text);
  }

  async readBody(limitBytes: number): Promise<Buffer> {
    if (this.#body.length > limitBytes) throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`);
    return this.#body;
  }
  openBody(): undefined {
    return undefined;
  }
  respond(status: number, headers: ResponseHeaders, body?: Buffer | string | readonly Buffer[]): void {
    this.startStream(status, headers);
    for (const part of Array.isArray(body) ? body : [body ?? '']) this.chunks.push(Buffer.from(part as Buffer));
    this.isEnded = true;
  }
  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    this.status = status;
    this.answerHeaders = headers;
    return new FakeStream(this);
  }
  upgrade(): undefined {}
  onClose(listener: () => void): void {
    this.#closeListeners.push(listener);
  }
  close(): void {
    this.isClosed = true;
    for (const listener of this.#closeListeners) listener();
  }
  drain(): void {
    const listeners = this.drainListeners;
    this.drainListeners = [];
    for (const listener of listeners) listener();
  }
}

class FakeStream implements ResponseStream {
  readonly #exchange: FakeExchange;
  constructor(exchange: FakeExchange) {
    this.#exchange = exchange;
  }
  get bufferedBytes(): number {
    return this.#exchange.bufferedBytes;
  }
  write(chunk: Buffer): boolean {
    // Long ones may be written over once they are out.
    this.#exchange.chunks.push(Buffer.from(chunk));
    return !this.#exchange.isSlow;
  }
  onDrain(listener: () => void): void {
    this.#exchange.drainListeners.push(listener);
  }
  end(): void {
    this.#exchange.isEnded = true;
  }
  destroy(): void {
    this.#exchange.isDestroyed = true;
  }
}

/** The fields that the tests read by name; the rest they match whole. */
export interface Answer {
  kind?: string;
  type?: string;
  code?: number;
  message?: string;
  metadata: { name?: string };
  data?: object;
  items: Answer[];
  details: { causes: { field: string }[] };
}

export interface Sent {
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
  /** Absent where nothing of the request is recorded. */
  audit?: AuditRecorder;
}

export interface Served {
  exchange: FakeExchange;
  warnings: string[];
  /** The parts whose time was noted, in order. */
  timed: LatencyPart[];
}

/** Sends a request through `serveResource`; an ApiError is answered as its Status. */
export async function serve(target: ResourceTarget, method: string, path: string, sent: Sent = {}): Promise<Served> {
  const body =
    sent.body === undefined
      ? Buffer.alloc(0)
      : Buffer.isBuffer(sent.body)
        ? sent.body
        : Buffer.from(typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body));
  const exchange = new FakeExchange(method, path, sent.headers ?? {}, body);
  const warnings: string[] = [];
  const timed: LatencyPart[] = [];
  const request: ServerRequest = {
    exchange,
    query: new URLSearchParams(path.split('?')[1] ?? ''),
    info: parseRequestInfo(method, path),
    user: { name: 'alice', groups: [] },
    auditId: 'audit',
    receivedAtMs: 0,
    responseHeaders: {},
    warnings,
    deadlineMs: undefined,
    userAgent: sent.headers?.['user-agent'] ?? 'test',
    warn: (text) => warnings.push(text),
    annotateAudit: () => {},
    noteLatency: (part, durationMs) => void (durationMs > 0 && timed.push(part)),
    audit: sent.audit,
    signal: sent.signal,
  };
  try {
    await serveResource(request, target);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    exchange.respond(error.code, {}, JSON.stringify(error.status));
  }
  return { exchange, warnings, timed };
}
