import { DecodeError } from '../schema/decode.ts';
import { normalize } from '../schema/normalize.ts';
import { ItemError } from '../schema/ownership/list-items.ts';
import { ManagedFieldsError, type Managers, NO_MANAGERS, decodeManagers, encodeManager, encodeManagers, storedManagers } from '../schema/ownership/managers.ts';
import { type FieldWriter, ownersAfterUpdate, ownerOfNew } from '../schema/ownership/own.ts';
import { fieldElement } from '../schema/ownership/path-element.ts';
import { type ReplicasPaths, parentManagers, scaleManagers } from '../schema/ownership/scale-managers.ts';
import type { Versioned } from '../schema/ownership/updater.ts';
import { TypeMismatch, validateApplied } from '../schema/ownership/validate.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { Steps, inStep, settled } from '../util/pending.ts';
import { clone } from '../schema/clone.ts';
import type { ResourceDefinition, ServedVersion, Subresource } from './definition.ts';
import { formatSeconds } from './metadata.ts';
import { UnknownInVersion, type WayOfWriting, isOfOtherKind, sharedWay, wayOfWriting } from './ownership-versions.ts';
import type { RequestContext } from './request-context.ts';
import type { WriteOptions } from './store.ts';
import type { SentObject } from './write.ts';

/** One write, as ownership sees it. */
export interface OwnedWrite {
  definition: ResourceDefinition;
  context: RequestContext;
  options: Pick<WriteOptions, 'fieldManager' | 'apiVersion'> & { subresource?: string };
  now: Date;
}

/**
 * Brings the managedFields of a changed or new object up to date (KEP-555), before admission sees it: who changed a field owns it. What admission, hooks
 * and the kind's rules change afterwards belongs to nobody. An object whose items cannot be told apart, or are too many, is left without managedFields.
 */
export function recordOwnership(write: OwnedWrite, sent: SentObject, old: ApiObject | undefined): Promise<void> | void {
  const { definition, options } = write;
  const { object } = sent;
  const name = options.subresource ?? '';
  const subresource = definition.subresources?.[name];
  const steps = write.context.isLarge ? new Steps() : undefined;
  const isNew = old === undefined && object.metadata.managedFields === undefined;
  if (isNew && steps === undefined) return setEntries(object, newEntries(write, sharedWay(definition, name), sent, steps));
  const way = wayOfWriting(definition, name);
  return settled(() => {
    steps?.begin();
    const entries = orNone(() =>
      subresource !== undefined && isOfOtherKind(definition, subresource) && old
        ? scaledEntries(write, way, subresource, sent, old)
        : updatedEntries(write, way, sent, old, steps),
    );
    setEntries(object, entries);
  });
}

/** An update goes on without managedFields where nobody can tell who owns what (managedfields/fieldmanager.go UpdateNoErrors). */
function orNone(entries: () => JsonObject[] | undefined): JsonObject[] | undefined {
  try {
    return entries();
  } catch (error) {
    if (error instanceof ItemError || error instanceof DecodeError || error instanceof UnknownInVersion || error instanceof TypeMismatch) return undefined;
    throw error;
  }
}

function newEntries(write: OwnedWrite, way: WayOfWriting, { object, sentEmpty }: SentObject, steps: Steps | undefined): JsonObject[] | undefined {
  const apiVersion = way.versionOf(write.options.apiVersion);
  return orNone(() => {
    const created = inStep(steps, () => way.fromStored(sentEmpty.restoredNullsIn(object), apiVersion));
    validateTyped(write.definition, [created], steps);
    const owner = ownerOfNew(way, way.nothing(apiVersion), created, writerOf(write, apiVersion), steps);
    return owner && [inStep(steps, () => encodeManager(owner))];
  });
}

/**
 * Custom objects are of their type only once they are validated, which is after mutating admission has seen them; a status that is not taken never is, and
 * stored objects may be from before their schema was (typeconverter.go ObjectToTyped).
 */
