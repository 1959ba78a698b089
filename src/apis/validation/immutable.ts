import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';

/** `shown`: makes the value as it is to be printed, where upstream prints another form of it. */
export function validateUnchanged(value: unknown, old: unknown, errors: FieldErrors, shown = (): unknown => value): void {
  if (!equalJson(value ?? undefined, old ?? undefined)) errors.invalid(shown(), 'field is immutable');
}
