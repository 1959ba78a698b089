import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';

const MAX_BYTES = 256 * 1024;

/** What a pod passes on to the signer of its certificate: keys have a domain, and capitals do not count. */
export function validateUserAnnotations(annotations: Record<string, string>, errors: FieldErrors): void {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    validateKey(key.toLowerCase(), errors);
    sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (sizeBytes > MAX_BYTES) errors.tooLong(MAX_BYTES);
}

function validateKey(key: string, errors: FieldErrors): void {
  if (key === '') return errors.required();
  const problems = qualifiedNameErrors(key);
  for (const problem of problems) errors.invalid(key, problem);
  if (problems.length === 0 && !key.includes('/')) errors.invalid(key, 'must be a domain-prefixed key (such as "acme.io/foo")');
}
