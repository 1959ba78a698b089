import { clone } from '../schema/clone.ts';
import { CommitConflict } from '../storage/engine.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject } from '../api/api-object.ts';
import { ApiError, alreadyExists, generateNameConflict, isApiError, isTooLargeForStore, unknownError } from '../api/errors.ts';
import type { FieldError, FieldErrors } from '../api/field-errors.ts';
import { type NameRule, pathSegmentName, subdomainName } from '../api/names.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { AdmissionAttributes } from './admission.ts';
import type { ResourceDefinition, Transaction } from './definition.ts';
import { guardOwnership, recordOwnership } from './field-ownership.ts';
import { fillSystemMetadata, generateName, validateMetadata, validateNames, wipeSystemMetadata } from './metadata.ts';
import { refuseIfInvalid } from './validation.ts';
import type { RequestContext } from './request-context.ts';
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
  keyOf,
  placeInNamespace,
  writtenEntry,
} from './store-parts.ts';
import type { WriteOptions, WriteResult } from './store.ts';
import { timedStorage } from './storage-latency.ts';
import type { SentObject, Write } from './write.ts';

interface CreateOptions extends WriteOptions {
  /** The subresource through which an update creates what is not there; none, mostly. */
  subresource?: string;
  /** An update creates, and is tried again as one where another writer creates first: CommitConflict is thrown, not AlreadyExists. */
  isUpdate?: boolean;
}

/** One request to create an object. */
export interface Creation<T extends ApiObject> {
  parts: StoreParts<T>;
  context: RequestContext;
  namespace: string;
  options: CreateOptions;
}

/** A generated name that is taken is made anew this many times (KEP-4420). */
const GENERATED_NAME_ATTEMPTS = 8;

export async function create<T extends ApiObject>(creation: Creation<T>, sent: SentObject<T>): Promise<WriteResult<T>> {
  // Nobody owns what the server takes out.
  wipeSystemMetadata(sent.object.metadata);
  return createUnwiped(creation, sent);
}

/** The same for an update of what is not there. */
export async function createUnwiped<T extends ApiObject>(creation: Creation<T>, sent: SentObject<T>): Promise<WriteResult<T>> {
  const { parts, context, options } = creation;
  const owned = recordOwnership({ definition: parts.definition, context, options, now: parts.now() }, sent, undefined);
  if (owned) await owned;
  if (context.isLarge) await nextTurn();
  return createOwned(creation, sent);
}

