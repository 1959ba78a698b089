import type { JsonObject } from '../encoding/json-types.ts';
import { type ClusterClient, ClusterError } from './cluster-client.ts';
import { type RecordedCluster, type RecordedResource, keyOf } from './flight-format.ts';
import { versionOf } from './flight-reader.ts';
import type { HistorySource, Moment, RecordedObject, Timeline, TimelineChange } from './history-source.ts';
import { listOf, memberOf, textOf } from './json-fields.ts';

const NAMESPACES: RecordedResource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false, shortNames: ['ns'] };
const NOT_FOUND = 404;
const FORBIDDEN = 403;
const GONE = 410;

interface ApiTimelineParts {
  resources(): Promise<RecordedResource[]>;
  listAt(resource: RecordedResource, at: string): Promise<JsonObject>;
}

/** The state of a moment, as a server's own history has it: all lists are of one revision. */
export class ApiTimeline implements Timeline {
  readonly cluster: RecordedCluster;
  readonly atMs: number;
  readonly resources: readonly RecordedResource[];
  readonly leftOut: readonly string[];
  readonly objects: readonly (RecordedObject & { revision: number })[];
  readonly #revision: number;
  readonly #source: HistorySource;

  private constructor(source: HistorySource, state: Pick<Timeline, 'cluster' | 'atMs' | 'resources' | 'leftOut' | 'objects'> & { revision: number }) {
    this.#source = source;
    this.cluster = state.cluster;
    this.atMs = state.atMs;
    this.resources = state.resources;
    this.leftOut = state.leftOut;
    this.objects = state.objects;
    this.#revision = state.revision;
  }

  static async read(client: ClusterClient, source: HistorySource, moment: Moment, parts: ApiTimelineParts): Promise<ApiTimeline> {
    const { gitVersion } = await client.get('/version');
    const first = await parts.listAt(NAMESPACES, atOf(moment));
    const revision = Number(versionOf(first));
    const resources: RecordedResource[] = [];
    const leftOut: string[] = [];
    const objects: (RecordedObject & { revision: number })[] = [];
    for (const resource of await parts.resources()) {
      const list = await readable(() => parts.listAt(resource, String(revision)));
      if (!list) {
        leftOut.push(resource.plural);
        continue;
      }
      resources.push(resource);
      for (const each of objectsOf(resource, list)) objects.push({ ...each, revision: Number(versionOf(each.object)) });
    }
    const atMs = 'timeMs' in moment ? moment.timeMs : await timeOfRevision(source, revision);
    return new ApiTimeline(source, { cluster: { server: client.url, gitVersion: String(gitVersion) }, atMs, resources, leftOut, objects, revision });
  }

  revisionOf(): number {
    return this.#revision;
  }

  /** A server with history keeps all in one store; aggregated servers have theirs. */
  isApart(): boolean {
    return false;
  }

  async *changes(): AsyncGenerator<TimelineChange> {
    for await (const change of this.#source.changes({ fromMs: this.atMs })) {
      const revision = Number(change.resourceVersion);
      if (revision <= this.#revision) continue;
      const { after } = await change.versions();
      yield { timeMs: change.timeMs, resource: change.resource, key: change.key, object: after, revision };
    }
  }

  async close(): Promise<void> {}
}

/** Of the last change that belongs to it; changes are in the order of their revisions. */
async function timeOfRevision(source: HistorySource, revision: number): Promise<number> {
  let foundMs: number | undefined;
  for await (const { timeMs, resourceVersion } of source.changes({})) {
    if (Number(resourceVersion) > revision) return foundMs ?? timeMs;
    foundMs = timeMs;
  }
  return foundMs ?? source.endMs();
}

/** Undefined for what nobody may see, or is left out. The moment itself is kept: its first list was had. */
async function readable(list: () => Promise<JsonObject>): Promise<JsonObject | undefined> {
  try {
    return await list();
  } catch (error) {
    if (error instanceof ClusterError && [NOT_FOUND, FORBIDDEN, GONE].includes(error.status)) return undefined;
    throw error;
  }
}

export const atOf = (moment: Moment): string => ('timeMs' in moment ? new Date(moment.timeMs).toISOString() : String(moment.resourceVersion));

/** The items of a list, which do not name their kind. */
export function objectsOf(resource: RecordedResource, list: JsonObject): RecordedObject[] {
  const { group, version, kind } = resource;
  return listOf(list['items']).map((item) => {
    const { namespace, name } = memberOf(item, 'metadata');
    const object = { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...item };
    return { resource, key: keyOf(textOf(namespace), textOf(name)), object };
  });
}
