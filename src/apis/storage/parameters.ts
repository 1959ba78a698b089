import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';

const MAX_ENTRIES = 512;
const MAX_BYTES = 256 * 1024;

/** What a class hands to its driver. */
export function validateParameters(parameters: Record<string, string> | undefined, errors: FieldErrors): void {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > MAX_ENTRIES) return errors.tooLong(MAX_ENTRIES);
  let sizeBytes = 0;
  for (const [key, value] of entries) {
    if (key === '') errors.invalid(key, 'field can not be empty.');
    sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (sizeBytes > MAX_BYTES) errors.tooLong(MAX_BYTES);
}

/** Who provisions: a qualified name, whose case does not matter. */
export function validateProvisioner(provisioner: string, errors: FieldErrors): void {
  if (provisioner === '') return errors.required();
  const lowered = provisioner.toLowerCase();
  for (const error of qualifiedNameErrors(lowered)) errors.invalid(lowered, error);
}
