import { NOTHING_EMPTY } from '../schema/empty-paths.ts';
import { clone, cloneInSlices } from '../schema/clone.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { CommitConflict } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import { conflict, isApiError, notFound } from '../api/errors.ts';
import { TimeSlice, nextTurn } from '../util/time-slice.ts';
import { demandReadable } from './corrupt-objects.ts';
import { formatSeconds } from './metadata.ts';
import { listEntries } from './read.ts';
import { LARGE_BYTES, type RequestContext } from './request-context.ts';
import { timedStorage } from './storage-latency.ts';
import {
  type StoreParts,
  admissionAttributes,
  asRead,
  canonical,
  canonicalInSlices,
  currentEntry,
  encodeStored,
  groupKind,
  groupResource,
  isStoredAs,
  keyOf,
  writtenEntry,
} from './store-parts.ts';
import type { DeleteOptions, DeleteResult, ListOptions, ListResult } from './store.ts';
import { annotationOf } from './write-author.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** One deletion of one object as it was found. */
interface Deletion<T extends ApiObject> {
  parts: StoreParts<T>;
  context: RequestContext;
  namespace: string;
  name: string;
  /** As admission is asked: one of many goes unnamed. */
  admittedName: string;
  key: string;
  options: DeleteOptions;
  entry: CacheEntry;
  /** A private copy, on which marks of deletion are made. */
  object: T;
}

/** Removes an object, or marks it where finalizers or a grace period must be waited out (apiserver/pkg/registry/generic/registry/store.go Delete). */
export async function deleteObject<T extends ApiObject>(
  parts: StoreParts<T>,
  context: RequestContext,
  namespace: string,
  name: string,
  options: DeleteOptions,
  admittedName = name,
): Promise<DeleteResult<T>> {
  warnOfPropagation(parts, context, options);
  const key = keyOf(parts, namespace, name);
  for (;;) {
    const entry = await currentEntry(parts, key);
    if (!entry) throw notFound(groupResource(parts.definition), name);
    demandReadable(parts, entry);
    if (entry.bytes.length > LARGE_BYTES) {
      context.isLarge = true;
      entry.object();
      await nextTurn();
    }
    const object = context.isLarge ? await cloneInSlices(entry.object<T>()) : clone(entry.object<T>());
    const deletion = { parts, context, namespace, name, admittedName, key, options, entry, object };
    try {
      return await attempt(deletion);
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
    }
  }
}

function warnOfPropagation<T extends ApiObject>({ definition }: StoreParts<T>, context: RequestContext, options: DeleteOptions): void {
  const isNamed = options.propagationPolicy !== undefined || options.orphanDependents !== undefined;
  if (definition.deletion?.warning !== undefined && !isNamed) context.warn(definition.deletion.warning);
}

async function attempt<T extends ApiObject>(deletion: Deletion<T>): Promise<DeleteResult<T>> {
  const { parts, object } = deletion;
  const { definition } = parts;
  checkPreconditions(deletion);
  // Asked again while something else must empty it first: nothing changes, and nobody is asked.
  if (object.metadata.deletionTimestamp && definition.deletion?.mayRemove?.(object) === false) return { object, isGone: false, answersWithObject: true };
  const grace = beginGrace(deletion);
  const answersWithObject = definition.deletion?.returnsObject ?? false;
  if (grace === 'pending') return { object, isGone: false, answersWithObject };
  const shownOptions = optionsWithGrace(deletion, grace);
  await admitDelete(deletion, deletion.entry.object(), shownOptions);

  const before = object.metadata.finalizers ?? [];
  const finalizers = collectorFinalizers(deletion);
  const isHeld = finalizers.length > 0;
  const mayGo = !isHeld && (definition.deletion?.mayRemove?.(object) ?? true);
  if (mayGo && grace === 'none') return before.length > 0 ? removeHeld(deletion, shownOptions) : remove(deletion, deletion.entry.revision, answersWithObject);
  if (isHeld && finalizers.join() !== before.join()) object.metadata.finalizers = finalizers;
  else if (!isHeld) delete object.metadata.finalizers;
  if (isHeld && grace === 'none') markAsDeleting(deletion);
  if (mayGo && object.metadata.deletionGracePeriodSeconds === 0) return removeMarked(deletion, shownOptions);

  if (!object.metadata.deletionTimestamp) markAsDeleting(deletion);
  definition.deletion?.mark?.(object);
  return { object: await writeMarked(deletion), isGone: false, answersWithObject: true };
}

