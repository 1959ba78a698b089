import type { FieldErrors } from '../../util/field-errors.ts';
import { qualifiedNameErrors } from '../../util/names.ts';

/** A key of a label, or anything else that is named as labels are. */
export function validateLabelKey(key: string, errors: FieldErrors): void {
  for (const error of qualifiedNameErrors(key)) errors.invalid(key, error);
}
