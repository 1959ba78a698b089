import type { FieldErrors } from '../../api/field-errors.ts';
import { patternError } from '../../api/names.ts';
import { validateNonNegative } from './non-negative.ts';

/** `3` or `"30%"`, as meta's IntOrString holds them (pkg/apis/apps/validation). */
type IntOrPercent = number | string;

const PERCENT = /^[0-9]+%$/;
const percentError = patternError("a valid percent string must be a numeric string followed by an ending '%'", '[0-9]+%', '1%', '93%');

export function validateIntOrPercent(value: IntOrPercent, errors: FieldErrors): void {
  if (typeof value === 'number') validateNonNegative(value, errors);
  else if (!PERCENT.test(value)) invalidIntOrPercent(value, percentError, errors);
}

export function validateAtMost100Percent(value: IntOrPercent, errors: FieldErrors): void {
  if (typeof value === 'string' && PERCENT.test(value) && amountOf(value) > 100) invalidIntOrPercent(value, 'must not be greater than 100%', errors);
}

/** The number in it; 0 where the text has none. */
export function amountOf(value: IntOrPercent): number {
  if (typeof value === 'number') return value;
  return PERCENT.test(value) || /^[+-]?[0-9]+$/.test(value) ? Number.parseInt(value, 10) : 0;
}

/** Its Go type is one of its own, so that texts are printed as JSON. */
export function invalidIntOrPercent(value: IntOrPercent, detail: string, errors: FieldErrors): void {
  if (typeof value === 'string') errors.invalidTyped(value, detail);
  else errors.invalid(value, detail);
}
