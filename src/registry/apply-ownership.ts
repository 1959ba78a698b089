import { clone } from '../schema/clone.ts';
import { DecodeError, convert } from '../schema/decode.ts';
import { DecodeRun } from '../schema/decode-run.ts';
import { EmptyPaths } from '../schema/empty-paths.ts';
import { TooManyItems, checkItems } from '../schema/ownership/count-items.ts';
import { conflictError } from '../schema/ownership/conflict-error.ts';
import { difference, hasPath, isEmpty, setOf } from '../schema/ownership/field-set.ts';
import { MIGRATING_MANAGER, lastAppliedFields, updateLastApplied } from '../schema/ownership/last-applied.ts';
import { ItemError } from '../schema/ownership/list-items.ts';
import { ManagedFieldsError, type Managers, encodeManagers, storedManagers } from '../schema/ownership/managers.ts';
import { type FieldWriter, ownersAfterApply, ownersAfterUpdate } from '../schema/ownership/own.ts';
import { parentManagers, scaleManagers } from '../schema/ownership/scale-managers.ts';
import { typePlanOf } from '../schema/ownership/type-plan.ts';
import { type Application, OwnershipConflicts, type Versioned } from '../schema/ownership/updater.ts';
import { TypeMismatch, validateApplied } from '../schema/ownership/validate.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { type ApiObject, type GroupVersionKind, apiVersionOf, parseApiVersion } from '../api/api-object.ts';
import { badRequest, requestEntityTooLarge, unknownError } from '../api/errors.ts';
import { hasKeys, isJsonObject } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { Steps, inStep, settled } from '../util/pending.ts';
import type { ServedVersion, Subresource } from './definition.ts';
import { type OwnedWrite, parentVersion, readThrough, replicasPaths, setEntries, validateTyped, writerOf } from './field-ownership.ts';
import { UnknownInVersion, type WayOfWriting, isOfOtherKind, wayOfWriting } from './ownership-versions.ts';
import { type SentObject, serverMade, writeThrough } from './write.ts';

/** A server-side apply of one object (KEP-555). */
export interface Apply extends OwnedWrite {
  /** The group-version in the path. */
  served: ServedVersion;
  subresource: Subresource | undefined;
  /** As the client sent it: only what it wants to own. */
  config: JsonObject;
  force: boolean;
  /** Of a large object: others have a turn between them. */
  steps?: Steps | undefined;
}

const BEFORE_FIRST_APPLY = 'before-first-apply';

/**
 * What is to be stored when `config` is applied to the stored object, or to none: merged, with defaults, with its managedFields settled. Throws
 * conflicts as 409, and what is no object of its type as upstream does. The stored object stays as it is.
 */
export function appliedObject(apply: Apply, live: ApiObject | undefined): SentObject | Promise<SentObject> {
  const { definition, subresource, options } = apply;
  checkType(apply);
  const way = wayOfWriting(definition, options.subresource ?? '');
  const steps = apply.context.isLarge ? new Steps() : undefined;
  return settled(() => {
    steps?.begin();
    return appliedOnce({ ...apply, steps }, way, subresource, live);
  });
}

function appliedOnce(apply: Apply, way: WayOfWriting, subresource: Subresource | undefined, live: ApiObject | undefined): SentObject {
  try {
    return subresource !== undefined && isOfOtherKind(apply.definition, subresource) && live
      ? appliedToScale(apply, way, subresource, live)
      : appliedToObject(apply, way, live);
  } catch (error) {
    if (error instanceof OwnershipConflicts) throw conflictError(error.conflicts);
    if (error instanceof ManagedFieldsError) throw unknownError(`failed to decode managed fields: ${error.message}`);
    if (error instanceof UnknownInVersion) throw unknownError(error.message);
    if (error instanceof TooManyItems) throw requestEntityTooLarge(error.message);
    throw error instanceof ItemError ? unknownError(`failed to merge config: ${error.message}`) : error;
  }
}

const kindOf = ({ served, subresource }: Apply): GroupVersionKind & { schema: ObjectSchema } => subresource ?? served;

const showKind = (group: string, version: string, kind: string): string => `${group}/${version}, Kind=${kind}`;

