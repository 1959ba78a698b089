import { nextTurn } from '../util/time-slice.ts';
import type { CacheEntry, CacheEvent, CacheList, CacheSelection } from '../storage/cache/cache.ts';
import { Compacted, type Subscription } from '../storage/engine.ts';
import type { ResourceStorageMetrics } from '../storage/storage-metrics.ts';
import type { ApiObject } from '../api/api-object.ts';
import { badRequest, notFound, resourceExpired, tooLargeResourceVersion } from '../api/errors.ts';
import { deliverReadable, demandReadable, listReadable } from './corrupt-objects.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';
import { entrySelection, isByName, keyOnlySelection, keySelection, namespacePrefix, selectedKey } from './entry-selection.ts';
import { convertingSink, listConverted } from './read-converted.ts';
import { type StoreParts, groupResource, keyOf } from './store-parts.ts';
import type { ListOptions, ListResult, Selection, WatchOptions, WatchSink } from './store.ts';

export function getEntry(parts: StoreParts, namespace: string, name: string, resourceVersion: string): CacheEntry | Promise<CacheEntry> {
  const key = keyOf(parts, namespace, name);
  const wait = waitForVersion(parts, resourceVersion);
  return wait ? wait.then(() => found(parts, key, name)) : found(parts, key, name);
}

function found(parts: StoreParts, key: string, name: string): CacheEntry | Promise<CacheEntry> {
  const { cache, definition, conversion } = parts;
  const entry = cache.get(key);
  if (!entry) throw notFound(groupResource(definition), name);
  demandReadable(parts, entry);
  return conversion ? conversion.read(entry) : entry;
}

/** '' is the newest there is, '0' whatever is at hand, N nothing older than N. Undefined where there is nothing to wait for. */
function waitForVersion({ cache, definition }: StoreParts, resourceVersion: string, isExact = false): Promise<void> | undefined {
  if (resourceVersion === '') return cache.freshen();
  const revision = parseVersion(resourceVersion);
  if (revision === 0) return undefined;
  return (definition.storage.isUncached || isExact) && revision > cache.revision
    ? refuseUnlessReached(cache, revision, resourceVersion)
    : cache.waitFor(revision, resourceVersion);
}

/** What upstream reads from etcd, it does not wait for: a version that etcd has not reached is refused at once, and nobody is told to come back. */
async function refuseUnlessReached(cache: StoreParts['cache'], revision: number, shown: string): Promise<void> {
  await cache.freshen();
  if (revision > cache.revision) throw tooLargeResourceVersion(shown, cache.revision, 0);
}

const MAX_VERSION = 2n ** 64n - 1n;
const MAX_VERSION_DIGITS = String(MAX_VERSION).length;

