import type { FieldErrors } from '../../api/field-errors.ts';

/** A count that may be absent, which is as good as 0. */
export function validateNonNegative(value: number | bigint | undefined, errors: FieldErrors): void {
  if (value !== undefined && value < 0) errors.invalid(value, 'must be greater than or equal to 0');
}
