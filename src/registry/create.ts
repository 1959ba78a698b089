import { clone } from '../schema/clone.ts';
import { CommitConflict } from '../storage/engine.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject } from '../api/api-object.ts';
import { ApiError, alreadyExists, generateNameConflict, isApiError, isTooLargeForStore, unknownError } from '../api/errors.ts';
import type { FieldError, FieldErrors } from '../api/field-errors.ts';
import { type NameRule, pathSegmentName, subdomainName } from '../api/names.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { AdmissionAttributes } from './admission.ts';
import type { ResourceDefinition } from './definition.ts';
import { guardOwnership, recordOwnership } from './field-ownership.ts';
import { fillSystemMetadata, generateName, validateMetadata, validateNames, wipeSystemMetadata } from './metadata.ts';
import { refuseIfInvalid } from './validation.ts';
import type { RequestContext } from './request-context.ts';
import { corruptionOf } from './corrupt-objects.ts';
import {
  type StoreParts,
  admissionAttributes,
  asRead,
  canonical,
  canonicalInSlices,
  currentEntry,
  encodeStored,
  isReadOtherwise,
  groupKind,
  groupResource,
  keyOf,
  ensureNamespaceMatches,
  writtenEntry,
} from './store-parts.ts';
import type { WriteOptions, WriteResult } from './store.ts';
import { timedStorage } from './storage-latency.ts';
import { appliedEmpties, type NextObject, type SentObject, type Write, convertObject, defaultInTurns, defaultObject } from './write.ts';
import type { EmptyPaths } from '../schema/empty-paths.ts';
import { type WriteWay, annotationOf } from './write-author.ts';

interface CreateOptions extends WriteOptions {
  /** The subresource through which an update creates what is not there; none, mostly. */
  subresource?: string;
  /**
   * The name of an update that creates. The key is made of it, whatever admission calls the object (registry/store.go Update), and the update is tried again
   * where another writer creates first: CommitConflict is thrown, not AlreadyExists.
   */
  updatedName?: string;
  /** As of UpdateOptions. */
  isApply?: boolean;
}

/** One request to create an object. */
export interface Creation<T extends ApiObject> {
  parts: StoreParts<T>;
  context: RequestContext;
  namespace: string;
  options: CreateOptions;
}

/** An object that mutating admission has let in, and the name that its request asked for: what admission made of it is not what others are told. */
interface Admitted<T extends ApiObject> extends SentObject<T> {
  requestedName: string;
}

/**
 * Every create, in the order of its steps: decode → default → convert → admit (mutating) → prepare → validate (the kind's rules, then validating admission)
 * → commit. An update has the same order (`update.ts`).
 */
export async function create<T extends ApiObject>(creation: Creation<T>, decode: NextObject<T>): Promise<WriteResult<T>> {
  const sent = await decode(undefined);
  if (creation.context.isLarge) await defaultInTurns(sent);
  else defaultObject(sent);
  if (creation.context.isLarge) await nextTurn();
  const converted = convertObject(sent);
  if (creation.context.isLarge) await nextTurn();
  const admitted = await admit(creation, converted);
  return inFreeName(creation, admitted, (named) =>
    inTransaction(creation, named, async () => {
      const write = await prepare(creation, named);
      await validate(creation, write, named);
      return commit(creation, write);
    }),
  );
}

/** Who writes comes to own fields, and then the mutating step of admission sees the object. */
async function admit<T extends ApiObject>(creation: Creation<T>, sent: SentObject<T>): Promise<Admitted<T>> {
  const { parts, context, namespace, options } = creation;
  const { object } = sent;
  // Nobody owns what the server takes out. An update that creates takes nothing out.
  if (options.updatedName === undefined) wipeSystemMetadata(object.metadata);
  if (!options.isApply) {
    const owned = recordOwnership({ definition: parts.definition, context, options, now: parts.now() }, sent, undefined);
    if (owned) await owned;
    if (context.isLarge) await nextTurn();
  }
  ensureNamespaceMatches(parts.definition, object, namespace);
  const { managedFields } = object.metadata;
  const requestedName = object.metadata.name ?? '';
  const attributes = attributesOf(creation, sent, requestedName);
  const mutated = parts.admission.mutate(attributes);
  if (mutated) await mutated;
  guardOwnership(object, managedFields, context);
  return { object, sentEmpty: attributes.sentEmpty, requestedName };
}

function attributesOf<T extends ApiObject>(
  { parts, context, namespace, options }: Creation<T>,
  { object, sentEmpty }: SentObject<T>,
  name: string,
): AdmissionAttributes {
  return admissionAttributes(parts, context, {
    operation: 'CREATE',
    subresource: options.subresource ?? '',
    namespace,
    name,
    object,
    sentEmpty,
    oldObject: undefined,
    options: options.raw,
    dryRun: options.dryRun,
    apiVersion: options.apiVersion,
  });
}

