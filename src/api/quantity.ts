/**
 * Amounts of resources: `100m`, `1.5Gi`, `12e6`. Grammar, rounding and canonical form follow apimachinery/pkg/api/resource. Exact: a quantity is
 * `unscaled` times ten to the `exponent`, which is never below -9, since finer amounts are rounded up when read.
 */
export interface Quantity {
  readonly unscaled: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** What was read, where upstream writes it back as it was. */
  readonly text?: string;
}

/** How it is written: `12M`, `12Mi`, `12e6`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** Text that is no quantity; the message is upstream's. */
export class QuantityError extends Error {}

/** Each part begins with what the one before it cannot hold: parts that could share digits would be tried in all ways, which takes for ever. */
const FORM = /^([+-]?)0*((?:[1-9][0-9]*)?)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*|)$/;
const FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMBER_WRONG = 'unable to parse numeric part of quantity';
const SUFFIX_WRONG = "unable to parse quantity's suffix";

/** Upstream knows no limit, but converts digits in more than linear time. */
const MAX_LENGTH = 1_000;
const NANO = -9;
const MAX_INT64 = 2n ** 63n - 1n;
/** So many digits fit an int64 whatever they are: upstream's fast path, which also keeps the text. */
const INT64_DIGITS = 18;
const DECIMAL_SUFFIXES: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_SUFFIXES: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL_NAMES = invert(DECIMAL_SUFFIXES);
const BINARY_NAMES = invert(BINARY_SUFFIXES);
const LARGEST_DECIMAL = 18;
/** Sums of amounts further apart than this keep only the larger: what is lost is below any use, and the digits would fill the memory. */
const MAX_ADDED_DIGITS = 1_000;

interface Suffix {
  format: QuantityFormat;
  exponent: number;
}

/** A cluster asks for few amounts, and each of them thousands of times. Longer texts could hold on to the body that they were cut from. */
const known = new Map<string, Quantity>();
const MAX_KNOWN = 1_000;
const MAX_KNOWN_LENGTH = 12;

/** Throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  const found = known.get(text);
  if (found !== undefined) return found;
  const quantity = readQuantity(text);
  if (text.length > MAX_KNOWN_LENGTH) return quantity;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(text, quantity);
  return quantity;
}

function readQuantity(text: string): Quantity {
  const match = text === '' ? null : FORM.exec(text);
  if (match === null) throw new QuantityError(FORMAT_WRONG);
  if (text.length > MAX_LENGTH) throw new QuantityError(NUMBER_WRONG);
  const [, sign, , fraction = '', suffixText] = match;
  const whole = match[2] === '' ? '0' : match[2]!;
  const suffix = parseSuffix(suffixText!);
  const digits = whole + fraction;
  const magnitude = BigInt(digits);
  const signed = sign === '-' ? -magnitude : magnitude;
  return suffix.format === 'BinarySI'
    ? binaryQuantity(text, signed, whole, fraction, suffix.exponent)
    : decimalQuantity(text, signed, digits, fraction.length, suffix);
}

function parseSuffix(text: string): Suffix {
  if (Object.hasOwn(DECIMAL_SUFFIXES, text)) return { format: 'DecimalSI', exponent: DECIMAL_SUFFIXES[text]! };
  if (Object.hasOwn(BINARY_SUFFIXES, text)) return { format: 'BinarySI', exponent: BINARY_SUFFIXES[text]! };
  const exponent = /^[eE]([+-]?[0-9]{1,18})$/.exec(text);
  if (exponent === null) throw new QuantityError(SUFFIX_WRONG);
  // Upstream keeps the exponent's lower 32 bits.
  return { format: 'DecimalExponent', exponent: Number(BigInt.asIntN(32, BigInt(exponent[1]!.replace('+', '')))) };
}

function decimalQuantity(text: string, signed: bigint, digits: string, fractionDigits: number, suffix: Suffix): Quantity {
  const exponent = suffix.exponent - fractionDigits;
  const rounded = roundUpTo(signed, exponent, NANO);
  const kept = digits.length <= INT64_DIGITS && exponent >= NANO && exponent % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
  return { unscaled: rounded, exponent: Math.max(exponent, NANO), format: suffix.format, ...(kept && { text }) };
}

function binaryQuantity(text: string, signed: bigint, whole: string, fraction: string, exponent: number): Quantity {
  const isSmall = fraction === '' && 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
  const unscaled = signed << BigInt(exponent);
  if (isSmall) return { unscaled, exponent: 0, format: 'BinarySI', ...((signed & 7n) !== 0n && { text }) };
  const nanos = roundUpTo(unscaled, -fraction.length, NANO);
  const quantity: Quantity = { unscaled: nanos, exponent: Math.max(-fraction.length, NANO), format: 'BinarySI' };
  const size = absolute(quantity);
  if (compareQuantities(size, whole64(MAX_INT64)) > 0) return { ...whole64(signed < 0n ? -MAX_INT64 : MAX_INT64) };
  const isFraction = size.unscaled !== 0n && compareQuantities(size, whole64(1n)) < 0;
  return isFraction ? { ...quantity, format: 'DecimalSI' } : quantity;
}

const whole64 = (unscaled: bigint): Quantity => ({ unscaled, exponent: 0, format: 'BinarySI' });
const absolute = (quantity: Quantity): Quantity => (quantity.unscaled < 0n ? { ...quantity, unscaled: -quantity.unscaled } : quantity);

/** `unscaled` in units of ten to the `target`, away from zero where it does not come out even; as it is where it is coarser already. */
function roundUpTo(unscaled: bigint, exponent: number, target: number): bigint {
  if (exponent >= target || unscaled === 0n) return unscaled;
  const away = unscaled < 0n ? -1n : 1n;
  const dropped = target - exponent;
  if (dropped > digitCount(unscaled)) return away;
  const divisor = 10n ** BigInt(dropped);
  return unscaled / divisor + (unscaled % divisor === 0n ? 0n : away);
}

