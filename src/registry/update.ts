import { clone, cloneInSlices } from '../schema/clone.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { CommitConflict } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import { conflict, invalid, isTooLargeForStore, notFound, unknownError } from '../api/errors.ts';
import { type FieldError, FieldErrors } from '../api/field-errors.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { pathSegmentName } from '../api/names.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { AdmissionAttributes } from './admission.ts';
import { create, validateWhole } from './create.ts';
import type { UpdateRules } from './definition.ts';
import { guardOwnership, keepUnchangedTimes, recordOwnership } from './field-ownership.ts';
import { validateMetadata, validateMetadataUpdate } from './metadata.ts';
import { refuseIfInvalid } from './validation.ts';
import { LARGE_BYTES, type RequestContext } from './request-context.ts';
import {
  type StoreParts,
  admissionAttributes,
  asRead,
  canonical,
  canonicalInSlices,
  currentEntry,
  encodeStored,
  isReadOtherwise,
  isStoredAs,
  groupKind,
  groupResource,
  keyOf,
  ensureNamespaceMatches,
  writtenEntry,
} from './store-parts.ts';
import type { UpdateOptions, WriteResult } from './store.ts';
import { timedStorage } from './storage-latency.ts';
import { appliedEmpties, type Change, type NextObject, type SentObject, type Write, convertObject, defaultInTurns, defaultObject } from './write.ts';
import type { EmptyPaths } from '../schema/empty-paths.ts';
import { type WriteWay, annotationOf } from './write-author.ts';

/** Whoever meets more conflicts than these lets others go on in between: not every store gives up the thread. */
const QUICK_RETRIES = 3;

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** One update of one key, tried until no other writer comes between. */
interface Attempt<T extends ApiObject> {
  parts: StoreParts<T>;
  context: RequestContext;
  namespace: string;
  name: string;
  key: string;
  rules: UpdateRules<T>;
  options: UpdateOptions;
  /** The stored object; shared, never changed. */
  old: T;
  entry: CacheEntry;
  /** Leaves out who owns which field: with it, the object was too large for the store (endpoints/handlers/update.go, patch.go). */
  dropsOwnership: boolean;
}

export async function update<T extends ApiObject>(
  parts: StoreParts<T>,
  context: RequestContext,
  namespace: string,
  name: string,
  decode: NextObject<T>,
  options: UpdateOptions,
): Promise<WriteResult<T>> {
  const { definition } = parts;
  const key = keyOf(parts, namespace, name);
  const rules = options.subresource === '' ? definition : (definition.subresources?.[options.subresource]?.update ?? {});
  // A kind that a PUT creates is created through its status too.
  const mayCreate =
    options.mayCreate && (definition.createsOnUpdate === true || (options.isApply && (options.subresource === '' || rules.createsOnApply === true)));
  let dropsOwnership = false;
  let conflicts = 0;
  for (;;) {
    const entry = await currentEntry(parts, key);
    if (!entry && !mayCreate) throw notFound(groupResource(definition), name);
    try {
      if (!entry) return await createInstead(parts, context, namespace, name, decode, options);
      if (entry.bytes.length > LARGE_BYTES) context.isLarge = true;
      return await attempt({ parts, context, namespace, name, key, rules, options, old: entry.object<T>(), entry, dropsOwnership }, decode);
    } catch (error) {
      // Another writer came first. The next round sees its object, and refuses if this one insists on the version that is gone.
      if (error instanceof CommitConflict) {
        if (++conflicts > QUICK_RETRIES) await nextTurn();
        continue;
      }
      if (!isTooLargeForStore(error) || dropsOwnership || options.isApply) throw error;
      dropsOwnership = true;
    }
  }
}

function createInstead<T extends ApiObject>(
  parts: StoreParts<T>,
  context: RequestContext,
  namespace: string,
  name: string,
  decode: NextObject<T>,
  options: UpdateOptions,
): Promise<WriteResult<T>> {
  const decodeNew: NextObject<T> = async () => {
    const sent = await decode(undefined);
    const { uid, resourceVersion } = sent.object.metadata;
    if (uid) throw otherUid(parts, keyOf(parts, namespace, name), name, options, uid, '');
    parsedVersion(resourceVersion ?? '');
    return sent;
  };
  return create({ parts, context, namespace, options: { ...options, updatedName: name } }, decodeNew);
}

/**
 * Every update, patch and apply of what is there, in the order of its steps: decode → default → convert → admit (mutating) → prepare → validate (the kind's
 * rules, then validating admission) → commit. A create has the same order (`create.ts`).
 */
