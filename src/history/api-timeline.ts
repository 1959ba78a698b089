import type { JsonObject } from '../encoding/json-types.ts';
import { type ClusterClient, ClusterError } from './cluster-client.ts';
import type { RecordedResource } from './flight-format.ts';
import type { HistorySource, Moment, RecordedObject, Timeline, TimelineChange } from './history-source.ts';
import { listOf, versionOf } from './json-fields.ts';
import { recordedObject } from './resource-choice.ts';

const NAMESPACES: RecordedResource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false, shortNames: ['ns'] };
const NOT_FOUND = 404;
const FORBIDDEN = 403;
const GONE = 410;

interface ApiTimelineParts {
  resources(): Promise<RecordedResource[]>;
  listAt(resource: RecordedResource, at: string): Promise<JsonObject>;
}

/** The state of a moment, as a server's own history has it: all lists are of one revision. */
export async function readApiTimeline(client: ClusterClient, source: HistorySource, moment: Moment, parts: ApiTimelineParts): Promise<Timeline> {
  const { gitVersion } = await client.get('/version');
  const revision = Number(versionOf(await parts.listAt(NAMESPACES, atOf(moment))));
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
  return {
    cluster: { server: client.url, gitVersion: String(gitVersion) },
    atMs,
    resources,
    leftOut,
    objects,
    revisionOf: () => revision,
    // A server with history keeps all in one store; aggregated servers have theirs.
    isApart: () => false,
    changes: () => changesAfter(source, atMs, revision),
    async close() {},
  };
}

async function* changesAfter(source: HistorySource, atMs: number, atRevision: number): AsyncGenerator<TimelineChange> {
  for await (const { timeMs, resource, key, resourceVersion, versions } of source.changes({ fromMs: atMs })) {
    const revision = Number(resourceVersion);
    if (revision <= atRevision) continue;
    const { after } = await versions();
    yield { timeMs, resource, key, object: after, revision };
  }
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

export const objectsOf = (resource: RecordedResource, list: JsonObject): RecordedObject[] =>
  listOf(list['items']).map((item) => recordedObject(resource, item));
