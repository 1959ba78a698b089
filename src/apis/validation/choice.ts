import type { FieldErrors } from '../../api/field-errors.ts';

/** One of the values, which must be there. `choices` in the order in which they are to be printed. */
export function validateChoice(value: string | undefined, choices: readonly string[], errors: FieldErrors): void {
  if (!value) errors.required();
  else if (!choices.includes(value)) errors.notSupported(value, choices);
}

/** The same for a field that is a string to Go too: its value is told otherwise. */
export function validateStringChoice(value: string | undefined, choices: readonly string[], errors: FieldErrors): void {
  if (!value) errors.required();
  else if (!choices.includes(value)) errors.notSupportedString(value, choices);
}

/** The same for a value that may be absent. An empty one is not. */
export function validateOptionalChoice(value: string | undefined, choices: readonly string[], errors: FieldErrors): void {
  if (value !== undefined && !choices.includes(value)) errors.notSupported(value, choices);
}
