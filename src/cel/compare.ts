import { compareNumbers, isNumber } from './numbers.ts';
import { CelType } from './types.ts';
import { CelDuration, CelError, CelList, CelMap, CelObject, CelOptional, CelTimestamp, type CelValue, noSuchOverload } from './values.ts';

/** Equality of values of any types: different types are unequal, numbers equal by amount. An error only where the data behind a value is broken. */
export function equal(a: CelValue, b: CelValue): boolean | CelError {
  if (a === b) return true;
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return false;
    case 'number':
    case 'bigint':
      return isNumber(b) && compareNumbers(a, b) === 0;
    default:
      return a !== null && b !== null && equalObjects(a, b);
  }
}

function equalObjects(a: Exclude<CelValue, null>, b: Exclude<CelValue, null>): boolean | CelError {
  if (a instanceof CelError) return a;
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a instanceof CelList) return a.equals?.(b) ?? (b instanceof CelList && equalLists(a, b));
  if (a instanceof CelMap) return a.equals?.(b) ?? (b instanceof CelMap && equalMaps(a, b));
  if (a instanceof CelObject) return a.equals(b);
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b);
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && compareTimestamps(a, b) === 0;
  return a instanceof CelDuration && b instanceof CelDuration && a.nanoseconds === b.nanoseconds;
}

/** Elements that cannot be compared count as equal, as in cel-go. */
function equalLists(a: CelList, b: CelList): boolean {
  if (a.size !== b.size) return false;
  for (let index = 0; index < a.size; index++) if (equal(a.get(index), b.get(index)) === false) return false;
  return true;
}

function equalMaps(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    const other = b.find(key);
    return other !== undefined && equal(a.find(key)!, other) !== false;
  });
}

function equalOptionals(a: CelOptional, b: CelOptional): boolean | CelError {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value);
}

export const compareTimestamps = (a: CelTimestamp, b: CelTimestamp): number => a.seconds - b.seconds || a.nanoseconds - b.nanoseconds;

const NOT_ORDERED = new CelError('NaN values cannot be ordered');

/** Below, at or above zero. Types other than numbers only compare with their own. */
export function compare(a: CelValue, b: CelValue): number | CelError {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : noSuchOverload();
  if (isNumber(a)) {
    if (!isNumber(b)) return noSuchOverload();
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? NOT_ORDERED : order;
  }
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : noSuchOverload();
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp ? compareTimestamps(a, b) : noSuchOverload();
  if (a instanceof CelDuration) return b instanceof CelDuration ? Number(a.nanoseconds - b.nanoseconds) : noSuchOverload();
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : noSuchOverload();
  return noSuchOverload();
}

/** By bytes of UTF-8, which is the order of code points and not of UTF-16 units. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return aboveSurrogates(left) - aboveSurrogates(right);
  }
  return a.length - b.length;
}

/** Moves surrogates, which stand for code points above all others, above the units that follow them. */
const aboveSurrogates = (unit: number): number => (unit >= 0xe000 ? unit - 0x2000 : unit >= 0xd800 ? unit + 0x2000 : unit);

/** Whether `in` and ordering know the type at all. */
export const isComparable = (value: CelValue): boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  isNumber(value) ||
  value instanceof CelTimestamp ||
  value instanceof CelDuration ||
  value instanceof Uint8Array;
