import { randomInt } from 'node:crypto';
import { type ObjectMeta, type OwnerReference, parseApiVersion } from '../api/api-object.ts';
import type { FieldErrors } from '../api/field-errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { type NameRule, labelName, labelValueErrors, pathSegmentName, qualifiedNameErrors } from '../api/names.ts';
import { newUuid } from '../util/uuid.ts';
import { checkEach } from '../api/validation-run.ts';

/** Rules for the metadata that every object has (apimachinery/pkg/api/validation/objectmeta.go). */
const ANNOTATIONS_MAX_BYTES = 256 * 1024;
const FIELD_MANAGER_MAX_BYTES = 128;
const SUBRESOURCE_MAX_BYTES = 256;
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

// Vowels and look-alikes are left out, so that no word comes out by chance (apimachinery/pkg/util/rand).
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const GENERATED_BASE_MAX_LENGTH = 63 - SUFFIX_LENGTH;

export function generateName(base: string): string {
  let name = base.slice(0, GENERATED_BASE_MAX_LENGTH);
  for (let i = 0; i < SUFFIX_LENGTH; i++) name += SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)];
  return name;
}

/** What the server alone decides about a new object. Whatever the client sent is overwritten (rest.FillObjectMetaSystemFields). */
export function fillSystemMetadata(metadata: ObjectMeta, now: Date): void {
  metadata.creationTimestamp = formatSeconds(now);
  metadata.uid = newUuid();
}

/**
 * What a client may not say of an object that it posts (rest.WipeObjectMetaSystemFields). An update or an apply that creates what is not there is not
 * wiped: upstream does it in the handler of creates, so that such an object may be born with a deletionTimestamp.
 */
export function wipeSystemMetadata(metadata: ObjectMeta): void {
  delete metadata.creationTimestamp;
  delete metadata.uid;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

/** The second that was last written: those that a busy server writes are mostly the same. */
let written = { second: NaN, text: '' };

/** RFC 3339 in whole seconds: how metadata writes times. */
export function formatSeconds(time: Date): string {
  const second = Math.floor(time.getTime() / 1000);
  if (second !== written.second) written = { second, text: `${time.toISOString().slice(0, 19)}Z` };
  return written.text;
}

export function validateMetadata(metadata: ObjectMeta, isNamespaced: boolean, nameErrors: NameRule, errors: FieldErrors): void {
  validateNames(metadata, nameErrors, errors);
  validateNamespace(metadata.namespace, isNamespaced, errors.at('namespace'));
  if (metadata.generation !== undefined && metadata.generation < 0) errors.at('generation').invalid(metadata.generation, 'must be greater than or equal to 0');
  validateLabels(metadata.labels, errors.at('labels'));
  validateAnnotations(metadata.annotations, errors.at('annotations'));
  validateOwnerReferences(metadata.ownerReferences ?? [], errors.at('ownerReferences'));
  validateFinalizers(metadata.finalizers ?? [], errors.at('finalizers'));
  validateManagedFields(metadata, errors.at('managedFields'));
}

/** Of a resource inside of a custom one. */
export const embeddedMetadata = (metadata: JsonObject, errors: FieldErrors): void =>
  validateMetadata(metadata as unknown as ObjectMeta, Boolean(metadata['namespace']), pathSegmentName, errors);

export function validateNames(metadata: ObjectMeta, nameErrors: NameRule, errors: FieldErrors): void {
  if (metadata.generateName) for (const error of nameErrors(metadata.generateName, true)) errors.at('generateName').invalid(metadata.generateName, error);
  if (!metadata.name) errors.at('name').required('name or generateName is required');
  else for (const error of nameErrors(metadata.name, false)) errors.at('name').invalid(metadata.name, error);
}

export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta, errors: FieldErrors): void {
  if (old.deletionTimestamp) validateNoNewFinalizers(metadata.finalizers ?? [], old.finalizers ?? [], errors.at('finalizers'));
  if (!metadata.resourceVersion) errors.at('resourceVersion').invalid(metadata.resourceVersion ?? '', 'must be specified for an update');
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) errors.at('generation').invalid(metadata.generation ?? 0, 'must not be decremented');
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if ((metadata[field] ?? '') !== (old[field] ?? ''))
      errors.at(field).invalid(metadata[field] ?? (field.startsWith('deletion') ? null : ''), 'field is immutable');
  }
  validateLabels(metadata.labels, errors.at('labels'));
  validateAnnotations(metadata.annotations, errors.at('annotations'));
  validateOwnerReferences(metadata.ownerReferences ?? [], errors.at('ownerReferences'));
  validateManagedFields(metadata, errors.at('managedFields'));
}