const digitCount = (integer: bigint): number => (integer < 0n ? -integer : integer).toString().length;

/** Below, at or above zero as `a` is less than, equal to or more than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const signA = a.unscaled < 0n ? -1 : a.unscaled > 0n ? 1 : 0;
  const signB = b.unscaled < 0n ? -1 : b.unscaled > 0n ? 1 : 0;
  if (signA !== signB || signA === 0) return signA - signB;
  // Amounts of different size are told apart by their digits, so that an exponent of a billion is never multiplied out.
  const sizeDifference = digitCount(a.unscaled) + a.exponent - digitCount(b.unscaled) - b.exponent;
  if (sizeDifference !== 0) return sizeDifference > 0 ? signA : -signA;
  const exponent = Math.min(a.exponent, b.exponent);
  const left = a.unscaled * 10n ** BigInt(a.exponent - exponent);
  const right = b.unscaled * 10n ** BigInt(b.exponent - exponent);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Written in the format of `a`, or of `b` where `a` is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const format = a.unscaled === 0n ? b.format : a.format;
  if (b.unscaled === 0n) return { unscaled: a.unscaled, exponent: a.exponent, format };
  if (a.unscaled === 0n) return { unscaled: b.unscaled, exponent: b.exponent, format };
  const [fine, coarse] = a.exponent < b.exponent ? [a, b] : [b, a];
  const difference = coarse.exponent - fine.exponent;
  if (difference > MAX_ADDED_DIGITS + digitCount(fine.unscaled)) return { unscaled: coarse.unscaled, exponent: coarse.exponent, format };
  return { unscaled: coarse.unscaled * 10n ** BigInt(difference) + fine.unscaled, exponent: fine.exponent, format };
}

export const subtractQuantities = (a: Quantity, b: Quantity): Quantity => addQuantities(a, { ...b, unscaled: -b.unscaled });

/** -1, 0 or 1. */
export const quantitySign = (quantity: Quantity): number => (quantity.unscaled < 0n ? -1 : quantity.unscaled > 0n ? 1 : 0);

/** In units of ten to the `exponent`, rounded away from zero: 0 for whole units, -3 for thousandths. Capped to what an int64 holds. */
export function quantityAt(quantity: Quantity, exponent: number): bigint {
  const shift = quantity.exponent - exponent;
  if (shift > 19 && quantity.unscaled !== 0n) return quantity.unscaled < 0n ? -MAX_INT64 - 1n : MAX_INT64;
  const value = shift >= 0 ? quantity.unscaled * 10n ** BigInt(shift) : roundUpTo(quantity.unscaled, quantity.exponent, exponent);
  return value > MAX_INT64 ? MAX_INT64 : value < -MAX_INT64 - 1n ? -MAX_INT64 - 1n : value;
}

/** The canonical text. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.unscaled === 0n) return '0';
  const bytes = quantity.format === 'BinarySI' ? wholeAmount(quantity) : undefined;
  if (bytes !== undefined && (bytes >= 1024n || bytes <= -1024n)) return formatBinary(bytes);
  return formatDecimal(quantity);
}

/** Parsed and written again; the common case of a text that is canonical already costs one look. */
export const canonicalQuantity = (text: string): string => (CANONICAL.test(text) ? text : formatQuantity(parseQuantity(text)));

/** Short of three trailing zeros and of eights: see `decimalQuantity`, `binaryQuantity`. */
const CANONICAL = /^[1-9][0-9]{0,4}(?<!000)(?:m|k|M|G)?$/;

function wholeAmount({ unscaled, exponent }: Quantity): bigint | undefined {
  if (exponent >= 0) return unscaled * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return unscaled % divisor === 0n ? unscaled / divisor : undefined;
}

function formatBinary(amount: bigint): string {
  let mantissa = amount;
  let exponent = 0;
  while (mantissa % 1024n === 0n && exponent < 60) {
    mantissa /= 1024n;
    exponent += 10;
  }
  return mantissa.toString() + (exponent === 0 ? '' : BINARY_NAMES.get(exponent)!);
}

function formatDecimal(quantity: Quantity): string {
  let mantissa = quantity.unscaled;
  let exponent = quantity.exponent;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent++;
  }
  const isSi = quantity.format !== 'DecimalExponent';
  const target = Math.floor(exponent / 3) * 3;
  const named = isSi ? Math.min(target, LARGEST_DECIMAL) : target;
  if (exponent - named > MAX_ADDED_DIGITS) return `${mantissa}e${exponent}`;
  mantissa *= 10n ** BigInt(exponent - named);
  if (isSi) return mantissa.toString() + DECIMAL_NAMES.get(named)!;
  return mantissa.toString() + (named === 0 ? '' : `e${named}`);
}

function invert(suffixes: Record<string, number>): ReadonlyMap<number, string> {
  return new Map(Object.entries(suffixes).map(([name, exponent]) => [exponent, name]));
}