function checkType(apply: Apply): void {
  const { apiVersion, kind } = apply.config;
  const expected = kindOf(apply);
  if (apiVersion === apiVersionOf(expected.group, expected.version) && kind === expected.kind) return;
  const parsed = parseApiVersion(text(apiVersion));
  const shown = parsed === undefined ? showKind('', '', '') : showKind(parsed.group, parsed.version, text(kind));
  throw badRequest(`invalid object type: ${shown}`);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** `default/web; apps/v1, Kind=Deployment`: the object as upstream's errors name it. */
function subject(apply: Apply, object = apply.config): string {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { group, version, kind } = kindOf(apply);
  return `${text(metadata['namespace'])}/${text(metadata['name'])}; ${showKind(group, version, kind)}`;
}

function appliedToObject(apply: Apply, way: WayOfWriting, live: ApiObject | undefined): SentObject {
  const { served } = apply;
  const apiVersion = apiVersionOf(served.group, served.version);
  const before = live === undefined ? way.nothing(apiVersion) : way.fromStored(live, apiVersion);
  const checkLive = (failure: (subject: string) => string): void => {
    if (live) validateLive(apply, live, before, failure);
  };
  const tracked = trackedManagers(apply, way, before, storedManagers(live?.metadata.managedFields), checkLive);
  const { object, managers } = applied(apply, way, before, tracked, checkLive);
  const entries = encodeManagers(managers, apply.steps);
  const reading = apply.steps && inStep(apply.steps, (): Reading => ({ run: new DecodeRun(), sentEmpty: new EmptyPaths() }));
  const result = inStep(apply.steps, () => (object === undefined ? serverMade(clone(live!)) : storedForm(apply, object, reading)));
  updateAnnotation(apply, result.object);
  setEntries(result.object, entries);
  return result;
}

/** Throws what keeps the live object from being one of its type. */
type CheckLive = (failure: (subject: string) => string) => void;

function validateLive(apply: Apply, { metadata }: ApiObject, live: Versioned, failure: (subject: string) => string): void {
  try {
    validateTyped(apply.definition, [live], apply.steps);
  } catch (error) {
    const { group, version, kind } = kindOf(apply);
    const shown = `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${showKind(group, version, kind)}`;
    throw error instanceof TypeMismatch ? unknownError(`${failure(shown)}: ${error.message}`) : error;
  }
}

/** Where nobody tracked owners so far, one stands for all that was there before. */
function trackedManagers(apply: Apply, way: WayOfWriting, live: Versioned, managers: Managers, checkLive: CheckLive = () => {}): Managers {
  if (managers.size > 0) return managers;
  checkLive((shown) => `failed to create manager for existing fields: failed to convert new object (${shown}) to smd typed`);
  const writer: FieldWriter = { ...writerOf(apply, live.apiVersion), name: BEFORE_FIRST_APPLY };
  try {
    return ownersAfterUpdate(way, way.nothing(live.apiVersion), live, managers, writer, apply.steps);
  } catch (error) {
    throw error instanceof ItemError ? untypedError(apply, live, error) : error;
  }
}

/** What is stored can have items that nobody can own: a strategic merge patch may make them (fieldmanager's skipNonAppliedManager). */
function untypedError(apply: Apply, { plan, value }: Versioned, { message }: ItemError): Error {
  const why = messageOf(() => validateApplied(plan, value)) ?? message;
  return unknownError(`failed to create manager for existing fields: failed to convert new object (${subject(apply, value)}) to smd typed: ${why}`);
}

function messageOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** kubectl takes fields from others without asking, where they are as its client-side apply left them. */
function applied(apply: Apply, way: WayOfWriting, live: Versioned, managers: Managers, checkLive: CheckLive = () => {}): Application {
  const config: Versioned = { apiVersion: live.apiVersion, plan: live.plan, value: apply.config };
  if (isJsonObject(apply.config['metadata']) && (apply.config['metadata']['managedFields'] ?? null) !== null)
    throw badRequest('metadata.managedFields must be nil');
  inStep(apply.steps, () => checkItems(config.plan, config.value));
  validate(apply, config);
  checkLive((shown) => `failed to create typed live object (${shown})`);
  if (apply.definition.schema.custom !== undefined) way.demandKnown(managers);
  const writer = writerOf(apply, live.apiVersion);
  try {
    return ownersAfterApply(way, live, config, managers, writer, apply.force, apply.steps);
  } catch (error) {
    if (!(error instanceof OwnershipConflicts) || apply.options.fieldManager !== MIGRATING_MANAGER) throw error;
    const allowed = lastAppliedFields(live);
    if (allowed === undefined) throw error;
    const all = setOf(...error.conflicts.map(({ path }) => path));
    if (!isEmpty(difference(all, allowed))) throw new OwnershipConflicts(error.conflicts.filter(({ path }) => !hasPath(allowed, path)));
    return ownersAfterApply(way, live, config, managers, writer, true, apply.steps);
  }
}

function validate(apply: Apply, { plan, value }: Versioned): void {
  try {
    validateApplied(plan, value, { steps: apply.steps });
  } catch (error) {
    throw error instanceof TypeMismatch ? unknownError(`failed to create typed patch object (${subject(apply)}): ${error.message}`) : error;
  }
}

/** What the reading of a large object has from its first run to its last. */
interface Reading {
  run: DecodeRun;
  sentEmpty: EmptyPaths;
}

/** What was merged, read as its type, with defaults, as it is stored. */
function storedForm(apply: Apply, { value }: Versioned, reading: Reading | undefined): SentObject {
  const { served } = apply;
  reading?.run.begin();
  const { object, sentEmpty } = decoded(apply, served.schema, value, reading);
  served.default?.(object, { sentEmpty });
  return { object: served.toStored?.(object, { sentEmpty }) ?? object, sentEmpty };
}

function decoded(apply: Apply, schema: ObjectSchema, value: JsonObject, { run, sentEmpty = new EmptyPaths() }: Partial<Reading> = {}): SentObject {
  const { group, version, kind } = kindOf(apply);
  try {
    // What a custom resource's schema does not know is pruned when it is stored: admission sees it.
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = schema.custom?.settle(value, run) ?? convert(schema, value, undefined, sentEmpty, run);
    const object = { kind, apiVersion: apiVersionOf(group, version), metadata: metadata ?? {}, ...rest } as unknown as ApiObject;
    if (schema.custom !== undefined && isJsonObject(value['metadata'])) addEmptyFields(sentEmpty, value['metadata']);
    return { object, sentEmpty };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unknownError(
      `failed to convert new object (${subject(apply)}) to proper version: unable to convert unstructured object to ${showKind(group, version, kind)}: ${error.message}`,
    );
  }
}

/** A custom object's metadata is read by a type of its own, which tells of nothing that is empty. */
function addEmptyFields(sentEmpty: EmptyPaths, metadata: JsonObject): void {
  for (const [field, value] of Object.entries(metadata)) {
    if (Array.isArray(value) && value.length === 0) sentEmpty.add(['metadata'], field, 'list');
    else if (isJsonObject(value) && !hasKeys(value)) sentEmpty.add(['metadata'], field, 'map');
  }
}

function updateAnnotation({ options, config }: Apply, object: ApiObject): void {
  if (options.fieldManager === MIGRATING_MANAGER) updateLastApplied(object as unknown as JsonObject, config);
}

/** Upstream's converter of custom resources knows typed scales only, and what was merged is none: no apply can change one. */
const notConvertible = (apply: Apply): Error => {
  const { group, version } = kindOf(apply);
  return unknownError(
    `failed to convert new object (${subject(apply)}) to proper version: request to convert CR to an invalid group/version: ${apiVersionOf(group, version)}`,
  );
};

/** The scale is what is applied to; what becomes of it is written into the object. */
function appliedToScale(apply: Apply, way: WayOfWriting, subresource: Subresource, live: ApiObject): SentObject {
  const { definition } = apply;
  const parent = storedManagers(live.metadata.managedFields);
  const paths = replicasPaths(definition, subresource);
  const before = readThrough(way, subresource, live);
  const tracked = trackedManagers(apply, way, before, scaleManagers(parent, paths));
  const { object, managers } = applied(apply, way, { ...before, plan: typePlanOf(subresource.schema) }, tracked);
  if (object !== undefined && definition.schema.custom !== undefined) throw notConvertible(apply);
  const scale = decoded(apply, subresource.schema, (object ?? before).value);
  setEntries(scale.object, encodeManagers(managers));
  const result = writeThrough(subresource, clone(live), scale);
  setEntries(result.object, encodeManagers(parentManagers(parent, managers, paths, parentVersion(apply, paths))));
  return result;
}
