import type { JsonObject } from '../encoding/json-types.ts';
import { ApiTimeline, atOf, objectsOf } from './api-timeline.ts';
import { type ClusterClient, ClusterError } from './cluster-client.ts';
import { discoverResources, pathOf } from './cluster-resources.ts';
import { type RecordedResource, keyOf } from './flight-format.ts';
import type {
  ChangeAuthor,
  ChangeQuery,
  ChangedField,
  ChangeVersions,
  HistorySource,
  Moment,
  ObjectChange,
  RecordedObject,
  Timeline,
} from './history-source.ts';
import { listOf, memberOf, textOf } from './json-fields.ts';
import { filterOf, isNamed } from './resource-choice.ts';

const ROOT = '/apis/history.binnacle.dev/v1alpha1';
const PAGE_CHANGES = 500;
const NOT_FOUND = 404;
/** What is too old to go on from. */
const GONE = 410;

/** The history that a server keeps itself (`--history`), by its API: history.binnacle.dev. */
export class ApiHistory implements HistorySource {
  readonly #client: ClusterClient;
  #resources: Promise<RecordedResource[]> | undefined;
  readonly remark = undefined;

  private constructor(client: ClusterClient) {
    this.#client = client;
  }

  /** Throws an Error of one line where the server is not there, or has no history. */
  static async open(client: ClusterClient): Promise<ApiHistory> {
    try {
      await client.get(ROOT);
      return new ApiHistory(client);
    } catch (error) {
      client.close();
      if (error instanceof ClusterError && error.status === NOT_FOUND) {
        const hint = 'start it with --history=24h, or name a recording of `binnacle record`: --file flight.bin';
        throw new Error(`the server ${client.url} keeps no history (it has no history.binnacle.dev): ${hint}`, { cause: error });
      }
      throw error;
    }
  }

  async *changes({ fromMs, toMs, follow, ...query }: ChangeQuery): AsyncGenerator<ObjectChange> {
    const parameters = new URLSearchParams({ limit: String(PAGE_CHANGES) });
    const selector = await this.#selectorOf(query);
    if (selector !== '') parameters.set('fieldSelector', selector);
    if (fromMs !== undefined && fromMs > 0) parameters.set('from', new Date(fromMs).toISOString());
    if (toMs !== undefined && Number.isFinite(toMs)) parameters.set('to', new Date(toMs).toISOString());
    let version = '';
    do {
      const list = await this.#client.get(`${ROOT}/changes?${parameters}`);
      const metadata = memberOf(list, 'metadata');
      for (const item of listOf(list['items'])) yield await this.#changeOf(item);
      version = textOf(metadata['resourceVersion']);
      parameters.set('continue', textOf(metadata['continue']));
    } while (parameters.get('continue') !== '');
    if (follow) yield* this.#follow(selector, version, follow);
  }

  /** One change by its name (`c-…`), wherever its object is. Undefined where there is none. */
  async change(id: string): Promise<ObjectChange | undefined> {
    const list = await this.#client.get(`${ROOT}/changes?fieldSelector=${encodeURIComponent(`metadata.name=${id}`)}`);
    const [item] = listOf(list['items']);
    return item && this.#changeOf(item);
  }