/** A generated name that is taken is made anew this many times (KEP-4420). */
const GENERATED_NAME_ATTEMPTS = 8;

type Store<T extends ApiObject> = (admitted: Admitted<T>) => Promise<WriteResult<T>>;

async function inFreeName<T extends ApiObject>({ parts }: Creation<T>, admitted: Admitted<T>, store: Store<T>): Promise<WriteResult<T>> {
  const { generateName: prefix, name } = admitted.object.metadata;
  if (!prefix || name) return storeFitting(admitted, store);
  for (let attempt = 1; ; attempt++) {
    try {
      const named = { ...admitted, object: clone(admitted.object) };
      named.object.metadata.name = (parts.definition.naming?.generate ?? generateName)(prefix);
      return await storeFitting(named, store);
    } catch (error) {
      if (attempt === GENERATED_NAME_ATTEMPTS || !(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    }
  }
}

/** Who owns which field is the first thing to go where an object is too large for the store (endpoints/handlers/create.go). */
async function storeFitting<T extends ApiObject>(admitted: Admitted<T>, store: Store<T>): Promise<WriteResult<T>> {
  try {
    return await store(admitted);
  } catch (error) {
    if (!isTooLargeForStore(error)) throw error;
    delete admitted.object.metadata.managedFields;
    return store(admitted);
  }
}

/** With the metadata that the server gives it, and what the kind allocates for it, which is taken back where the write fails. */
async function inTransaction<T extends ApiObject>(
  { parts, context, namespace, options }: Creation<T>,
  { object }: Admitted<T>,
  store: () => Promise<WriteResult<T>>,
): Promise<WriteResult<T>> {
  fillSystemMetadata(object.metadata, parts.now());
  ensureNamespaceMatches(parts.definition, object, namespace);
  // Only who creates the object itself allocates for it.
  const transaction = options.subresource ? undefined : await parts.definition.transactions?.beginCreate?.(object, context, options.dryRun);
  try {
    const result = await store();
    await transaction?.commit();
    return result;
  } catch (error) {
    await transaction?.revert();
    // An update is tried again where another writer has come first.
    if (!(error instanceof CommitConflict) || options.updatedName !== undefined) throw error;
    throw existsError(parts, object, error.key);
  }
}

/** What every kind's strategy does on creation, then what this kind does. Answers the write of what is to be stored, in canonical form. */
async function prepare<T extends ApiObject>({ parts, context }: Creation<T>, { object, sentEmpty }: Admitted<T>): Promise<Write<T>> {
  const { definition } = parts;
  const write: Write<T> = { object, old: undefined, sentEmpty, settings: definition.settings, now: parts.now(), context };
  if (definition.hasStatus && !definition.makesStatus) {
    delete (object as { status?: unknown }).status;
    write.sentEmpty = sentEmpty.without('status');
  }
  if (definition.generation === 'spec') object.metadata.generation = 1;
  definition.prepareForCreate?.(write);
  if (context.isLarge) await nextTurn();
  return { ...write, object: context.isLarge ? await canonicalInSlices(parts, object) : canonical(parts, object) };
}

/** The kind's rules, its warnings, and the validating step of admission: what is stored is what they have seen. */
async function validate<T extends ApiObject>(creation: Creation<T>, write: Write<T>, { object: sent, requestedName }: Admitted<T>): Promise<void> {
  const { parts, context } = creation;
  const { definition, admission } = parts;
  // What mutating admission made of the name does not count (endpoints/handlers/create.go, AdmissionToValidateObjectFunc).
  const attributes = attributesOf(creation, write, requestedName || (write.object.metadata.name ?? ''));
  const forbidden = definition.asksForRights ? await admission.rights?.(attributes) : undefined;
  if (context.isLarge) await nextTurn();
  const validation = validateNew(parts, write, sent, forbidden);
  if (validation) await validation;
  if (context.isLarge) await nextTurn();
  for (const warning of definition.warnings?.(write) ?? []) context.warn(warning);
  if (context.isLarge) await nextTurn();
  const validated = admission.validate(attributes);
  if (validated) await validated;
}

async function commit<T extends ApiObject>(creation: Creation<T>, { object, sentEmpty }: Write<T>): Promise<WriteResult<T>> {
  const { parts, namespace, options } = creation;
  const key = keyOf(parts, namespace, options.updatedName ?? object.metadata.name ?? '');
  if (!options.dryRun) return storeNew(creation, key, object, appliedEmpties(options, sentEmpty));
  const existing = await readableEntry(parts, key);
  if (existing) throw new CommitConflict(key, { key, value: existing.bytes, revision: existing.revision });
  return { object: await asRead(parts, object), entry: undefined, created: true };
}

async function storeNew<T extends ApiObject>({ parts, context, options }: Creation<T>, key: string, stored: T, applied: EmptyPaths): Promise<WriteResult<T>> {
  const { definition, engine } = parts;
  const { resourceVersion = '' } = stored.metadata;
  // The reference finds this in its storage layer, which neither a dry run nor an update that creates reaches, and answers accordingly.
  if (Number(resourceVersion) > 0 && options.updatedName === undefined) throw unknownError('resourceVersion should not be set on objects to be created');
  delete stored.metadata.resourceVersion;
  const ttlSeconds = definition.storage.ttlSeconds?.(stored);
  if (context.isLarge) await nextTurn();
  const encoded = encodeStored(parts, stored, definition, applied);
  const value = encoded instanceof Promise ? await encoded : encoded;
  if (context.isLarge) await nextTurn();
  const revision = await timedStorage(
    parts,
    'create',
    context,
    engine.commit({ type: 'put', key, value, expected: 0, ...(ttlSeconds !== undefined && { ttlSeconds }), ...annotationOf(parts, context, wayOf(options)) }),
  );
  stored.metadata.resourceVersion = String(revision);
  const written = writtenEntry(parts, key, value, revision);
  const entry = written instanceof Promise ? await written : written;
  return { object: parts.conversion || isReadOtherwise(parts, stored, applied) ? entry.object<T>() : stored, entry, created: true };
}

const wayOf = ({ updatedName, isApply = false, subresource, fieldManager }: CreateOptions): WriteWay => ({
  verb: isApply ? 'apply' : updatedName === undefined ? 'create' : 'update',
  subresource,
  fieldManager,
});

/** What cannot be converted is not there for a dry run: the reference does not ask why it could not be read (registry/generic/registry/dryrun.go Create). */
async function readableEntry(parts: StoreParts, key: string): Promise<CacheEntry | undefined> {
  try {
    return await currentEntry(parts, key);
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
}

/** The kind's own rules first, so that its messages are the ones shown; then what every stored object must keep. */
function validateNew<T extends ApiObject>(
  { definition }: StoreParts<T>,
  write: Write<T>,
  sent: T,
  forbidden: readonly FieldError[] = [],
): void | Promise<void> {
  const kind = groupKind(definition);
  const options = {
    validatesSentEmpty: definition.validatesSentEmpty?.(sent),
    forbidden,
    validatesInSlices: definition.validatesInSlices ?? write.context.isLarge,
  };
  const validation = refuseIfInvalid(kind, write, (object, errors) => validateWhole(definition, { ...write, object }, errors), options);
  const validateStoredMetadata = (): void | Promise<void> =>
    refuseIfInvalid(kind, write, ({ metadata }, errors) => {
      // The same rules again where the kind has applied them, but for names.
      if (appliesMetadataRules(definition)) validateNames(metadata, pathSegmentName, errors.at('metadata'));
      else validateMetadata(metadata, definition.namespaced, pathSegmentName, errors.at('metadata'));
    });
  return validation ? validation.then(validateStoredMetadata) : validateStoredMetadata();
}

const appliesMetadataRules = ({ validatesMetadata = true }: Pick<ResourceDefinition, 'validatesMetadata'>): boolean => validatesMetadata;

/** What the kind demands of an object by itself, whatever it was before. */
export function validateWhole<T extends ApiObject>(definition: ResourceDefinition<T>, write: Write<T>, errors: FieldErrors): void {
  const nameErrors: NameRule = (name, isPrefix) => definition.naming?.errors?.(name, isPrefix, write.settings) ?? subdomainName(name, isPrefix);
  if (appliesMetadataRules(definition)) validateMetadata(write.object.metadata, definition.namespaced, nameErrors, errors.at('metadata'));
  definition.validate?.(write, errors);
}

function existsError({ definition, cache, tellsCorrupt }: StoreParts, object: ApiObject, key: string): ApiError {
  const resource = groupResource(definition);
  const name = object.metadata.name ?? '';
  const error = object.metadata.generateName ? generateNameConflict(resource, name) : alreadyExists(resource, name);
  const existing = cache.get(key);
  const isTerminating = existing && !(tellsCorrupt && corruptionOf(existing)) && existing.object().metadata.deletionTimestamp !== undefined;
  return isTerminating ? new ApiError(error.code, error.reason, `object is being deleted: ${error.message}`, error.status.details) : error;
}