async function attempt<T extends ApiObject>(call: Attempt<T>, decode: NextObject<T>): Promise<WriteResult<T>> {
  const sent = await decode(await currentFor(call));
  if (call.context.isLarge) await nextTurn();
  if (call.context.isLarge) await defaultInTurns(sent);
  else defaultObject(sent);
  const converted = convertObject(sent);
  if (call.context.isLarge) await nextTurn();
  const admitted = await admit(call, converted);
  return inTransaction(call, admitted, async () => {
    const write = await prepare(call, admitted);
    await validate(call, write);
    return commit(call, write);
  });
}

/** A private copy of what is stored; but an apply leaves it as it is, and so reads its managedFields once for all who apply to it. */
async function currentFor<T extends ApiObject>({ context, options, old }: Attempt<T>): Promise<T> {
  if (!context.isLarge) return options.isApply ? old : clone(old);
  await nextTurn();
  return options.isApply ? old : cloneInSlices(old);
}

/** Who writes comes to own fields, and then the mutating step of admission sees the object. */
async function admit<T extends ApiObject>(call: Attempt<T>, sent: SentObject<T>): Promise<SentObject<T>> {
  const { parts, context, old, options } = call;
  const { object } = sent;
  if (!options.isPatch) checkUid(call, object);
  if (!options.isApply) {
    const owned = recordOwnership({ definition: parts.definition, context, options, now: parts.now() }, sent, old);
    if (owned) await owned;
  }
  if (context.isLarge) await nextTurn();
  const { managedFields } = object.metadata;
  const attributes = attributesOf(call, sent);
  await parts.admission.mutate(attributes);
  guardOwnership(object, managedFields, context);
  const { sentEmpty, through } = attributes;
  if (through) parts.definition.subresources?.[options.subresource]?.validateSent?.(through, call.name);
  if (call.dropsOwnership) delete object.metadata.managedFields;
  checkVersion(call, object);
  return { object, sentEmpty };
}

/** What the kind allocates for the change is taken back where the write fails. Subresources leave alone what is allocated: what their objects say of it does not count. */
async function inTransaction<T extends ApiObject>(
  { parts, context, old, options, rules }: Attempt<T>,
  { object }: SentObject<T>,
  store: () => Promise<WriteResult<T>>,
): Promise<WriteResult<T>> {
  const transaction = options.subresource === '' ? await parts.definition.transactions?.beginUpdate?.(object, old, context, options.dryRun) : undefined;
  try {
    const result = await store();
    await transaction?.commit();
    if (!options.dryRun) rules.afterUpdate?.(result.object, old);
    return result;
  } catch (error) {
    await transaction?.revert();
    throw error;
  }
}

function attributesOf<T extends ApiObject>(
  { parts, context, namespace, name, options, old }: Attempt<T>,
  { object, sentEmpty, through }: SentObject<T>,
): AdmissionAttributes {
  const call = {
    operation: 'UPDATE' as const,
    subresource: options.subresource,
    namespace,
    name,
    object,
    sentEmpty,
    through,
    oldObject: old,
    options: options.raw,
    dryRun: options.dryRun,
    apiVersion: options.apiVersion,
  };
  return admissionAttributes(parts, context, call);
}

/** A uid in the new object is a precondition: it must not overwrite another incarnation of the name. */
function checkUid<T extends ApiObject>({ parts, name, key, old, options }: Attempt<T>, object: T): void {
  const { uid } = object.metadata;
  if (uid && uid !== old.metadata.uid) throw otherUid(parts, key, name, options, uid, old.metadata.uid ?? '');
}

