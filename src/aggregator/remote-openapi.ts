import { createHash } from 'node:crypto';
import { WorkQueue } from '../controllers/work-queue.ts';
import type { QueueMetricsOf } from '../controllers/work-queue-metrics.ts';
import { convertToV3 } from '../server/openapi/convert-v3.ts';
import { filterByPaths } from '../server/openapi/merge-v2.ts';
import type { RemoteDocument } from '../server/remote-apis.ts';
import { isJsonObject, parseLongJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { LIMITS } from '../util/limits.ts';
import { type SlicedWork, runInSlices } from '../util/time-slice.ts';
import type { User } from '../api/user.ts';
import type { RemoteApi } from './remote-api.ts';
import type { RemoteRegistry } from './remote-registry.ts';

export interface RemoteOpenApiOptions {
  signal: AbortSignal;
  report(error: Error): void;
  /** Absent where nothing is counted. */
  queueMetrics?: QueueMetricsOf;
  /** What `v2` or `v3` answers has become another. */
  onChange(): void;
}

/** Upstream's, who has no rights but those of everyone who has a name. */
const USER: User = { name: 'system:aggregator', groups: [] };
const REFRESH_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const TIMEOUT_MS = 60_000;

interface Specs {
  /** Of the whole of v2, as its server tagged it. */
  etag?: string;
  /** Of its bytes, for servers that tag nothing. */
  hash?: string;
  v2?: JsonObject | undefined;
  /** The index of v3, by path. */
  v3: ReadonlyMap<string, RemoteDocument>;
}

/**
 * Keeps what other servers say of their types: of OpenAPI v2 the whole, to be merged; of v3 where the documents are (kube-aggregator/pkg/controllers/openapi
 * and openapiv3). What was learned last stays while a server is away.
 */
export class RemoteOpenApi {
  readonly #registry: RemoteRegistry;
  readonly #options: RemoteOpenApiOptions;
  readonly #specs = new Map<string, Specs>();
  readonly #failures = new Map<string, number>();
  readonly #queue: WorkQueue;

  constructor(registry: RemoteRegistry, options: RemoteOpenApiOptions) {
    this.#registry = registry;
    this.#options = options;
    this.#queue = new WorkQueue((name) => this.#sync(name), { ...options, name: 'open_api_aggregation_controller' });
  }

  start(): void {
    this.#registry.onChange((name) => this.#queue.add(name));
    for (const { name } of this.#registry.all()) this.#queue.add(name);
  }

  v2({ name }: RemoteApi): JsonObject | undefined {
    return this.#specs.get(name)?.v2;
  }

  v3({ name }: RemoteApi): ReadonlyMap<string, RemoteDocument> | undefined {
    return this.#specs.get(name)?.v3;
  }

  async #sync(name: string): Promise<number | void> {
    const api = this.#registry.get(name);
    if (!api) {
      this.#failures.delete(name);
      if (this.#specs.delete(name)) this.#options.onChange();
      return;
    }
    // When it is available again, that is a change.
    if (!api.isAvailable) return;
    try {
      await this.#refresh(api);
      this.#failures.delete(name);
      return REFRESH_MS;
    } catch {
      const failures = this.#failures.get(name) ?? 0;
      this.#failures.set(name, failures + 1);
      return Math.min(FIRST_RETRY_MS * 2 ** failures, REFRESH_MS);
    }
  }

  async #refresh(api: RemoteApi): Promise<void> {
    const known = this.#specs.get(api.name);
    const index = await fetchIndex(api);
    const whole = await fetchWholeV2(api, known);
    const v3 = index ?? (whole.v2 === known?.v2 && known ? known.v3 : await convertedIndex(api, whole.v2));
    const isSame = known !== undefined && whole.v2 === known.v2 && indexText(v3) === indexText(known.v3);
    this.#specs.set(api.name, { ...whole, v3: isSame ? known.v3 : v3 });
    if (!isSame) this.#options.onChange();
  }
}

/** A document that was made is another when what it was made of is. */
const indexText = (index: ReadonlyMap<string, RemoteDocument>): string =>
  [...index].map(([path, remote]) => `${path} ${'document' in remote ? '' : remote.serverRelativeUrl}`).join('\n');

async function convertedIndex({ group, version }: RemoteApi, v2: JsonObject | undefined): Promise<ReadonlyMap<string, RemoteDocument>> {
  return new Map(v2 ? [[`apis/${group}/${version}`, { document: await runInSlices(convertToV3(v2)) }]] : []);
}

/** Undefined where the server knows nothing of v3. */
async function fetchIndex(api: RemoteApi): Promise<ReadonlyMap<string, RemoteDocument> | undefined> {
  const { status, body } = await api.fetch('/openapi/v3', { user: USER, timeoutMs: TIMEOUT_MS, limitBytes: LIMITS.remoteOpenApiBytes });
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`could not get the list of group versions of ${api.name}: ${status}`);
  const index = await parseLongJson(body);
  const paths = isJsonObject(index) && isJsonObject(index['paths']) ? index['paths'] : {};
  // Nobody has so many; what it has of v2 may still be told.
  if (Object.keys(paths).length > LIMITS.remoteOpenApiEntries) return new Map();
  const documents = Object.entries(paths).map(([path, document]): [string, RemoteDocument] => {
    const url = isJsonObject(document) ? document['serverRelativeURL'] : undefined;
    return [path, { serverRelativeUrl: typeof url === 'string' ? url : '', serve: api.handle }];
  });
  return new Map(documents);
}