/** The same for an object whose managedFields are settled. */
export async function createOwned<T extends ApiObject>(creation: Creation<T>, sent: SentObject<T>): Promise<WriteResult<T>> {
  const { parts, context, namespace } = creation;
  const { object } = sent;
  placeInNamespace(parts.definition, object, namespace);
  const { managedFields } = object.metadata;
  const requestedName = object.metadata.name ?? '';
  const attributes = attributesOf(creation, sent, requestedName);
  const mutated = parts.admission.mutate(attributes);
  if (mutated) await mutated;
  const { sentEmpty } = attributes;
  guardOwnership(object, managedFields, context);

  const isGenerated = Boolean(object.metadata.generateName) && !object.metadata.name;
  if (!isGenerated) return createFitting(creation, { object, sentEmpty }, requestedName);
  for (let attempt = 1; ; attempt++) {
    try {
      const named = clone(object);
      named.metadata.name = (parts.definition.nameFrom ?? generateName)(object.metadata.generateName!);
      return await createFitting(creation, { object: named, sentEmpty }, requestedName);
    } catch (error) {
      if (attempt === GENERATED_NAME_ATTEMPTS || !(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    }
  }
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

/** Who owns which field is the first thing to go where an object is too large for the store (endpoints/handlers/create.go). */
async function createFitting<T extends ApiObject>(creation: Creation<T>, sent: SentObject<T>, requestedName: string): Promise<WriteResult<T>> {
  try {
    return await createOnce(creation, sent, requestedName);
  } catch (error) {
    if (!isTooLargeForStore(error)) throw error;
    delete sent.object.metadata.managedFields;
    return createOnce(creation, sent, requestedName);
  }
}

async function createOnce<T extends ApiObject>(creation: Creation<T>, sent: SentObject<T>, requestedName: string): Promise<WriteResult<T>> {
  const { parts, namespace, options } = creation;
  const transaction = await beginCreate(creation, sent.object);
  try {
    const result = await commitNew(creation, sent, requestedName);
    await transaction?.commit();
    return result;
  } catch (error) {
    await transaction?.revert();
    if (!(error instanceof CommitConflict)) throw error;
    // An update is tried again where another writer has come first; but not where admission gave the object another name, which is taken.
    const isRace = options.isUpdate === true && error.key === keyOf(parts, namespace, requestedName);
    throw isRace ? error : existsError(parts, sent.object, error.key);
  }
}

async function beginCreate<T extends ApiObject>(
  { parts: { definition, now }, context, namespace, options }: Creation<T>,
  object: T,
): Promise<Transaction | undefined> {
  fillSystemMetadata(object.metadata, now());
  placeInNamespace(definition, object, namespace);
  // Only who creates the object itself allocates for it.
  return options.subresource ? undefined : definition.beginCreate?.(object, context, options.dryRun);
}

/** Prepare, validate, admit, commit: what is stored is what validation has seen. */
async function commitNew<T extends ApiObject>(creation: Creation<T>, sent: SentObject<T>, requestedName: string): Promise<WriteResult<T>> {
  const { parts, context, namespace, options } = creation;
  const { definition, admission } = parts;
  const write: Write<T> = { ...sent, old: undefined, settings: definition.settings, now: parts.now(), context };
  prepareForCreate(parts, write);
  if (context.isLarge) await nextTurn();
  const stored = context.isLarge ? await canonicalInSlices(parts, sent.object) : canonical(parts, sent.object);
  const storedWrite = { ...write, object: stored };
  const name = stored.metadata.name ?? '';
  // What mutating admission made of the name does not count (endpoints/handlers/create.go, AdmissionToValidateObjectFunc).
  const attributes = attributesOf(creation, storedWrite, requestedName || name);
  const forbidden = definition.asksForRights ? await admission.rights?.(attributes) : undefined;
  if (context.isLarge) await nextTurn();
  const validation = validateNew(parts, storedWrite, sent.object, forbidden);
  if (validation) await validation;
  if (context.isLarge) await nextTurn();
  for (const warning of definition.warnings?.(storedWrite) ?? []) context.warn(warning);
  if (context.isLarge) await nextTurn();
  const validated = admission.validate(attributes);
  if (validated) await validated;

  const key = keyOf(parts, namespace, name);
  if (options.dryRun) {
    const existing = await readableEntry(parts, key);
    if (existing) throw new CommitConflict(key, { key, value: existing.bytes, revision: existing.revision });
    return { object: await asRead(parts, stored), entry: undefined, created: true };
  }
  return storeNew(creation, key, stored);
}

async function storeNew<T extends ApiObject>({ parts, context, options }: Creation<T>, key: string, stored: T): Promise<WriteResult<T>> {
  const { definition, engine } = parts;
  const { resourceVersion = '' } = stored.metadata;
  // The reference finds this in its storage layer, which neither a dry run nor an update that creates reaches, and answers accordingly.
  if (Number(resourceVersion) > 0 && !options.isUpdate) throw unknownError('resourceVersion should not be set on objects to be created');
  delete stored.metadata.resourceVersion;
  const ttlSeconds = definition.ttlSeconds?.(stored);
  if (context.isLarge) await nextTurn();
  const encoded = encodeStored(parts, stored);
  const value = encoded instanceof Promise ? await encoded : encoded;
  if (context.isLarge) await nextTurn();
  const revision = await timedStorage(context, engine.commit({ type: 'put', key, value, expected: 0, ...(ttlSeconds !== undefined && { ttlSeconds }) }));
  stored.metadata.resourceVersion = String(revision);
  const written = writtenEntry(parts, key, value, revision);
  const entry = written instanceof Promise ? await written : written;
  return { object: parts.conversion ? entry.object<T>() : stored, entry, created: true };
}

/** What cannot be converted is not there for a dry run: the reference does not ask why it could not be read (registry/generic/registry/dryrun.go Create). */
async function readableEntry(parts: StoreParts, key: string): Promise<CacheEntry | undefined> {
  try {
    return await currentEntry(parts, key);
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
}

/** What every kind's strategy does on creation, then what this kind does. */
function prepareForCreate<T extends ApiObject>({ definition }: StoreParts<T>, write: Write<T>): void {
  const { object } = write;
  if (definition.hasStatus && !definition.makesStatus) {
    delete (object as { status?: unknown }).status;
    write.sentEmpty = write.sentEmpty.without('status');
  }
  if (definition.generation === 'spec') object.metadata.generation = 1;
  definition.prepareForCreate?.(write);
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
  const nameErrors: NameRule = (name, isPrefix) => definition.nameErrors?.(name, isPrefix, write.settings) ?? subdomainName(name, isPrefix);
  if (appliesMetadataRules(definition)) validateMetadata(write.object.metadata, definition.namespaced, nameErrors, errors.at('metadata'));
  definition.validate?.(write, errors);
}

function existsError({ definition, cache }: StoreParts, object: ApiObject, key: string): ApiError {
  const resource = groupResource(definition);
  const name = object.metadata.name ?? '';
  const error = object.metadata.generateName ? generateNameConflict(resource, name) : alreadyExists(resource, name);
  const isDying = cache.get(key)?.object().metadata.deletionTimestamp !== undefined;
  return isDying ? new ApiError(error.code, error.reason, `object is being deleted: ${error.message}`, error.status.details) : error;
}