/** A dry run is checked before the storage, which knows what stands before its keys. */
function otherUid({ definition, keyPrefix }: StoreParts, key: string, name: string, { dryRun }: UpdateOptions, given: string, actual: string): Error {
  const shown = dryRun ? `/${definition.storage.prefix}/${key.slice(keyPrefix.length)}` : key;
  const why = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${actual}`;
  return conflict(groupResource(definition), name, `StorageError: invalid object, Code: 4, Key: ${shown}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`);
}

const MAX_VERSION = 2n ** 64n - 1n;
const MAX_VERSION_DIGITS = String(MAX_VERSION).length;

/** 0 where none is given. What is no number is told as upstream's storage tells it, which nobody turns into an answer of its own. */
function parsedVersion(given: string): bigint {
  const failure = (why: string): Error => unknownError(`strconv.ParseUint: parsing ${JSON.stringify(given)}: ${why}`);
  if (given === '') return 0n;
  if (!/^\d+$/.test(given)) throw failure('invalid syntax');
  const digits = given.replace(/^0+(?=\d)/, '');
  // Reading a number takes longer than its text is long.
  const version = digits.length <= MAX_VERSION_DIGITS ? BigInt(digits) : undefined;
  if (version === undefined || version > MAX_VERSION) throw failure('value out of range');
  return version;
}

function checkVersion<T extends ApiObject>({ parts: { definition }, name, rules, entry }: Attempt<T>, object: T): void {
  const given = parsedVersion(object.metadata.resourceVersion ?? '');
  const resource = groupResource(definition);
  const isGiven = given !== 0n;
  if (!isGiven && (rules.allowsUnconditionalUpdate ?? definition.allowsUnconditionalUpdate ?? true)) {
    object.metadata.resourceVersion = String(entry.revision);
    return;
  }
  if (!isGiven) {
    const errors = new FieldErrors();
    errors.at('metadata', 'resourceVersion').invalid(0, 'must be specified for an update');
    throw invalid({ group: resource.group, kind: resource.resource }, name, errors.list);
  }
  if (given !== BigInt(entry.revision)) throw conflict(resource, name, MODIFIED);
}

/**
 * What no update may change, what only the subresource may, and then what this kind's rules say (registry/rest/update.go BeforeUpdate). Answers the write of
 * what is to be stored, in canonical form.
 */
async function prepare<T extends ApiObject>({ parts, context, namespace, rules, options, old }: Attempt<T>, sent: SentObject<T>): Promise<Change<T>> {
  const { definition } = parts;
  const { object, sentEmpty } = sent;
  const write: Change<T> = { object, old, sentEmpty, settings: definition.settings, now: parts.now(), context };
  ensureNamespaceMatches(definition, object, namespace);
  if (old.metadata.generation === undefined) delete object.metadata.generation;
  else object.metadata.generation = old.metadata.generation;
  if (definition.hasStatus) keepUnwritable(write, options.subresource);
  rules.prepareForUpdate?.(write);
  if (!object.metadata.uid && old.metadata.uid) object.metadata.uid = old.metadata.uid;
  if (old.metadata.creationTimestamp) object.metadata.creationTimestamp = old.metadata.creationTimestamp;
  if (old.metadata.deletionTimestamp) object.metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  const { deletionGracePeriodSeconds } = old.metadata;
  if (deletionGracePeriodSeconds !== undefined) object.metadata.deletionGracePeriodSeconds ??= deletionGracePeriodSeconds;
  if (context.isLarge) await nextTurn();
  if (definition.generation === 'spec' && !equalApartFromMetadataAndStatus(object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  if (context.isLarge) await nextTurn();
  const stored = context.isLarge ? await canonicalInSlices(parts, object) : canonical(parts, object);
  compareTimes(parts, stored, old);
  return { ...write, object: stored };
}

/** Through the object, status stays as it was; through /status, all but status and metadata does. */
function keepUnwritable<T extends ApiObject>(write: Change<T>, subresource: string): void {
  const { object, old, sentEmpty } = write;
  if (subresource === '') write.sentEmpty = sentEmpty.without('status');
  else if (subresource === 'status') write.sentEmpty = sentEmpty.only('status', 'metadata');
  const [fields, before] = [object, old] as unknown as [JsonObject, JsonObject];
  const isKept = (field: string): boolean => (subresource === '' ? field === 'status' : subresource === 'status' && field !== 'status' && field !== 'metadata');
  for (const field of new Set([...Object.keys(fields), ...Object.keys(before)])) {
    if (!isKept(field)) continue;
    if (before[field] === undefined) delete fields[field];
    else fields[field] = clone(before[field]);
  }
}

export function equalApartFromMetadataAndStatus(a: ApiObject, b: ApiObject): boolean {
  const [left, right] = [a, b].map((object) => ({ ...object, metadata: undefined, status: undefined }));
  return equalJson(left, right);
}

/** The kind's rules, its warnings, and the validating step of admission: what is stored is what they have seen. */
async function validate<T extends ApiObject>(call: Attempt<T>, write: Change<T>): Promise<void> {
  const { parts, context } = call;
  const attributes = attributesOf(call, write);
  const forbidden = parts.definition.asksForRights ? await parts.admission.rights?.(attributes) : undefined;
  if (context.isLarge) await nextTurn();
  const validation = validateChange(call, write, forbidden);
  if (validation) await validation;
  if (context.isLarge) await nextTurn();
  for (const warning of warningsOf(call, write)) context.warn(warning);
  if (context.isLarge) await nextTurn();
  await parts.admission.validate(attributes);
}

function validateChange<T extends ApiObject>(
  { parts: { definition }, rules }: Attempt<T>,
  write: Change<T>,
  forbidden: readonly FieldError[] = [],
): void | Promise<void> {
  const { old, context } = write;
  const check = (object: T, errors: FieldErrors): void => {
    const checked = { ...write, object };
    const metadata = errors.at('metadata');
    validateMetadata(object.metadata, definition.namespaced, pathSegmentName, metadata);
    validateMetadataUpdate(object.metadata, old.metadata, metadata);
    if (rules.validatesWhole === 'before') validateWhole(definition, checked, errors);
    if (rules.validatesMetadataUpdate ?? rules.validatesMetadata ?? true) validateMetadataUpdate(object.metadata, old.metadata, metadata);
    rules.validateUpdate?.(checked, errors);
    if (rules.validatesWhole === 'after') validateWhole(definition, checked, errors);
  };
  return refuseIfInvalid(groupKind(definition), write, check, { forbidden, validatesInSlices: definition.validatesInSlices ?? context.isLarge });
}

function warningsOf<T extends ApiObject>({ parts: { definition }, rules, options }: Attempt<T>, write: Write<T>): string[] {
  const { warnings } = options.subresource === 'status' || rules.warnings ? rules : definition;
  return warnings?.(write) ?? [];
}

const commit = <T extends ApiObject>(call: Attempt<T>, { object, sentEmpty }: Change<T>): Promise<WriteResult<T>> =>
  isFinished(call, object) ? removeFinished(call, object) : commitChange(call, object, appliedEmpties(call.options, sentEmpty));

/** The last finalizer of a deleted object was taken off: this update is what removes it. */
function isFinished<T extends ApiObject>({ parts: { definition }, old }: Attempt<T>, object: T): boolean {
  if ((object.metadata.finalizers ?? []).length > 0 || !old.metadata.deletionTimestamp) return false;
  return (old.metadata.deletionGracePeriodSeconds ?? 0) === 0 && (definition.deletion?.mayRemove?.(object) ?? true);
}

async function removeFinished<T extends ApiObject>({ parts, context, key, entry, options }: Attempt<T>, object: T): Promise<WriteResult<T>> {
  if (!options.dryRun) await parts.engine.commit({ type: 'delete', key, expected: entry.revision, ...annotationOf(parts, context, wayOf(options)) });
  await parts.definition.transactions?.afterDelete?.(object, context, options.dryRun);
  return { object, entry: undefined, created: false };
}

async function commitChange<T extends ApiObject>(
  { parts, context, key, entry, options, rules }: Attempt<T>,
  object: T,
  applied: EmptyPaths,
): Promise<WriteResult<T>> {
  object.metadata.resourceVersion = String(entry.revision);
  if (options.dryRun) return { object: await asRead(parts, object), entry: undefined, created: false };
  if (context.isLarge) await nextTurn();
  const encoded = encodeStored(parts, object, rules, applied);
  const value = encoded instanceof Promise ? await encoded : encoded;
  if (context.isLarge) await nextTurn();
  const isRead = isReadOtherwise(parts, object, applied);
  // What reading makes another of is never the same as what was read.
  if (!isRead && (await isStoredAs(parts, key, entry, value))) return { object, entry, created: false };
  const ttlSeconds = parts.definition.storage.ttlSeconds?.(object);
  const how = { ...(ttlSeconds !== undefined && { ttlSeconds }), ...annotationOf(parts, context, wayOf(options)) };
  const change = { type: 'put', key, value, expected: entry.revision, ...how } as const;
  const revision = await timedStorage(parts, 'update', context, parts.engine.commit(change));
  object.metadata.resourceVersion = String(revision);
  const written = writtenEntry(parts, key, value, revision);
  const changed = written instanceof Promise ? await written : written;
  return { object: parts.conversion || isRead ? changed.object<T>() : object, entry: changed, created: false };
}

const wayOf = ({ isApply, isPatch, subresource, fieldManager }: UpdateOptions): WriteWay => ({
  verb: isApply ? 'apply' : isPatch ? 'patch' : 'update',
  subresource,
  fieldManager,
});

function compareTimes({ metrics }: Pick<StoreParts, 'metrics'>, stored: ApiObject, old: ApiObject): void {
  const startMs = performance.now();
  const outcome = keepUnchangedTimes(stored, old);
  metrics?.timesCompared(outcome, performance.now() - startMs);
}
