import type { Readable } from 'node:stream';
import type { DeleteChoices, Informer, ResourceClient, ResourceIdentity } from '../client/client.ts';
import { streamOf } from '../serving/proxy/answer.ts';
import type { ApiObject } from '../api/api-object.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import { isJsonObject, parseLongJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { ALL_AUTHENTICATED, SYSTEM_PRIVILEGED_GROUP, type User } from '../api/user.ts';
import type { RemoteApi } from './remote-api.ts';
import { type RemoteChange, type RemoteFeed, RemoteInformer } from './remote-informer.ts';
import { onAbort } from '../util/on-abort.ts';

/** As our own controllers are known to our own stores. */
const USER: User = { name: 'system:apiserver', groups: [SYSTEM_PRIVILEGED_GROUP, ALL_AUTHENTICATED] };
const TIMEOUT_MS = 30_000;
const PAGE = 500;
const MAX_PAGES = 10_000;
const MAX_LINE_BYTES = 4 << 20;
const MAX_CONFLICTS = 5;
const JSON_TYPE = 'application/json';
const asMetadata = (kind: string): string => `${JSON_TYPE};as=${kind};g=meta.k8s.io;v=v1,${JSON_TYPE}`;

/** A resource that another server has, over HTTP. Lists and the informer have the metadata of objects alone, where the server can leave out the rest. */
export class RemoteResourceClient implements ResourceClient {
  readonly informer: Informer;
  readonly #api: () => RemoteApi | undefined;
  readonly #identity: ResourceIdentity;
  readonly #fieldManager: string;

  /** `api`: the way there; undefined when it is registered no more. */
  constructor(identity: ResourceIdentity, api: () => RemoteApi | undefined, signal: AbortSignal, fieldManager = 'kube-apiserver', informer?: Informer) {
    this.#identity = identity;
    this.#api = api;
    this.#fieldManager = fieldManager;
    this.informer = informer ?? new RemoteInformer(metadataFeed(this), signal);
  }

