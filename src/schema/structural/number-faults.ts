import { formatGo } from '../../util/go-format.ts';
import { type Fault, invalidFault, placeless } from './fault.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Place } from './place.ts';

const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);
const MAX_FLOAT32 = 3.402_823_466_385_288_6e38;

/** Whole numbers from here on are read as floating point. */
const BEYOND_INT64 = 2 ** 63;

/**
 * Bounds of numbers. A whole number is compared in whole numbers: upstream cuts the fraction off the bound (and off `multipleOf`, which leaves nothing
 * of a factor below one).
 */
export function numberFaults(schema: JsonSchema, value: number | bigint, place: Place, faults: Fault[]): void {
  const isWhole = typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < BEYOND_INT64);
  const range = (number: number | bigint, what: string): boolean => rangeFault(schema, number, what, place, faults);
  range(value, 'Checked');
  const { multipleOf, maximum, minimum } = schema;
  if (multipleOf !== undefined) {
    const isFit = range(multipleOf, 'MultipleOf');
    multipleFault(isWhole && isFit ? Math.trunc(multipleOf) : multipleOf, value, place, faults);
  }
  if (minimum !== undefined) {
    const bound = range(minimum, 'Minimum boundary') && isWhole ? Math.trunc(minimum) : minimum;
    if (schema.exclusiveMinimum ? value <= bound : value < bound)
      faults.push(invalidFault(place, value, `${place} in body should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${formatGo(bound)}`));
  }
  if (maximum !== undefined) {
    const bound = range(maximum, 'Maximum boundary') && isWhole ? Math.trunc(maximum) : maximum;
    if (schema.exclusiveMaximum ? value >= bound : value > bound)
      faults.push(invalidFault(place, value, `${place} in body should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${formatGo(bound)}`));
  }
}

/** Whether the type has room for the number; a fault is noted where it has not. */
function rangeFault({ type, format }: JsonSchema, number: number | bigint, what: string, place: Place, faults: Fault[]): boolean {
  const isWhole = typeof number === 'bigint' || Number.isInteger(number);
  if (type === 'integer') {
    const isInRange = format !== 'int32' || (number <= MAX_INT32 && number >= MIN_INT32);
    if (isWhole && isInRange) return true;
    const shown = format === 'int32' || format === 'int64' ? `with format ${format}` : '(default format)';
    faults.push(placeless(`${what} value must be of type integer ${shown} in ${place}`));
    return false;
  }
  if (type !== 'number' || format !== 'float' || Math.abs(Number(number)) <= MAX_FLOAT32) return true;
  faults.push(placeless(`${what} value must be of type number with format float in ${place}`));
  return false;
}

function multipleFault(factor: number, value: number | bigint, place: Place, faults: Fault[]): void {
  if (factor <= 0) return void faults.push(invalidFault(place, factor, `factor MultipleOf declared for ${place} must be positive: ${formatGo(factor)}`));
  const isMultiple =
    typeof value === 'bigint' ? Number.isInteger(factor) && value % BigInt(factor) === 0n : isNearlyWhole(factor < 1 ? (1 / factor) * value : value / factor);
  if (!isMultiple) faults.push(invalidFault(place, value, `${place} in body should be a multiple of ${formatGo(factor)}`));
}

/** Whole but for what floating point may have lost (go-openapi/swag IsFloat64AJSONInteger). */
function isNearlyWhole(number: number): boolean {
  if (!Number.isFinite(number) || Math.abs(number) > Number.MAX_SAFE_INTEGER) return false;
  const difference = Math.abs(number - Math.trunc(number));
  return number === Math.trunc(number) || difference < 1e-9 || difference / (Math.abs(number) + Math.abs(Math.trunc(number))) < 1e-9;
}