export function parseVersion(text: string): number {
  if (text === '' || text === '0') return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^\d+$/.test(text) || text.length > MAX_VERSION_DIGITS || BigInt(text) > MAX_VERSION) {
    const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`,
    );
  }
  return Number(text);
}

export function listEntries(parts: StoreParts, namespace: string, options: ListOptions): ListResult | Promise<ListResult> {
  const { shard } = options.selection;
  if (shard) return withShard(listWhole(parts, namespace, options), shard);
  return listWhole(parts, namespace, options);
}

/** Clients are told which shard they got. */
const withShard = (list: ListResult | Promise<ListResult>, shard: NonNullable<Selection['shard']>): ListResult | Promise<ListResult> =>
  list instanceof Promise ? list.then((whole) => ({ ...whole, shard })) : { ...list, shard };

const listWhole = (parts: StoreParts, namespace: string, options: ListOptions): ListResult | Promise<ListResult> =>
  parts.tellsCorrupt ? listReadable(parts, namespace, () => listAll(parts, namespace, options)) : listAll(parts, namespace, options);

function listAll(parts: StoreParts, namespace: string, options: ListOptions): ListResult | Promise<ListResult> {
  const { conversion } = parts;
  if (!conversion) return listStored(parts, namespace, options);
  const stored = {
    prefix: namespacePrefix(parts, namespace),
    selection: keyOnlySelection(parts, namespace, options.selection),
    list: (unconverted: ListOptions) => listStored(parts, namespace, unconverted),
  };
  return listConverted(conversion, stored, options, convertedMatcher(parts, options.selection));
}

/** Names stay as they are: who selects by them alone is answered from what is stored. */
const convertedMatcher = (parts: StoreParts, selection: Selection): Matches | undefined =>
  isByName(selection) ? undefined : entrySelection(parts, selection)?.matches;

function listStored(parts: StoreParts, namespace: string, options: ListOptions): ListResult | Promise<ListResult> {
  if (options.continue !== '') return listFurther(parts, namespace, options);
  // Upstream's cache passes on to etcd what asks for one object as it was.
  const isExactOfOne = isExactList(options) && selectedKey(parts, namespace, options.selection) !== undefined;
  const wait = waitForVersion(parts, options.resourceVersion, isExactOfOne);
  const { metrics } = parts;
  if (!metrics) return wait ? wait.then(() => listFirst(parts, namespace, options)) : listFirst(parts, namespace, options);
  const startMs = performance.now();
  const listCounted = (): ListResult | Promise<ListResult> => {
    countWait(metrics, options.resourceVersion, startMs);
    return listFirst(parts, namespace, options);
  };
  return wait ? wait.then(listCounted) : listCounted();
}

/** apiserver/pkg/storage/cacher: cacher.go GetList, watch_cache.go waitUntilFreshAndBlock */
function countWait(metrics: ResourceStorageMetrics, resourceVersion: string, startMs: number): void {
  if (resourceVersion === '') metrics.readConsistently();
  if (resourceVersion !== '0') metrics.waited(performance.now() - startMs);
}

/** A limit with a version and no match is an exact list, from before matches existed. */
const isExactList = ({ resourceVersionMatch, limit }: ListOptions): boolean => resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0);

function listFirst(parts: StoreParts, namespace: string, options: ListOptions): ListResult | Promise<ListResult> {
  const prefix = namespacePrefix(parts, namespace);
  const version = parseVersion(options.resourceVersion);
  const key = selectedKey(parts, namespace, options.selection);
  // Of one object, a limit alone asks for none but the newest state (storage/interfaces.go ValidateListOptions).
  const isExact = version > 0 && isExactList(options) && (key === undefined || options.resourceVersionMatch === 'Exact');
  // Version 0 is served whole from upstream's cache.
  const limit = options.resourceVersion === '0' && !parts.definition.storage.isUncached ? 0 : options.limit;
  const expired = (): Error => resourceExpired('The resourceVersion for the provided list is too old.');
  if (key !== undefined) return isExact ? pageAt(parts, key, options, 0, { revision: version }, expired) : listOne(parts, key, options.selection);
  return isExact ? pageAt(parts, prefix, options, limit, { revision: version }, expired) : page(parts, prefix, options, limit, {});
}

function listOne(parts: StoreParts, key: string, selection: Selection): ListResult {
  const entry = parts.cache.get(key);
  const isSelected = entry !== undefined && (entrySelection(parts, selection)?.matches(entry) ?? true);
  return { entries: isSelected ? [entry] : [], revision: parts.cache.revision, continue: '', remainingItemCount: undefined };
}

function listFurther(parts: StoreParts, namespace: string, options: ListOptions): ListResult | Promise<ListResult> {
  const prefix = namespacePrefix(parts, namespace);
  const token = decodeContinue(options.continue, prefix);
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') throw badRequest('specifying resource version is not allowed when using continue');
  // Keys compare by bytes, and `start` is the last key with a zero byte behind it.
  const after = token.startKey.endsWith('\0') ? token.startKey.slice(0, -1) : token.startKey;
  if (token.revision <= 0) return page(parts, prefix, options, options.limit, { after });
  const expired = (): Error => expiredContinue(encodeContinue(after, prefix, -1));
  return pageAt(parts, prefix, options, options.limit, { after, revision: token.revision }, expired);
}

const expiredContinue = (token: string): Error =>
  resourceExpired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    token,
  );

function page(
  parts: StoreParts,
  prefix: string,
  { selection, checkWanted }: ListOptions,
  limit: number,
  from: { after?: string; revision?: number },
): ListResult | Promise<ListResult> {
  const { cache, metrics } = parts;
  const wanted = entrySelection(parts, selection);
  const range = { ...from, ...(limit > 0 && { limit }) };
  const resultOf = (list: CacheList): ListResult => {
    metrics?.listedCache(list.fetched, list.entries.length);
    return { entries: list.entries, revision: list.revision, ...rest(list, prefix, wanted === undefined) };
  };
  if (wanted === undefined) return resultOf(cache.list(prefix, range));
  const selected = cache.select(prefix, wanted, { ...range, checkWanted });
  return selected instanceof Promise ? selected.then(resultOf) : resultOf(selected);
}

/** As of a revision that the cache may have forgotten, since it begins anew with every change of a definition; throws `expired()` where the store has too. */
function pageAt(
  parts: StoreParts,
  prefix: string,
  options: ListOptions,
  limit: number,
  from: { after?: string; revision: number },
  expired: () => Error,
): ListResult | Promise<ListResult> {
  try {
    return page(parts, prefix, options, limit, from);
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    return pageOfStore(parts, prefix, options, limit, from).catch((failure) => {
      throw failure instanceof Compacted ? expired() : failure;
    });
  }
}

/** Keys that are read from the store at once. */
const STORE_PAGE = 500;

/** The same from the store itself, as upstream's cache passes on to etcd what it does not remember (storage/cacher/delegator.go). */
async function pageOfStore(
  parts: StoreParts,
  prefix: string,
  { selection, checkWanted }: ListOptions,
  limit: number,
  from: { after?: string; revision: number },
): Promise<ListResult> {
  const { engine, cache } = parts;
  const matches = entrySelection(parts, selection)?.matches;
  const most = limit === 0 ? Infinity : limit;
  const list: CacheList = { entries: [], fetched: 0, revision: from.revision, lastKey: from.after, hasMore: true, remaining: 0 };
  while (list.hasMore && list.entries.length < most) {
    checkWanted?.();
    const after = list.lastKey === undefined ? {} : { after: list.lastKey };
    const { items, remaining } = await engine.range(prefix, { revision: from.revision, limit: STORE_PAGE, ...after });
    let looked = 0;
    for (; looked < items.length && list.entries.length < most; looked++) {
      const { key, value, revision } = items[looked]!;
      const entry = cache.entryAt(key, value, revision);
      if (matches === undefined || matches(entry)) list.entries.push(entry);
      list.lastKey = key;
    }
    list.fetched += looked;
    list.remaining = remaining + items.length - looked;
    list.hasMore = list.remaining > 0;
    await nextTurn();
  }
  parts.metrics?.listedStore(list.fetched, list.entries.length);
  return { entries: list.entries, revision: list.revision, ...rest(list, prefix, matches === undefined) };
}

function rest(list: CacheList, prefix: string, isUnselected: boolean): Pick<ListResult, 'continue' | 'remainingItemCount'> {
  if (!list.hasMore || list.lastKey === undefined) return { continue: '', remainingItemCount: undefined };
  return { continue: encodeContinue(list.lastKey, prefix, list.revision), remainingItemCount: isUnselected ? list.remaining : undefined };
}

export async function watchEntries(parts: StoreParts, namespace: string, options: WatchOptions, sink: WatchSink): Promise<Subscription> {
  const { shard } = options.selection;
  if (!shard || !parts.metrics) return watchAny(parts, namespace, options, sink);
  const { metrics } = parts;
  const counted = { ...shard, matches: (object: ApiObject) => shard.matches(object) || (metrics.shardFiltered(), false) };
  const subscription = await watchAny(parts, namespace, { ...options, selection: { ...options.selection, shard: counted } }, sink);
  metrics.shardedWatches(1);
  return {
    ...subscription,
    close() {
      metrics.shardedWatches(-1);
      subscription.close();
    },
  };
}

async function watchAny(parts: StoreParts, namespace: string, options: WatchOptions, sink: WatchSink): Promise<Subscription> {
  const { conversion } = parts;
  if (!conversion) return watchStored(parts, namespace, options, entrySelection(parts, options.selection), sink);
  const stored = keySelection(parts, options.selection);
  const wantsState = options.sendInitialEvents ?? parseVersion(options.resourceVersion) === 0;
  // Many at a time: the watch finds each of them converted.
  if (wantsState) await conversion.readAll((await stateOf(parts, namespace, options.selection, stored)).entries);
  return watchStored(parts, namespace, options, stored, convertingSink(conversion, convertedMatcher(parts, options.selection), sink));
}

type Matches = (entry: CacheEntry) => boolean;
const EVERY_ENTRY: Matches = () => true;

function stateOf(
  parts: StoreParts,
  namespace: string,
  selection: Selection,
  wanted: CacheSelection | undefined,
): Pick<CacheList, 'entries' | 'revision'> | Promise<CacheList> {
  const { cache } = parts;
  const prefix = namespacePrefix(parts, namespace);
  if (wanted === undefined) return cache.list(prefix);
  const key = selectedKey(parts, namespace, selection);
  if (key === undefined) return cache.select(prefix, wanted);
  const entry = cache.get(key);
  return { entries: entry && wanted.matches(entry) ? [entry] : [], revision: cache.revision };
}

async function watchStored(
  parts: StoreParts,
  namespace: string,
  options: WatchOptions,
  wanted: CacheSelection | undefined,
  sink: WatchSink,
): Promise<Subscription> {
  const { cache } = parts;
  const version = parseVersion(options.resourceVersion);
  const wantsState = options.sendInitialEvents ?? version === 0;
  if (wantsState || version === 0) await waitForVersion(parts, options.resourceVersion);

  let sentRevision = version;
  if (wantsState) {
    const state = await stateOf(parts, namespace, options.selection, wanted);
    parts.metrics?.initialEvents(state.entries.length);
    for (const entry of state.entries) sink.send('ADDED', entry, undefined);
    sentRevision = state.revision;
    if (options.sendInitialEvents && options.allowBookmarks) sink.bookmark(state.revision, true);
  } else if (version === 0) sentRevision = cache.revision;

  const matches = wanted?.matches ?? EVERY_ENTRY;
  const watching = cache.watch(
    namespacePrefix(parts, namespace),
    sentRevision,
    parts.tellsCorrupt ? (event) => deliverReadable(event, sink, () => deliver(event, matches, sink)) : (event) => deliver(event, matches, sink),
    (error) => sink.fail(watchError(error, version)),
    options.followsResets ? { ...wanted, followsResets: true } : wanted,
  );
  const progress = options.allowBookmarks ? cache.onProgress((revision) => sink.bookmark(revision, false)) : undefined;
  return {
    close() {
      watching.close();
      progress?.close();
    },
  };
}

/** A change as one selection sees it: an object that comes to match is added, one that ceases to is deleted. */
function deliver(event: CacheEvent, matches: (entry: CacheEntry) => boolean, sink: WatchSink): void {
  const isIn = event.type !== 'DELETED' && matches(event.entry);
  const wasIn = event.previous !== undefined && matches(event.previous);
  if (isIn) sink.send(wasIn ? 'MODIFIED' : 'ADDED', event.entry, event);
  else if (wasIn) sink.send('DELETED', event.type === 'DELETED' ? event.entry : event.asDeleted(), event);
}

export const watchError = (error: Error, version: number): Error =>
  error instanceof Compacted ? resourceExpired(`too old resource version: ${version} (${error.oldestRevision})`) : error;