  /** The same for another field manager. */
  as(fieldManager: string | undefined, signal: AbortSignal): RemoteResourceClient {
    return fieldManager === undefined ? this : new RemoteResourceClient(this.#identity, this.#api, signal, fieldManager, this.informer);
  }

  async get(namespace: string, name: string): Promise<ApiObject | undefined> {
    try {
      return asObject(await this.#ask('GET', this.#path(namespace, name)));
    } catch (error) {
      // Not a server that does not know the path: only it says what it has not.
      if (isApiError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async list(namespace = ''): Promise<ApiObject[]> {
    return (await this.listAll(namespace)).items;
  }

  async create(namespace: string, object: ApiObject): Promise<ApiObject> {
    return asObject(await this.#ask('POST', this.#path(namespace, ''), { body: object as unknown as JsonObject }));
  }

  async update(namespace: string, name: string, change: (object: ApiObject) => boolean | void, subresource = ''): Promise<ApiObject> {
    for (let conflicts = 0; ; conflicts++) {
      const object = asObject(await this.#ask('GET', this.#path(namespace, name)));
      if (change(object) === false) return object;
      try {
        return asObject(await this.#ask('PUT', this.#path(namespace, name, subresource), { body: object as unknown as JsonObject }));
      } catch (error) {
        if (!isApiError(error, 'Conflict') || conflicts === MAX_CONFLICTS) throw error;
      }
    }
  }

  async apply(namespace: string, name: string, config: ApiObject, subresource = ''): Promise<ApiObject> {
    const type = 'application/apply-patch+yaml';
    return asObject(await this.#ask('PATCH', `${this.#path(namespace, name, subresource)}&force=true`, { body: config as unknown as JsonObject, type }));
  }

  async delete(namespace: string, name: string, choices: DeleteChoices = {}): Promise<void> {
    await this.#ask('DELETE', this.#path(namespace, name), { body: { kind: 'DeleteOptions', apiVersion: 'v1', ...choices } as JsonObject });
  }

  async listAll(namespace: string): Promise<{ items: ApiObject[]; resourceVersion: string }> {
    const items: ApiObject[] = [];
    for (let page = 0, token = ''; page < MAX_PAGES; page++) {
      const path = `${this.#path(namespace, '')}&limit=${PAGE}&continue=${encodeURIComponent(token)}`;
      const list = await this.#ask('GET', path, { accept: asMetadata('PartialObjectMetadataList') });
      const metadata = isJsonObject(list) && isJsonObject(list['metadata']) ? list['metadata'] : {};
      if (isJsonObject(list) && Array.isArray(list['items'])) items.push(...list['items'].filter(isJsonObject).map(asObject));
      token = typeof metadata['continue'] === 'string' ? metadata['continue'] : '';
      if (token === '') return { items, resourceVersion: typeof metadata['resourceVersion'] === 'string' ? metadata['resourceVersion'] : '' };
    }
    throw new Error('the list of another server does not end');
  }

  async *watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<RemoteChange> {
    const path = `${this.#path('', '')}&watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(resourceVersion)}`;
    const call = this.#reached().stream(path, { user: USER, headers: { accept: asMetadata('PartialObjectMetadata') } });
    const stopWaiting = onAbort(signal, () => call.cancel());
    try {
      const { status, body } = await call.response;
      if (status !== 200) throw new Error(`a watch was answered ${status}`);
      for await (const line of linesOf(streamOf(body))) {
        const { type, object } = (await parseLongJson(line)) as { type?: Json; object?: Json };
        if (typeof type !== 'string' || type === 'ERROR' || !isJsonObject(object!)) throw new Error('the watch has ended');
        yield { type, object: asObject(object) };
      }
    } finally {
      stopWaiting();
      call.cancel();
    }
  }

  #path(namespace: string, name: string, subresource = ''): string {
    const { group, version, plural } = this.#identity;
    const parts = [group === '' ? `/api/${version}` : `/apis/${group}/${version}`];
    if (namespace !== '') parts.push('namespaces', encodeURIComponent(namespace));
    parts.push(plural);
    if (name !== '') parts.push(encodeURIComponent(name));
    if (subresource !== '') parts.push(subresource);
    return `${parts.join('/')}?fieldManager=${encodeURIComponent(this.#fieldManager)}`;
  }

  #reached(): RemoteApi {
    const api = this.#api();
    if (!api?.isAvailable) throw new Error(`${this.#identity.plural}.${this.#identity.group} is on a server that is not available`);
    return api;
  }

  async #ask(
    method: string,
    path: string,
    { body, type = JSON_TYPE, accept = JSON_TYPE }: { body?: JsonObject; type?: string; accept?: string } = {},
  ): Promise<Json> {
    const headers = { accept, ...(body && { 'content-type': type }) };
    const sent = body && Buffer.from(JSON.stringify(body));
    const answer = await this.#reached().fetch(path, { user: USER, method, headers, body: sent, timeoutMs: TIMEOUT_MS });
    const value = String(answer.headers['content-type']).startsWith(JSON_TYPE) ? await parseLongJson(answer.body) : null;
    if (answer.status >= 200 && answer.status < 300) return value;
    throw refusal(answer.status, value);
  }
}

const metadataFeed = (client: RemoteResourceClient): RemoteFeed => ({
  list: () => client.listAll(''),
  watch: (resourceVersion, signal) => client.watch(resourceVersion, signal),
});

/** The server's own Status counts; an answer that has none says nothing about an object. */
function refusal(code: number, value: Json): Error {
  if (!isJsonObject(value) || value['kind'] !== 'Status' || typeof value['reason'] !== 'string') return new Error(`another server answered ${code}`);
  const message = typeof value['message'] === 'string' ? value['message'] : `another server answered ${code}`;
  return new ApiError(code, value['reason'], message);
}

function asObject(value: Json): ApiObject {
  if (!isJsonObject(value) || !isJsonObject(value['metadata']!)) throw new Error('another server answered with what is no object');
  return value as unknown as ApiObject;
}

async function* linesOf(body: Readable): AsyncIterable<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    pending = pending.length === 0 ? (chunk as Buffer) : Buffer.concat([pending, chunk as Buffer]);
    for (let end = pending.indexOf(10); end !== -1; end = pending.indexOf(10)) {
      if (end > 0) yield pending.subarray(0, end);
      pending = pending.subarray(end + 1);
    }
    if (pending.length > MAX_LINE_BYTES) throw new Error('a watch event is too long');
  }
}
