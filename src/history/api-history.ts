import type { JsonObject } from '../encoding/json-types.ts';
import { atOf, objectsOf, readApiTimeline } from './api-timeline.ts';
import { type ClusterClient, ClusterError } from './cluster-client.ts';
import { discoverResources, pathOf } from './cluster-resources.ts';
import { type RecordedResource, keyOf } from './flight-format.ts';
import type { ChangeQuery, HistorySource, Moment, ObjectChange, RecordedObject, Timeline } from './history-source.ts';
import { listOf, memberOf, textOf, textsOf, versionOf } from './json-fields.ts';
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
      for (const item of listOf(list['items'])) yield await this.#changeOf(item);
      version = versionOf(list);
      parameters.set('continue', textOf(memberOf(list, 'metadata')['continue']));
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
    return readApiTimeline(this.#client, this, moment, {
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
          version = versionOf(object) || version;
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
    return objectChange(item, resource, (key, at) => this.#objectAt(resource, key, at));
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

type ObjectAt = (key: string, at: string) => Promise<JsonObject | undefined>;

function objectChange(item: JsonObject, resource: RecordedResource, objectAt: ObjectAt): ObjectChange {
  const { namespace, name } = memberOf(item, 'object');
  const { username, groups } = memberOf(item, 'user');
  const [key, previous, resourceVersion] = [
    keyOf(textOf(namespace), textOf(name)),
    textOf(item['previousResourceVersion']),
    textOf(item['objectResourceVersion']),
  ];
  const type = textOf(item['type']) as ObjectChange['type'];
  return {
    id: textOf(memberOf(item, 'metadata')['name']),
    timeMs: Date.parse(textOf(item['time'])),
    resource,
    key,
    type,
    fields: listOf(item['fields']).map(({ path, from, to }) => ({ path: textOf(path), from, to })),
    managers: [textOf(item['fieldManager'])].filter((manager) => manager !== ''),
    author: {
      username: textOf(username),
      groups: textsOf(groups),
      impersonator: textOf(memberOf(item, 'impersonator')['username']) || undefined,
      userAgent: textOf(item['userAgent']),
      verb: textOf(item['verb']),
      subresource: textOf(item['subresource']),
      auditId: textOf(item['auditID']),
    },
    resourceVersion,
    gapSinceMs: undefined,
    async versions() {
      const [before, after] = await Promise.all([
        type === 'created' || previous === '' ? undefined : objectAt(key, previous),
        type === 'deleted' ? undefined : objectAt(key, resourceVersion),
      ]);
      return { before, after };
    },
  };
}
