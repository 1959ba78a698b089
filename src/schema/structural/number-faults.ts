import { formatGoFloat } from '../../encoding/go-format.ts';
import { type Fault, invalidFault, faultWithoutPath } from './fault.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ValuePlace } from './place.ts';

/** What integers of a format can be; those of others are of 64 bits. Floating point has no number between 2⁶³-1024 and 2⁶³. */
const INT64: readonly [min: number | bigint, max: number | bigint] = [-(2n ** 63n), 2n ** 63n - 1n];
const INTEGERS: Readonly<Record<string, typeof INT64>> = { int32: [-(2 ** 31), 2 ** 31 - 1], uint32: [0, 2 ** 32 - 1], uint64: [0, 2n ** 64n - 1n] };
const SINGLE_FORMATS = new Set(['float', 'float32']);
const MAX_FLOAT32 = 3.402_823_466_385_288_6e38;

/**
 * Bounds of numbers. A whole number is compared in whole numbers: upstream cuts the fraction off the bound (and off `multipleOf`, which leaves nothing
 * of a factor below one).
 */
export function numberFaults(schema: JsonSchema, value: number | bigint, place: ValuePlace, faults: Fault[]): void {
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
  const range = (number: number | bigint, what: string): boolean => rangeFault(schema, number, what, place, faults);
  range(value, 'Checked');
  const { multipleOf, maximum, minimum } = schema;
  if (multipleOf !== undefined) {
    const isInteger = range(multipleOf, 'MultipleOf') && isWhole;
    multipleFault({ isInteger, number: isInteger ? toInt64(multipleOf) : multipleOf }, value, place, faults);
  }
  if (minimum !== undefined) {
    const isInteger = range(minimum, 'Minimum boundary') && isWhole;
    const bound = isInteger ? toInt64(minimum) : minimum;
    if (schema.exclusiveMinimum ? value <= bound : value < bound)
      faults.push(
        invalidFault(
          place,
          value,
          (path) => `${path} in body should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${printed(bound, isInteger)}`,
        ),
      );
  }
  if (maximum !== undefined) {
    const isInteger = range(maximum, 'Maximum boundary') && isWhole;
    const bound = isInteger ? toInt64(maximum) : maximum;
    if (schema.exclusiveMaximum ? value >= bound : value > bound)
      faults.push(
        invalidFault(
          place,
          value,
          (path) => `${path} in body should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${printed(bound, isInteger)}`,
        ),
      );
  }
}

/** As Go converts on amd64: what has no room becomes the least of all. */
const toInt64 = (number: number): number | bigint => (number >= INT64[0] && number <= INT64[1] ? Math.trunc(number) : INT64[0]);

/** Whether the type has room for the number; a fault is noted where it has not. */
function rangeFault({ type, format = '' }: JsonSchema, number: number | bigint, what: string, place: ValuePlace, faults: Fault[]): boolean {
  if (hasRoom(type, format, number)) return true;
  faults.push(faultWithoutPath(`${what} value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ${place}`));
  return false;
}

function hasRoom(type: string | undefined, format: string, number: number | bigint): boolean {
  if (type !== 'integer') return !SINGLE_FORMATS.has(format) || Math.abs(Number(number)) <= MAX_FLOAT32;
  const [min, max] = Object.hasOwn(INTEGERS, format) ? INTEGERS[format]! : INT64;
  return (typeof number === 'bigint' || Number.isInteger(number)) && number >= min && number <= max;
}

/** An integer, or floating point of the same value: `1000000`, `1e+06`. */
const printed = (number: number | bigint, isInteger: boolean): string => (isInteger ? String(number) : formatGoFloat(Number(number), 64));

function multipleFault(factorOf: { number: number | bigint; isInteger: boolean }, value: number | bigint, place: ValuePlace, faults: Fault[]): void {
  const { number: factor, isInteger } = factorOf;
  if (factor <= 0)
    return void faults.push(invalidFault(place, factor, (path) => `factor MultipleOf declared for ${path} must be positive: ${printed(factor, isInteger)}`));
  const isMultiple =
    typeof value === 'bigint'
      ? (typeof factor === 'bigint' || Number.isInteger(factor)) && value % BigInt(factor) === 0n
      : isNearlyWhole(factor < 1 ? (1 / Number(factor)) * value : value / Number(factor));
  if (!isMultiple) faults.push(invalidFault(place, value, (path) => `${path} in body should be a multiple of ${printed(factor, isInteger)}`));
}

/** Whole but for what floating point may have lost (go-openapi/swag IsFloat64AJSONInteger). */
function isNearlyWhole(number: number): boolean {
  if (!Number.isFinite(number) || Math.abs(number) > Number.MAX_SAFE_INTEGER) return false;
  const difference = Math.abs(number - Math.trunc(number));
  return number === Math.trunc(number) || difference < 1e-9 || difference / (Math.abs(number) + Math.abs(Math.trunc(number))) < 1e-9;
}