export function validateTyped({ schema }: ResourceDefinition, objects: readonly Versioned[], steps: Steps | undefined): void {
  if (schema.custom !== undefined) for (const { plan, value } of objects) validateApplied(plan, value, { allowsDuplicates: true, steps });
}

export function setEntries({ metadata }: ApiObject, entries: JsonObject[] | undefined): void {
  if (entries === undefined) delete metadata.managedFields;
  else metadata.managedFields = entries;
}

export function writerOf({ context, options, now }: OwnedWrite, apiVersion: string): FieldWriter {
  return { name: options.fieldManager || managerOfUserAgent(context.userAgent), apiVersion, subresource: options.subresource ?? '', time: formatSeconds(now) };
}

const NAME_MAX_BYTES = 128;
const PLAIN = /^[ -~]*$/;

/** What stands before the first slash, as far as it can be printed (endpoints/handlers/create.go prefixFromUserAgent). */
export function managerOfUserAgent(userAgent: string): string {
  const slash = userAgent.indexOf('/');
  const product = slash < 0 ? userAgent : userAgent.slice(0, slash);
  if (product.length <= NAME_MAX_BYTES && PLAIN.test(product)) return product;
  let name = '';
  let sizeBytes = 0;
  for (const char of product) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) continue;
    sizeBytes += Buffer.byteLength(char);
    if (sizeBytes > NAME_MAX_BYTES) break;
    name += char;
  }
  return name;
}

function updatedEntries(
  write: OwnedWrite,
  way: WayOfWriting,
  sent: SentObject,
  old: ApiObject | undefined,
  steps: Steps | undefined,
): JsonObject[] | undefined {
  const { definition, options } = write;
  const { object, sentEmpty } = sent;
  const managers = inStep(steps, () => managersBefore(object, old, options.subresource ?? ''));
  // Ownership that nobody tracks is not tracked by an update: only by an apply, or from the creation on.
  if (managers.size === 0 && old !== undefined) return undefined;
  // Of other kinds, an owner in a version that there is not is forgotten alone.
  if (definition.schema.custom !== undefined) way.demandKnown(managers);
  if (managers.size === 0) return newEntries(write, sharedWay(definition, options.subresource ?? ''), sent, steps);
  const apiVersion = way.versionOf(options.apiVersion);
  const writer = writerOf(write, apiVersion);
  const before = old === undefined ? way.nothing(apiVersion) : way.fromStored(old, apiVersion);
  const after = inStep(steps, () => {
    const restored = sentEmpty.restoredNullsIn(object);
    return { ...way.fromStored(restored, apiVersion), emptied: sentEmpty.objectsIn(restored as unknown as Json) };
  });
  validateTyped(definition, [after, before], steps);
  const owners = ownersAfterUpdate(way, before, after, managers, writer, steps);
  return encodeManagers(owners, steps);
}

/** The client's own managedFields count where it writes the object itself and they can be read; an empty list, or one empty entry, forgets all owners. */
function managersBefore({ metadata }: ApiObject, old: ApiObject | undefined, subresource: string): Managers {
  const stored = old?.metadata.managedFields;
  const sent = metadata.managedFields;
  if (subresource !== '' || sent === undefined || sent === stored) return storedManagers(stored);
  if (sent.length === 0 || (sent.length === 1 && Object.keys(sent[0]!).length === 0)) return NO_MANAGERS;
  return equalJson(sent, stored) ? storedManagers(stored) : (readable(sent) ?? storedManagers(stored));
}

function readable(entries: readonly JsonObject[]): Managers | undefined {
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return undefined;
    throw error;
  }
}

/** Through a scale only the replicas can be owned; they are the object's own under another name. */
function scaledEntries(write: OwnedWrite, way: WayOfWriting, subresource: Subresource, sent: SentObject, old: ApiObject): JsonObject[] | undefined {
  const parent = storedManagers(old.metadata.managedFields);
  const paths = replicasPaths(write.definition, subresource);
  const before = scaleManagers(parent, paths);
  const after = before.size === 0 ? NO_MANAGERS : scaleOwners(write, way, subresource, sent, old, before);
  if (sent.through) setEntries(sent.through, encodeManagers(after));
  return encodeManagers(parentManagers(parent, after, paths, parentVersion(write, paths)));
}

