import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';

/** A key of a label, or anything else that is named as labels are. */
export function validateLabelKey(key: string, errors: FieldErrors): void {
  for (const error of qualifiedNameErrors(key)) errors.invalid(key, error);
}
