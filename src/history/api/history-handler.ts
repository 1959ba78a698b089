import { type ApiError, badRequest, genericMethodNotAllowed, genericNotFound, resourceExpired, tooLargeResourceVersion } from '../../api/errors.ts';
import { type AuthorizationAttributes, resourceAttributes } from '../../api/authorization.ts';
import type { User } from '../../api/user.ts';
import { serveResource } from '../../endpoints/dispatch.ts';
import { handleGet } from '../../endpoints/get.ts';
import { handleList } from '../../endpoints/list.ts';
import type { Handler, RequestInfo, ServerRequest } from '../../endpoints/request.ts';
import type { ResourceTarget } from '../../endpoints/target.ts';
import type { AdmissionController } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { ResourceStore } from '../../registry/store.ts';
import { forbiddenError } from '../../server/filters/authorization.ts';
import type { GenericServer } from '../../server/generic-server.ts';
import { parseRequestInfo } from '../../server/request-info.ts';
import type { CacheEntry, ObjectCache } from '../../storage/cache/cache.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import type { KeptVersion, HistoryPosition } from '../kept/history-reader.ts';
import type { StoreRecording } from '../kept/store-recording.ts';
import { HISTORY_GROUP, HISTORY_VERSION } from './change-definition.ts';
import type { ChangeReading, ObjectPlace } from './change-object.ts';
import { ChangesStore } from './changes-store.ts';
import { PastCache } from './past-cache.ts';

export interface HistoryApi {
  recording: StoreRecording;
  reading: ChangeReading;
  definition: ResourceDefinition;
  admission: AdmissionController;
  authorizer: Pick<Authorizer, 'authorize'>;
  /** From the head of the chain. */
  servers(): readonly GenericServer[];
  /** Whether changes of the objects at these keys are recorded. */
  isRecorded(keyPrefix: string): boolean;
  /** The entry of a version that is kept; `cache` knows how objects of its resource are stored. */
  entryOf(cache: ObjectCache, key: string, version: KeptVersion): Promise<CacheEntry>;
  /** An entry as it is shown, whose object has not changed since. */
  shown(entry: CacheEntry): CacheEntry;
}

const ROOT = `/apis/${HISTORY_GROUP}/${HISTORY_VERSION}/`;
const OBJECTS = `${ROOT}objects/`;

/** Answers for the group history.binnacle.dev; everything else goes to the next. `target`: of changes. */
export const historyHandler =
  (api: HistoryApi, target: ResourceTarget, next: Handler): Handler =>
  (request) => {
    const { info } = request;
    if (!info.isResourceRequest || info.apiGroup !== HISTORY_GROUP || !info.path.startsWith(ROOT)) return next(request);
    if (info.path.startsWith(OBJECTS)) return serveObjects(api, request);
    if (info.resource !== 'changes' || info.subresource !== '') return next(request);
    return serveChanges(request, { ...target, store: changesFor(api, request) });
  };

/** A change of what belongs to no namespace belongs to none either. */
function serveChanges(request: ServerRequest, target: ResourceTarget): void | Promise<void> {
  const { info, exchange } = request;
  const isClusterScoped = info.namespace === '' && info.parts.length === 2;
  if (!isClusterScoped) return serveResource(request, target);
  if (exchange.method !== 'GET') throw genericMethodNotAllowed();
  request.route = 'custom';
  return handleGet(request, target);
}

function changesFor({ recording, reading, definition, admission, authorizer }: HistoryApi, { user, query }: ServerRequest): ResourceStore {
  return new ChangesStore({
    history: recording.history,
    reading,
    definition,
    admission,
    maySee: (place) => maySee(authorizer, user, place),
    fromMs: timeIn(query, 'from') ?? 0,
    toMs: timeIn(query, 'to') ?? Infinity,
    isNewestFirst: orderIn(query),
  });
}

function maySee(authorizer: HistoryApi['authorizer'], user: User, { group, resource, namespace, name }: ObjectPlace): boolean | Promise<boolean> {
  const decision = authorizer.authorize(resourceAttributes({ user, verb: 'get', apiGroup: group, resource, namespace, name }));
  return decision instanceof Promise ? decision.then(isAllowed) : isAllowed(decision);
}

const isAllowed = ({ decision }: { decision: string }): boolean => decision === 'allow';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

function parseTime(text: string, what: string): number {
  const timeMs = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) throw badRequest(`${what} must be a time as RFC 3339 has it: 2026-11-18T10:02:03Z`);
  return timeMs;
}

function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  return text === '' ? undefined : parseTime(text, name);
}

function orderIn(query: URLSearchParams): boolean {
  const order = query.get('order') ?? '';
  if (order !== '' && order !== 'newest' && order !== 'oldest') throw badRequest('order must be newest or oldest');
  return order === 'newest';
}

