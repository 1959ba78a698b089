import type { JsonObject } from '../encoding/json-types.ts';
import type { ChangeQuery, HistorySource, ObjectChange } from './history-source.ts';
import { listOf, memberOf, textOf } from './json-fields.ts';
import { splitKey } from './resource-choice.ts';

/** Owners of owners: no controllers are nested deeper. */
const MAX_OWNERS = 10;
/** Clocks of watches that are recorded beside each other differ by so much. */
const SLACK_MS = 1_000;
const MAX_EVENTS = 100_000;

/** What an event tells of an object. */
export interface ToldEvent {
  timeMs: number;
  reason: string;
  message: string;
  /** Who tells it: `kubelet`. */
  source: string;
  count: number;
}

/** What the record shows of how an object came to be, and of what became of it. */
export interface Causes {
  /** From the outermost owner's change to the one that made the object. */
  chain: ObjectChange[];
  /** What was done to the object afterwards. */
  after: ObjectChange[];
  /** Where it was deleted and its owners were changed in its time: those changes, from the outermost to the deletion. */
  end: ObjectChange[];
  events: ToldEvent[];
  /** Of the request that deleted it, or made it where it is there: what else it changed. */
  sameRequest: ObjectChange[];
}

/** Undefined where nothing of such an object is known. */
export async function causesOf(source: HistorySource, query: ChangeQuery): Promise<Causes | undefined> {
  const own = lastLife(await collect(source.changes(query)));
  const [made] = own;
  if (!made) return undefined;
  const after = own.slice(1).filter(({ type, fields }) => type !== 'modified' || fields.length > 0);
  const newest = await newestVersion(own);
  const deletion = after.at(-1)?.type === 'deleted' ? after.at(-1)! : undefined;
  const endOwners = deletion ? await ownersOf(source, deletion, newest, made.timeMs) : [];
  return {
    chain: [...(await ownersOf(source, made, newest)), made],
    after,
    end: deletion && endOwners.length > 0 ? [...endOwners, deletion] : [],
    events: await eventsOf(source, made, newest),
    sameRequest: await ofSameRequest(source, deletion ?? made),
  };
}

/** The changes since the object was made last: former ones of that name are others. */
function lastLife(changes: readonly ObjectChange[]): ObjectChange[] {
  const from = changes.findLastIndex(({ type }) => type === 'created' || type === 'seen');
  return changes.slice(Math.max(from, 0));
}

async function newestVersion(changes: readonly ObjectChange[]): Promise<JsonObject | undefined> {
  const { before, after } = await changes.at(-1)!.versions();
  return after ?? before;
}

/** The changes of its owners that led to one of it, the outermost first; only those since a time, where one is given. */
async function ownersOf(source: HistorySource, change: ObjectChange, object: JsonObject | undefined, sinceMs?: number): Promise<ObjectChange[]> {
  const chain: ObjectChange[] = [];
  let [child, version] = [change, object];
  while (chain.length < MAX_OWNERS) {
    const references = listOf(memberOf(version, 'metadata')['ownerReferences']);
    const reference = references.find(({ controller }) => controller === true) ?? references[0];
    if (!reference) break;
    const cause = await causeIn(source, reference, child, sinceMs);
    if (!cause) break;
    chain.unshift(cause);
    version = (await cause.versions()).after;
    child = cause;
  }
  return chain;
}

/** The last change of an owner before its child was made that it may have been made for. */
async function causeIn(
  source: HistorySource,
  { apiVersion, kind, name }: JsonObject,
  child: ObjectChange,
  sinceMs: number | undefined,
): Promise<ObjectChange | undefined> {
  const group = textOf(apiVersion).includes('/') ? `.${textOf(apiVersion).split('/', 1)[0]!}` : '';
  const { namespace } = splitKey(child.key);
  const changes = await collect(
    source.changes({ type: textOf(kind) + group, name: textOf(name), fromMs: sinceMs === undefined ? undefined : sinceMs + 1, toMs: child.timeMs + SLACK_MS }),
  );
  const ofNamespace = changes.filter(({ key }) => [namespace, ''].includes(splitKey(key).namespace));
  return ofNamespace.findLast(({ type, fields }) => type === 'created' || type === 'seen' || fields.some(({ path }) => /^(spec|data)\b/.test(path)));
}

async function eventsOf(source: HistorySource, made: ObjectChange, object: JsonObject | undefined): Promise<ToldEvent[]> {
  const { namespace, name } = splitKey(made.key);
  const uid = textOf(memberOf(object, 'metadata')['uid']);
  const told = new Map<string, ToldEvent>();
  for await (const change of source.changes({ type: 'events', namespace: namespace === '' ? 'default' : namespace })) {
    const { after: event } = await change.versions();
    const about = { ...memberOf(event, 'regarding'), ...memberOf(event, 'involvedObject') };
    const isAbout = textOf(about['name']) === name && textOf(about['kind']) === made.resource.kind && (uid === '' || textOf(about['uid']) === uid);
    if (event && isAbout && told.size < MAX_EVENTS) told.set(change.key, toldBy(event, change.timeMs));
  }
  return [...told.values()].toSorted((a, b) => a.timeMs - b.timeMs);
}

/** Of either group of events. */
function toldBy(event: JsonObject, recordedMs: number): ToldEvent {
  const time = [event['lastTimestamp'], event['eventTime'], event['firstTimestamp']]
    .map((value) => Date.parse(textOf(value)))
    .find((value) => !Number.isNaN(value));
  return {
    timeMs: time ?? recordedMs,
    reason: textOf(event['reason']),
    message: textOf(event['message']) || textOf(event['note']),
    source: textOf(event['reportingComponent']) || textOf(memberOf(event, 'source')['component']) || textOf(event['reportingController']),
    count: Number(event['count'] ?? 1),
  };
}

async function ofSameRequest(source: HistorySource, change: ObjectChange): Promise<ObjectChange[]> {
  const auditId = change.author?.auditId;
  if (!auditId) return [];
  const all = await collect(source.changes({ auditId }));
  return all.filter(({ resource, key }) => key !== change.key || resource.plural !== change.resource.plural);
}

async function collect(changes: AsyncIterable<ObjectChange>): Promise<ObjectChange[]> {
  const all: ObjectChange[] = [];
  for await (const change of changes) all.push(change);
  return all;
}