function scaleOwners(
  write: OwnedWrite,
  way: WayOfWriting,
  subresource: Subresource,
  { object, through }: SentObject,
  old: ApiObject,
  managers: Managers,
): Managers {
  const apiVersion = way.versionOf(undefined);
  const after = through ? readScale(way, subresource, through) : readThrough(way, subresource, object);
  return ownersAfterUpdate(way, readThrough(way, subresource, old), after, managers, writerOf(write, apiVersion));
}

export function readThrough(way: WayOfWriting, subresource: Subresource, stored: ApiObject): ReturnType<WayOfWriting['fromStored']> {
  const copy = clone(stored);
  return readScale(way, subresource, subresource.readToWrite?.(copy) ?? subresource.read!(copy));
}

const readScale = (way: WayOfWriting, { schema }: Subresource, scale: ApiObject): Versioned =>
  way.fromStored(normalize(schema, scale as unknown as JsonObject) as unknown as ApiObject, way.versionOf(undefined));

/** Who owns the scale of an object. */
export const scaleEntries = (definition: ResourceDefinition, subresource: Subresource, { metadata }: ApiObject): JsonObject[] | undefined =>
  encodeManagers(scaleManagers(storedManagers(metadata.managedFields), replicasPaths(definition, subresource)));

const REPLICAS = ['spec', 'replicas'];

export function replicasPaths(definition: ResourceDefinition, { replicasPath = REPLICAS }: Subresource): ReplicasPaths {
  const path = replicasPath.map(fieldElement);
  // Versions that differ in their subresources say where each has its replicas.
  const pathIn = (served: ServedVersion) => (served.subresources === undefined ? path : served.replicasPath?.map(fieldElement));
  return new Map(definition.served.map((served) => [apiVersionOf(served.group, served.version), pathIn(served)]));
}

export function parentVersion({ definition, options }: OwnedWrite, paths: ReplicasPaths): string {
  const { apiVersion } = options;
  const [stored] = definition.served;
  return apiVersion !== undefined && paths.has(apiVersion) ? apiVersion : apiVersionOf(stored!.group, stored!.version);
}

/** Where nothing but times in managedFields would change, they stay as they were, so that nothing does (fieldmanager/equality.go). Both are canonical. */
export function keepUnchangedTimes(object: ApiObject, old: ApiObject): TimesComparison {
  const [after, before] = [object.metadata.managedFields, old.metadata.managedFields];
  if (after === undefined || before === undefined || after.length !== before.length) return 'unequal_objects_fast';
  if (after.every((entry, index) => entry['time'] === before[index]!['time'])) return 'unequal_objects_fast';
  if (!equalJson(withoutTimes(after), withoutTimes(before))) return 'unequal_objects_fast';
  if (!equalJson(unowned(object), unowned(old))) return 'unequal_objects_slow';
  object.metadata.managedFields = after.map((entry, index) => ({ ...entry, time: before[index]!['time'] }));
  return 'equal_objects';
}

/** How it came to an end: upstream's metric tells how long each took. */
export type TimesComparison = 'equal_objects' | 'unequal_objects_fast' | 'unequal_objects_slow';

const withoutTimes = (entries: readonly JsonObject[]): JsonObject[] => entries.map(({ time: _time, ...entry }) => entry);

/** Without what a write always makes anew. */
const unowned = (object: ApiObject): object => ({ ...object, metadata: { ...object.metadata, managedFields: undefined } });

const INVALID_AFTER_ADMISSION =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ';

/** Takes back what admission made of managedFields, where nobody could read it (fieldmanager/admission.go). `before` is what they were. */
export function guardOwnership(object: ApiObject, before: JsonObject[] | undefined, context: RequestContext): void {
  const after = object.metadata.managedFields;
  if (after === before || after === undefined) return;
  try {
    decodeManagers(after);
  } catch (error) {
    setEntries(object, before);
    context.warn(INVALID_AFTER_ADMISSION + (error as Error).message);
  }
}