  async stateAt(moment: Moment, query: ChangeQuery): Promise<RecordedObject[]> {
    const { resource: isWanted, key: isKeyWanted } = filterOf(query);
    const objects: RecordedObject[] = [];
    for (const resource of (await this.#discovered()).filter(isWanted!)) {
      const isOne = query.name !== undefined && (!resource.namespaced || query.namespace !== undefined);
      if (isOne) {
        const key = keyOf(resource.namespaced ? query.namespace : undefined, query.name!);
        const object = await this.#objectAt(resource, key, atOf(moment));
        if (object) objects.push({ resource, key, object });
      } else objects.push(...(await this.#listAt(resource, moment)).filter(({ key }) => isKeyWanted!(key)));
    }
    return objects;
  }

  timelineAt(moment: Moment): Promise<Timeline> {
    return ApiTimeline.read(this.#client, this, moment, {
      resources: () => this.#discovered(),
      listAt: (resource, at) => this.#client.get(objectsPath(pathOf(resource), at)),
    });
  }

  endMs(): Promise<number> {
    return Promise.resolve(Date.now());
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  /** What is seen after a version of the list, from where it was whenever the watch ends. */
  async *#follow(selector: string, from: string, signal: AbortSignal): AsyncGenerator<ObjectChange> {
    let version = from;
    while (!signal.aborted) {
      const parameters = new URLSearchParams({
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: version,
        ...(selector !== '' && { fieldSelector: selector }),
      });
      try {
        for await (const { type, object } of this.#client.watch(`${ROOT}/changes?${parameters}`, signal)) {
          if (type === 'ERROR') throw new ClusterError(textOf(object['message']), Number(object['code'] ?? GONE));
          version = textOf(memberOf(object, 'metadata')['resourceVersion']) || version;
          if (type === 'ADDED') yield await this.#changeOf(object);
        }
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
    }
  }

  #discovered(): Promise<RecordedResource[]> {
    return (this.#resources ??= discoverResources(this.#client, new AbortController().signal));
  }

  async #selectorOf({ type, name, namespace, auditId }: ChangeQuery): Promise<string> {
    const resource = type === undefined ? undefined : (await this.#discovered()).find((candidate) => isNamed(candidate, type));
    // Its definition may be gone by now.
    const [plural, ...group] = type === undefined ? [] : resource ? [resource.plural, resource.group] : type.toLowerCase().split(/\.(.*)/s, 2);
    const parts = { 'object.resource': plural, 'object.group': group[0], 'object.name': name, 'object.namespace': namespace, auditID: auditId };
    return Object.entries(parts)
      .flatMap(([field, value]) => (value === undefined ? [] : [`${field}=${value}`]))
      .join(',');
  }

  async #changeOf(item: JsonObject): Promise<ObjectChange> {
    const resource = await this.#resourceOf(memberOf(item, 'object'));
    return new ApiChange(item, resource, (key, at) => this.#objectAt(resource, key, at));
  }

  /** In the version in which it is kept, in which the paths of its fields are. */
  async #resourceOf(object: JsonObject): Promise<RecordedResource> {
    const [group, version, plural, kind] = [textOf(object['group']), textOf(object['version']), textOf(object['resource']), textOf(object['kind'])];
    const known = (await this.#discovered()).find((candidate) => candidate.group === group && candidate.plural === plural);
    return { shortNames: [], ...known, group, version, plural, kind, namespaced: textOf(object['namespace']) !== '' };
  }

  async #objectAt(resource: RecordedResource, key: string, at: string): Promise<JsonObject | undefined> {
    try {
      return await this.#client.get(objectsPath(pathOf(resource, key), at));
    } catch (error) {
      if (error instanceof ClusterError && error.status === NOT_FOUND) return undefined;
      throw error;
    }
  }

  async #listAt(resource: RecordedResource, moment: Moment): Promise<RecordedObject[]> {
    return objectsOf(resource, await this.#client.get(objectsPath(pathOf(resource), atOf(moment))));
  }
}

const objectsPath = (path: string, at: string): string => `${ROOT}/objects${path}?at=${encodeURIComponent(at)}`;

class ApiChange implements ObjectChange {
  readonly #item: JsonObject;
  readonly #objectAt: (key: string, at: string) => Promise<JsonObject | undefined>;
  readonly resource: RecordedResource;
  readonly gapSinceMs = undefined;

  constructor(item: JsonObject, resource: RecordedResource, objectAt: (key: string, at: string) => Promise<JsonObject | undefined>) {
    this.#item = item;
    this.#objectAt = objectAt;
    this.resource = resource;
  }

  get id(): string {
    return textOf(memberOf(this.#item, 'metadata')['name']);
  }

  get timeMs(): number {
    return Date.parse(textOf(this.#item['time']));
  }

  get key(): string {
    const { namespace, name } = memberOf(this.#item, 'object');
    return keyOf(textOf(namespace), textOf(name));
  }

  get type(): ObjectChange['type'] {
    return textOf(this.#item['type']) as ObjectChange['type'];
  }

  get fields(): readonly ChangedField[] {
    return listOf(this.#item['fields']).map(({ path, from, to }) => ({ path: textOf(path), from, to }));
  }

  get managers(): readonly string[] {
    const manager = textOf(this.#item['fieldManager']);
    return manager === '' ? [] : [manager];
  }

  get resourceVersion(): string {
    return textOf(this.#item['objectResourceVersion']);
  }

  get author(): ChangeAuthor {
    const user = memberOf(this.#item, 'user');
    const groups = user['groups'];
    const impersonator = textOf(memberOf(this.#item, 'impersonator')['username']);
    return {
      username: textOf(user['username']),
      groups: Array.isArray(groups) ? groups.map(String) : [],
      impersonator: impersonator === '' ? undefined : impersonator,
      userAgent: textOf(this.#item['userAgent']),
      verb: textOf(this.#item['verb']),
      subresource: textOf(this.#item['subresource']),
      auditId: textOf(this.#item['auditID']),
    };
  }

  async versions(): Promise<ChangeVersions> {
    const previous = textOf(this.#item['previousResourceVersion']);
    const [before, after] = await Promise.all([
      this.type === 'created' || previous === '' ? undefined : this.#objectAt(this.key, previous),
      this.type === 'deleted' ? undefined : this.#objectAt(this.key, this.resourceVersion),
    ]);
    return { before, after };
  }
}