/** GET objects/<path>?at=: the object or list of that path as it was, for who may read it. */
async function serveObjects(api: HistoryApi, request: ServerRequest): Promise<void> {
  const { exchange, user } = request;
  if (exchange.method !== 'GET') throw genericMethodNotAllowed();
  const info = parseRequestInfo('GET', `/${request.info.path.slice(OBJECTS.length)}`);
  if (!info.isResourceRequest || info.subresource !== '' || (info.verb !== 'get' && info.verb !== 'list')) throw genericNotFound();
  await demandRight(api.authorizer, user, info);
  const target = targetIn(api.servers(), info);
  const kept = target?.store.kept;
  if (!target || !kept || !target.store.over) throw genericNotFound();
  if (!api.isRecorded(kept.keyPrefix)) throw resourceExpired(`${info.resource} are left out of the history (--history-exclude)`);
  await target.store.ready;
  const cache = await pastOf(api, target.store, info, request.query.get('at') ?? '');
  const past = { ...target, store: target.store.over(cache) };
  const own = request.info;
  request.info = info;
  try {
    await (info.name === '' || info.parts.length === 1 ? handleList(request, past) : handleGet(request, past));
  } finally {
    request.info = own;
  }
}

async function demandRight(authorizer: HistoryApi['authorizer'], user: User, info: RequestInfo): Promise<void> {
  const { verb, isResourceRequest, apiGroup, apiVersion, resource, subresource, namespace, name, path } = info;
  const attributes: AuthorizationAttributes = { user, verb, isResourceRequest, apiGroup, apiVersion, resource, subresource, namespace, name, path };
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenError(user, info, reason);
}

function targetIn(servers: readonly GenericServer[], info: RequestInfo): ResourceTarget | undefined {
  for (const server of servers) {
    const target = server.targetOf(info);
    if (target) return target;
  }
  return undefined;
}

/** Objects that have not changed since are what they are now; the others are made from the history. The present is taken first: what changes meanwhile is history then. */
async function pastOf(api: HistoryApi, store: ResourceStore, info: RequestInfo, at: string): Promise<PastCache> {
  const { recording, entryOf, shown } = api;
  const { cache, keyPrefix } = store.kept!;
  const fresh = cache.freshen();
  if (fresh) await fresh;
  const { namespaced } = store.definition;
  const folder = namespaced && info.namespace !== '' ? `${keyPrefix}${info.namespace}/` : keyPrefix;
  const key = info.parts[1] === undefined ? undefined : folder + info.parts[1];
  const present = key === undefined ? cache.list(folder).entries : [cache.get(key)].filter((entry) => entry !== undefined);
  await recording.reached(cache.revision);
  const moment = momentOf(api, at, cache.revision);
  const changed = await changedOf(recording, key, folder, moment);
  const entries = new Map<string, CacheEntry>();
  const slice = new TimeSlice();
  for (const entry of present) {
    if (!changed.has(entry.key)) entries.set(entry.key, withBytes(shown(entry)));
    if (slice.isSpent) await slice.next();
  }
  for (const [changedKey, version] of changed) {
    if (version) entries.set(changedKey, withBytes(await entryOf(cache, changedKey, version)));
    if (slice.isSpent) await slice.next();
  }
  return new PastCache(entries.values(), moment.revision);
}

/** What a list takes of an entry at once is made here, in slices. */
function withBytes(entry: CacheEntry): CacheEntry {
  void entry.bytes;
  void entry.typePrefixLength;
  return entry;
}

async function changedOf(
  { history }: StoreRecording,
  key: string | undefined,
  folder: string,
  moment: HistoryPosition,
): Promise<ReadonlyMap<string, KeptVersion | undefined>> {
  if (key === undefined) return history.reader.changedSince(folder, moment);
  const version = await history.reader.versionAt(key, moment);
  return new Map(version === 'unchanged' ? [] : [[key, version]]);
}

function momentOf({ recording: { history } }: HistoryApi, at: string, current: number): HistoryPosition {
  if (at === '') throw badRequest('at must be given: a time as RFC 3339 has it, or a resourceVersion');
  const isVersion = /^\d{1,15}$/.test(at);
  if (isVersion && Number(at) > current) throw tooLargeResourceVersion(at, current);
  const moment = history.momentAt(isVersion ? { revision: Number(at) } : { timeMs: parseTime(at, 'at') });
  if (!moment) throw gone(history.start);
  return moment;
}

const gone = ({ revision, timeMs }: { revision: number; timeMs: number }): ApiError =>
  resourceExpired(`That moment is not kept any longer: the history begins at ${new Date(timeMs).toISOString()}, resourceVersion ${revision}.`);