function checkPreconditions<T extends ApiObject>(deletion: Deletion<T>): void {
  const { name, options, object } = deletion;
  const { definition } = deletion.parts;
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (definition.deletion?.mayRemove) return checkMarkedFirst(deletion);
  const { group, kind: resource } = groupKind(definition);
  const kind = { group, resource };
  if (uid !== undefined && uid !== object.metadata.uid) {
    throw conflict(
      kind,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
    throw conflict(
      kind,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** Kinds whose first DELETE only marks them (namespaces, definitions) look for themselves, and say it in words of their own. */
function checkMarkedFirst<T extends ApiObject>({ parts: { definition }, name, options, object: { metadata } }: Deletion<T>): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const refuse = (what: string, given: string, actual: string | undefined): Error =>
    conflict(groupResource(definition), name, `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${actual}`);
  if (uid !== undefined && uid !== metadata.uid) throw refuse('UID', uid, metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) throw refuse('ResourceVersion', resourceVersion, metadata.resourceVersion);
}

/**
 * `none`: this kind or object knows no grace. `begun`: the object is marked with its deletion's time. `pending`: it was before, and this request does
 * not shorten it (rest.BeforeDelete).
 */
function beginGrace<T extends ApiObject>({ parts, options, object }: Deletion<T>): 'none' | 'begun' | 'pending' {
  const { metadata } = object;
  const requested = requestedGrace(options);
  if (!parts.definition.deletion?.gracePeriodSeconds) return 'none';
  if (metadata.deletionTimestamp) {
    const current = metadata.deletionGracePeriodSeconds ?? 0;
    if (current === 0) return 'none';
    if (requested === undefined || requested >= current) return 'pending';
    shortenGrace(metadata, current, requested, parts.now());
    return 'begun';
  }
  const seconds = parts.definition.deletion.gracePeriodSeconds(object, requested);
  metadata.deletionTimestamp = formatSeconds(new Date(parts.now().getTime() + seconds * 1000));
  metadata.deletionGracePeriodSeconds = seconds;
  if (metadata.generation) metadata.generation++;
  return 'begun';
}

/**
 * The options as admission is shown them: with the period that was chosen, which rest.BeforeDelete writes into them. The objects of a collection have a
 * copy of the options each, of which admission sees nothing.
 */
function optionsWithGrace<T extends ApiObject>({ options, object, entry, admittedName }: Deletion<T>, grace: 'none' | 'begun'): object {
  const isFirst = grace === 'begun' && entry.object<T>().metadata.deletionTimestamp === undefined;
  const seconds = isFirst ? object.metadata.deletionGracePeriodSeconds : requestedGrace(options);
  return admittedName === '' || seconds === options.gracePeriodSeconds ? options.raw : { ...options.raw, gracePeriodSeconds: seconds };
}

/** A negative period means the shortest one. */
const requestedGrace = ({ gracePeriodSeconds: seconds }: DeleteOptions): number | undefined => (seconds !== undefined && seconds < 0 ? 1 : seconds);

function shortenGrace(metadata: ApiObject['metadata'], current: number, requested: number, now: Date): void {
  const moved = Date.parse(metadata.deletionTimestamp!) + (requested - current) * 1000;
  const isPast = moved < now.getTime();
  metadata.deletionTimestamp = formatSeconds(isPast ? now : new Date(moved));
  metadata.deletionGracePeriodSeconds = isPast && requested !== 0 ? 1 : requested;
}

/** The object's finalizers with the garbage collector's own added or taken away, as options, then the object, then the kind say. */
function collectorFinalizers<T extends ApiObject>({ parts, options, object }: Deletion<T>): string[] {
  const present = object.metadata.finalizers ?? [];
  if (!parts.collectsGarbage) return present;
  if (parts.definition.deletion?.marksBeforePropagation && !object.metadata.deletionTimestamp) return present;
  const { defaultPropagation = 'Background', foregroundUnlessOrphaned } = parts.definition.deletion ?? {};
  const isForeground = foregroundUnlessOrphaned && options.orphanDependents === false;
  const policy = isForeground ? 'Foreground' : propagation(defaultPropagation, options, present);
  const wanted = policy === 'Orphan' ? ORPHAN : policy === 'Foreground' ? FOREGROUND : undefined;
  const others = present.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (wanted === undefined) return others.length === present.length ? present : others;
  return present.includes(wanted) && others.length === present.length - 1 ? present : [...others, wanted];
}

function propagation(
  byDefault: 'Background' | 'Orphan' | 'none',
  options: DeleteOptions,
  finalizers: readonly string[],
): 'Orphan' | 'Foreground' | 'Background' {
  if (byDefault === 'none') return 'Background';
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background';
  if (options.propagationPolicy !== undefined) return options.propagationPolicy;
  const own = finalizers.find((finalizer) => finalizer === ORPHAN || finalizer === FOREGROUND);
  if (own !== undefined) return own === ORPHAN ? 'Orphan' : 'Foreground';
  return byDefault;
}

function markAsDeleting<T extends ApiObject>({ parts, object: { metadata } }: Deletion<T>): void {
  const now = parts.now();
  if (!metadata.deletionTimestamp && metadata.generation) metadata.generation++;
  if (!metadata.deletionTimestamp || Date.parse(metadata.deletionTimestamp) > now.getTime()) metadata.deletionTimestamp = formatSeconds(now);
  metadata.deletionGracePeriodSeconds = 0;
}

async function admitDelete<T extends ApiObject>(
  { parts, context, namespace, admittedName, options }: Deletion<T>,
  oldObject: ApiObject,
  shownOptions: object,
): Promise<void> {
  const call = {
    operation: 'DELETE' as const,
    subresource: '',
    namespace,
    name: admittedName,
    object: undefined,
    sentEmpty: NOTHING_EMPTY,
    oldObject,
    options: shownOptions,
    dryRun: options.dryRun,
    apiVersion: options.apiVersion,
  };
  const attributes = admissionAttributes(parts, context, call);
  const mutated = parts.admission.mutate(attributes);
  if (mutated) await mutated;
  const validated = parts.admission.validate(attributes);
  if (validated) await validated;
}

async function writeMarked<T extends ApiObject>(deletion: Deletion<T>): Promise<T> {
  const { parts, context, key, options, entry, object } = deletion;
  if (context.isLarge) await nextTurn();
  const marked = context.isLarge ? await canonicalInSlices(parts, object) : canonical(parts, object);
  if (context.isLarge) await nextTurn();
  const value = await encodeStored(parts, marked);
  if (context.isLarge) await nextTurn();
  if (options.dryRun) return asRead(parts, marked);
  if (await isStoredAs(parts, key, entry, value)) return marked;
  if (context.isLarge) await nextTurn();
  const change = { type: 'put', key, value, expected: entry.revision, ...authorOf(deletion) } as const;
  const revision = await timedStorage(parts, 'update', context, parts.engine.commit(change));
  marked.metadata.resourceVersion = String(revision);
  return parts.conversion ? (await writtenEntry(parts, key, value, revision)).object<T>() : marked;
}

/** A kind with grace is first marked, then removed, even when the grace is zero: watchers see both, and admission is asked about both. */
async function removeMarked<T extends ApiObject>(deletion: Deletion<T>, shownOptions: object): Promise<DeleteResult<T>> {
  const { parts, key, options } = deletion;
  const answersWithObject = parts.definition.deletion?.returnsObject ?? false;
  const marked = await writeMarked(deletion);
  if (!options.dryRun) await admitDelete(deletion, marked, shownOptions);
  try {
    return await remove(deletion, Number(marked.metadata.resourceVersion), answersWithObject);
  } catch (error) {
    // Once it is marked, whoever comes first may remove it (https://github.com/kubernetes/kubernetes/issues/19403).
    if (!(error instanceof CommitConflict) || (await currentEntry(parts, key))) throw error;
    return { object: marked, isGone: true, answersWithObject };
  }
}

/**
 * What only finalizers of the collector hold, which are to go, is removed without being written before: it is answered as it was, with them. Upstream
 * asks admission in the update that finds that nothing is to be updated, and again when it removes; a dry run ends between the two, with an object
 * that nothing was read into.
 */
async function removeHeld<T extends ApiObject>(deletion: Deletion<T>, shownOptions: object): Promise<DeleteResult<T>> {
  const { parts, options, entry } = deletion;
  if (options.dryRun) return { object: nothingOf(parts, entry.object<T>()), isGone: true, answersWithObject: true };
  await admitDelete(deletion, entry.object(), shownOptions);
  return remove(deletion, entry.revision, parts.definition.deletion?.returnsObject ?? false);
}

function nothingOf<T extends ApiObject>(parts: StoreParts<T>, { kind, apiVersion }: T): T {
  const { emptyObject: { annotations, spec } = {} } = parts.definition;
  return canonical(parts, { kind, apiVersion, metadata: { ...(annotations && { annotations }) }, ...(spec && { spec }) } as unknown as T);
}

const authorOf = <T extends ApiObject>({ parts, context, admittedName }: Deletion<T>): { annotation?: Buffer } =>
  annotationOf(parts, context, { verb: admittedName === '' ? 'deletecollection' : 'delete' });

async function remove<T extends ApiObject>(deletion: Deletion<T>, expected: number, answersWithObject: boolean): Promise<DeleteResult<T>> {
  const { parts, context, key, options, object } = deletion;
  if (!options.dryRun) {
    const revision = await timedStorage(parts, 'delete', context, parts.engine.commit({ type: 'delete', key, expected, ...authorOf(deletion) }));
    object.metadata.resourceVersion = String(revision);
  }
  await parts.definition.transactions?.afterDelete?.(object, context, options.dryRun);
  return { object, isGone: true, answersWithObject };
}

/** Deletes what a list finds, a few at a time; what another client removed meanwhile is no error. */
export async function deleteCollection<T extends ApiObject>(
  parts: StoreParts<T>,
  context: RequestContext,
  namespace: string,
  list: ListOptions,
  options: DeleteOptions,
): Promise<ListResult> {
  warnOfPropagation(parts, context, options);
  const found = await listEntries(parts, namespace, list);
  const queue = found.entries.values();
  const slice = new TimeSlice();
  const work = async (): Promise<void> => {
    for (const entry of queue) {
      if (slice.isSpent) await slice.next();
      const { metadata } = entry.object();
      try {
        await deleteObject(parts, context, metadata.namespace ?? '', metadata.name!, options, '');
      } catch (error) {
        if (!isApiError(error, 'NotFound')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, parts.deleteWorkers) }, work));
  return found;
}