async function fetchWholeV2(api: RemoteApi, known: Specs | undefined): Promise<Omit<Specs, 'v3'>> {
  const headers = { accept: 'application/json', ...(known?.etag !== undefined && { 'if-none-match': known.etag }) };
  const {
    status,
    headers: answered,
    body,
  } = await api.fetch('/openapi/v2', {
    user: USER,
    headers,
    timeoutMs: TIMEOUT_MS,
    limitBytes: LIMITS.remoteOpenApiBytes,
  });
  if (status === 304 && known?.etag !== undefined) return known;
  if (status === 404) return { v2: undefined };
  if (status !== 200) throw new Error(`failed to retrieve openAPI spec of ${api.name}: ${status}`);
  const hash = createHash('sha256').update(body).digest('base64');
  if (hash === known?.hash) return known;
  const document = await parseLongJson(body);
  if (!isJsonObject(document)) throw new Error(`the openAPI spec of ${api.name} is no object`);
  await runInSlices(checkSize(document));
  const v2 = await runInSlices(filterByPaths(document, [`/apis/${api.group}/${api.version}/`]));
  const { etag } = answered;
  return { v2, hash, ...(typeof etag === 'string' && etag !== '' && { etag }) };
}

/** What is done with a document takes turns between its entries, and so none of these may be large. */
function* checkSize(document: JsonObject): SlicedWork<void> {
  const maps = ['paths', 'definitions', 'parameters'].map((name) => document[name]).filter((map) => isJsonObject(map));
  const entries = maps.flatMap((map) => Object.entries(map));
  if (entries.length > LIMITS.remoteOpenApiEntries) throw new Error(`the openAPI spec has more than ${LIMITS.remoteOpenApiEntries} entries`);
  for (const [name, value] of entries) {
    if (!hasFewValues(value)) throw new Error(`${name} of the openAPI spec has more than ${LIMITS.remoteOpenApiEntryValues} values`);
    yield;
  }
}

function hasFewValues(value: Json | undefined): boolean {
  const waiting = [value];
  for (let count = 0; waiting.length > 0; count++) {
    if (count + waiting.length > LIMITS.remoteOpenApiEntryValues) return false;
    const next = waiting.pop();
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return true;
}
