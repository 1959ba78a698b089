import { CelDouble, CelError, CelUint, canonicalInt, type CelInt, type CelValue } from './values.ts';

/** Arithmetic of int64, uint64 and double as cel-go has it (common/types/overflow.go): exact, with an error where a result does not fit. */
const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;
/** The smallest double above every int64, and above every uint64. */
const INT64_LIMIT = 2 ** 63;
const UINT64_LIMIT = 2 ** 64;

export const INT_OVERFLOW = new CelError('integer overflow');
const UINT_OVERFLOW = new CelError('unsigned integer overflow');
const DIVISION_BY_ZERO = new CelError('division by zero');
const MODULUS_BY_ZERO = new CelError('modulus by zero');

export const isInt = (value: CelValue): value is CelInt => typeof value === 'number' || typeof value === 'bigint';

/** The amount as an int64, or an error. */
export const checkedInt = (amount: bigint): CelInt | CelError => (amount < MIN_INT64 || amount > MAX_INT64 ? INT_OVERFLOW : canonicalInt(amount));

export const checkedUint = (amount: bigint): CelUint | CelError => (amount < 0n || amount > MAX_UINT64 ? UINT_OVERFLOW : new CelUint(amount));

export function addInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInt(BigInt(a) + BigInt(b));
}

export function subtractInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInt(BigInt(a) - BigInt(b));
}

export function multiplyInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    // The sum turns a negative zero into zero.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return checkedInt(BigInt(a) * BigInt(b));
}

export function divideInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (b === 0) return DIVISION_BY_ZERO;
  return typeof a === 'number' && typeof b === 'number' ? Math.trunc(a / b) + 0 : checkedInt(BigInt(a) / BigInt(b));
}

export function moduloInts(a: CelInt, b: CelInt): CelInt | CelError {
  if (b === 0) return MODULUS_BY_ZERO;
  if (b === -1 && BigInt(a) === MIN_INT64) return INT_OVERFLOW;
  return typeof a === 'number' && typeof b === 'number' ? (a % b) + 0 : checkedInt(BigInt(a) % BigInt(b));
}

export const negateInt = (a: CelInt): CelInt | CelError => (typeof a === 'number' ? 0 - a : checkedInt(-a));

export const addUints = (a: CelUint, b: CelUint): CelValue => checkedUint(a.value + b.value);
export const subtractUints = (a: CelUint, b: CelUint): CelValue => checkedUint(a.value - b.value);
export const multiplyUints = (a: CelUint, b: CelUint): CelValue => checkedUint(a.value * b.value);
export const divideUints = (a: CelUint, b: CelUint): CelValue => (b.value === 0n ? DIVISION_BY_ZERO : new CelUint(a.value / b.value));
export const moduloUints = (a: CelUint, b: CelUint): CelValue => (b.value === 0n ? MODULUS_BY_ZERO : new CelUint(a.value % b.value));

/** Bounds are those of cel-go, which keeps clear of the ends that a double cannot tell from what lies beyond. */
export function intOfDouble(value: number): CelInt | CelError {
  if (!Number.isFinite(value) || value <= -INT64_LIMIT || value >= INT64_LIMIT) return INT_OVERFLOW;
  return canonicalInt(BigInt(Math.trunc(value)));
}

export function uintOfDouble(value: number): CelUint | CelError {
  if (!Number.isFinite(value) || value < 0 || value >= UINT64_LIMIT) return UINT_OVERFLOW;
  return new CelUint(BigInt(Math.trunc(value)));
}

export type CelNumber = CelInt | CelUint | CelDouble;

export const isNumber = (value: CelValue): value is CelNumber => isInt(value) || value instanceof CelDouble || value instanceof CelUint;

/** Below, at or above zero; NaN where one of them is NaN. Numbers of all types stand on one line. */
export function compareNumbers(a: CelNumber, b: CelNumber): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a instanceof CelDouble) return compareDoubleTo(a.value, b);
  if (b instanceof CelDouble) return -compareDoubleTo(b.value, a);
  const left = integerOf(a);
  const right = integerOf(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

const integerOf = (value: CelInt | CelUint): bigint => (value instanceof CelUint ? value.value : BigInt(value));

/** Integers lose their last bits here, as they do in cel-go (common/types/compare.go). */
function compareDoubleTo(a: number, b: CelNumber): number {
  if (b instanceof CelDouble) return a < b.value ? -1 : a > b.value ? 1 : a === b.value ? 0 : Number.NaN;
  if (Number.isNaN(a)) return Number.NaN;
  const isUnsigned = b instanceof CelUint;
  if (a < (isUnsigned ? 0 : -INT64_LIMIT)) return -1;
  if (a > (isUnsigned ? UINT64_LIMIT : INT64_LIMIT)) return 1;
  const other = Number(isUnsigned ? b.value : b);
  return a < other ? -1 : a > other ? 1 : 0;
}

const MAX_PLAIN_DIGITS = 6;

/** Go's %g with the fewest digits that read back as the same: with an exponent from 1e+06 on and below 1e-4 (strconv/ftoa.go). */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const exponent = value === 0 ? 0 : Number(value.toExponential().split('e')[1]);
  const text = exponent < -4 || exponent >= MAX_PLAIN_DIGITS ? value.toExponential() : plainDecimal(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** All digits, no exponent, as strconv.FormatFloat(v, 'f', -1, 64) writes. */
export function plainDecimal(value: number): string {
  const text = String(value);
  const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) return text;
  const [, sign, whole, fraction = '', exponentText] = parts;
  const digits = whole! + fraction;
  const point = whole!.length + Number(exponentText);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length ? sign + digits.padEnd(point, '0') : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
