import type { FieldErrors } from '../../api/field-errors.ts';
import { once } from '../../api/validation-run.ts';
import { equalJson } from '../../encoding/json-equal.ts';

/** `shown`: makes the value as it is to be printed, where upstream prints another form of it. */
export function validateUnchanged(value: unknown, old: unknown, errors: FieldErrors, shown = (): unknown => value): void {
  if (once(errors, 'is unchanged', () => equalJson(value ?? undefined, old ?? undefined))) return;
  errors.invalid(once(errors, 'as shown', shown), 'field is immutable');
}
