import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, patternError } from '../../api/names.ts';

/** Names of drivers, pools, devices and what describes them (pkg/apis/resource/validation). */
const DRIVER_MAX_BYTES = 63;
const POOL_MAX_BYTES = 253;
const ID_MAX_BYTES = 32;
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*';
const cIdentifierExpression = new RegExp(`^${C_IDENTIFIER}$`);
const C_IDENTIFIER_ERROR = patternError(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  C_IDENTIFIER,
  'my_name',
  'MY_NAME',
  'MyName',
);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Forms that google/uuid reads but that are not the normal one: braces, a prefix, no dashes, capitals. */
const ANY_UUID = /^(?:urn:uuid:|\{)?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$/i;

/** The longest key of an attribute or capacity: a domain and an identifier. */
export const QUALIFIED_NAME_MAX_BYTES = DRIVER_MAX_BYTES + 1 + ID_MAX_BYTES;

export function validateLabelLikeName(name: string, errors: FieldErrors): void {
  for (const error of dns1123LabelErrors(name)) errors.invalid(name, error);
}

export function validateSubdomainLikeName(name: string, errors: FieldErrors): void {
  for (const error of dns1123SubdomainErrors(name)) errors.invalid(name, error);
}

/** As of a CSI driver. */
export function validateDriverName(name: string, errors: FieldErrors): void {
  if (name === '') return errors.required();
  if (Buffer.byteLength(name) > DRIVER_MAX_BYTES) errors.tooLong(DRIVER_MAX_BYTES);
  for (const error of dns1123SubdomainErrors(name.toLowerCase())) errors.invalid(name, error);
}

/** Subdomains with slashes between. */
export function validatePoolName(name: string, errors: FieldErrors): void {
  if (name === '') return errors.required();
  if (Buffer.byteLength(name) > POOL_MAX_BYTES) errors.tooLong(POOL_MAX_BYTES);
  for (const part of name.split('/')) validateSubdomainLikeName(part, errors);
}

/** `[domain/]identifier`. A name with more slashes is let through, as upstream does. */
export function validateQualifiedName(name: string, errors: FieldErrors): void {
  const parts = name.split('/');
  if (parts.length === 1) validateCIdentifier(name, errors);
  if (parts.length !== 2) return;
  const [domain, id] = parts as [string, string];
  if (domain === '') errors.invalid('', 'the domain must not be empty');
  else validateDriverName(domain, errors);
  if (id === '') errors.invalid('', 'the name must not be empty');
  else validateCIdentifier(id, errors);
}

export function validateDomainQualifiedName(name: string, errors: FieldErrors): void {
  validateQualifiedName(name, errors);
  if (!name.includes('/')) errors.invalidTyped(name, 'a fully qualified name must be a domain and a name separated by a slash');
}

function validateCIdentifier(id: string, errors: FieldErrors): void {
  if (Buffer.byteLength(id) > ID_MAX_BYTES) errors.tooLong(ID_MAX_BYTES);
  if (!cIdentifierExpression.test(id)) errors.invalid(id, C_IDENTIFIER_ERROR);
}

export function validateUid(uid: string, errors: FieldErrors): void {
  if (UUID.test(uid)) return;
  const isReadable = ANY_UUID.test(uid);
  errors.invalid(
    uid,
    isReadable
      ? 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters'
      : `error validating uid: ${uuidError(uid)}`,
  );
}

/** What google/uuid says. */
function uuidError(uid: string): string {
  const sizeBytes = Buffer.byteLength(uid);
  return [36, 45, 38, 32].includes(sizeBytes) ? 'invalid UUID format' : `invalid UUID length: ${sizeBytes}`;
}