function validateNamespace(namespace: string | undefined, isNamespaced: boolean, errors: FieldErrors): void {
  if (!isNamespaced) {
    if (namespace) errors.forbidden('not allowed on this type');
  } else if (!namespace) errors.required();
  else for (const error of labelName(namespace, false)) errors.invalid(namespace, error);
}

export function validateLabels(labels: Record<string, string> | undefined, errors: FieldErrors): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const error of qualifiedNameErrors(key)) errors.invalid(key, error);
    for (const error of labelValueErrors(value)) errors.invalid(value, error);
  }
}

export function validateAnnotations(annotations: Record<string, string> | undefined, errors: FieldErrors): void {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const error of qualifiedNameErrors(key.toLowerCase())) errors.invalid(key, error);
    sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (sizeBytes > ANNOTATIONS_MAX_BYTES) errors.tooLong(ANNOTATIONS_MAX_BYTES);
}

function validateOwnerReferences(references: readonly OwnerReference[], errors: FieldErrors): void {
  let controller = '';
  for (const reference of references) {
    validateOwnerReference(reference, errors);
    if (!reference.controller) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller !== '')
      errors.invalid(references, `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`);
    else controller = name;
  }
}

function validateOwnerReference(reference: OwnerReference, errors: FieldErrors): void {
  // What is no group and version is read as neither (schema.FromAPIVersionAndKind).
  if (!parseApiVersion(reference.apiVersion ?? '')?.version) errors.at('apiVersion').invalid(reference.apiVersion ?? '', 'version must not be empty');
  for (const field of ['kind', 'name', 'uid'] as const) if (!reference[field]) errors.at(field).invalid(reference[field] ?? '', 'must not be empty');
  if (reference.apiVersion === 'v1' && reference.kind === 'Event') errors.invalid(reference, '/v1, Kind=Event is disallowed from being an owner');
}

function validateFinalizers(finalizers: readonly string[], errors: FieldErrors): void {
  checkEach(errors, 'names', finalizers, (finalizer) => {
    for (const error of qualifiedNameErrors(finalizer)) errors.invalid(finalizer, error);
  });
  if (finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND)) errors.invalid(finalizers, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`);
}

function validateNoNewFinalizers(finalizers: readonly string[], old: readonly string[], errors: FieldErrors): void {
  const former = new Set(old);
  const added = [...new Set(finalizers)].filter((finalizer) => !former.has(finalizer)).sort();
  if (added.length === 0) return;
  const printed = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  errors.forbidden(`no new finalizers can be added if the object is being deleted, found new finalizers ${printed}`);
}

function validateManagedFields(metadata: ObjectMeta, errors: FieldErrors): void {
  for (const [index, entry] of (metadata.managedFields ?? []).entries()) {
    const at = errors.index(index);
    if (entry['operation'] !== 'Apply' && entry['operation'] !== 'Update')
      at.at('operation').invalidTyped(String(entry['operation'] ?? ''), 'must be `Apply` or `Update`');
    if (entry['fieldsType'] && entry['fieldsType'] !== 'FieldsV1') at.at('fieldsType').invalid(entry['fieldsType'], 'must be `FieldsV1`');
    validateFieldManager(String(entry['manager'] ?? ''), at.at('manager'));
    if (String(entry['subresource'] ?? '').length > SUBRESOURCE_MAX_BYTES) at.at('subresource').tooLong(SUBRESOURCE_MAX_BYTES);
  }
}

/** Also for the `fieldManager` option of every write. */
export function validateFieldManager(manager: string, errors: FieldErrors): void {
  if (Buffer.byteLength(manager) > FIELD_MANAGER_MAX_BYTES) errors.tooLong(FIELD_MANAGER_MAX_BYTES);
  // Spares most processes the expression below, which takes V8 milliseconds to make.
  if (/^[ -~]*$/.test(manager)) return;
  let position = 0;
  for (const char of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) {
      const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.invalid(manager, `invalid character U+${code} (at position ${position})`);
    }
    position += Buffer.byteLength(char);
  }
}
