import { quote } from '../../util/go-quote.ts';
import { convert, listItems, parseFloatText } from '../convert.ts';
import { isInt, plainDecimal } from '../numbers.ts';
import { STRING, type TypeKind } from '../types.ts';
import { CelDouble, CelError, CelList, CelMap, CelUint, typeOf, type CelInt, type CelValue } from '../values.ts';

/** A way to write one argument: `%d`, `%.3f`. */
export interface Clause {
  /** Types of arguments that it takes. */
  readonly accepts: readonly TypeKind[];
  /** What is said of others, without the type's name. */
  readonly complaint: string;
  write(value: CelValue, precision: number): string | CelError;
}

const INTEGERS: readonly TypeKind[] = ['int', 'uint'];
const ANYTHING: readonly TypeKind[] = ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'];
const TEXT_COMPLAINT = 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';

const integer = (value: CelValue): bigint => (value instanceof CelUint ? value.value : BigInt(value as CelInt));

const inBase =
  (base: number) =>
  (value: CelValue): string =>
    typeof value === 'boolean' ? String(Number(value)) : integer(value).toString(base);

function hexadecimal(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : integer(value).toString(16);
}

/** The exact value, rounded half to even. */
function fixed(value: number, precision: number): string {
  const [digits, exponent] = exactDecimal(value);
  return roundDecimal(value < 0 || Object.is(value, -0), digits, exponent, precision);
}

/** All decimal digits of a double: `digits` times ten to the `exponent`. */
function exactDecimal(value: number): [digits: bigint, exponent: number] {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, Math.abs(value));
  const raw = bytes.getBigUint64(0);
  const power = Number(raw >> 52n);
  const fraction = raw & 0xf_ffff_ffff_ffffn;
  const mantissa = power === 0 ? fraction : fraction | 0x10_0000_0000_0000n;
  const shift = Math.max(power, 1) - 1075;
  return shift >= 0 ? [mantissa << BigInt(shift), 0] : [mantissa * 5n ** BigInt(-shift), shift];
}

function roundDecimal(isNegative: boolean, digits: bigint, exponent: number, precision: number): string {
  const dropped = -exponent - precision;
  let scaled = digits;
  if (dropped <= 0) scaled *= 10n ** BigInt(-dropped);
  else {
    const unit = 10n ** BigInt(dropped);
    const rest = digits % unit;
    scaled = digits / unit;
    if (rest * 2n > unit || (rest * 2n === unit && scaled % 2n === 1n)) scaled += 1n;
  }
  const text = scaled.toString().padStart(precision + 1, '0');
  const whole = text.slice(0, text.length - precision);
  return `${isNegative ? '-' : ''}${whole}${precision === 0 ? '' : `.${text.slice(-precision)}`}`;
}

function textOf(value: CelValue): string | CelError {
  const text = convert(value, STRING);
  if (typeof text === 'string') return text;
  return new CelError(`${TEXT_COMPLAINT}, was given ${typeOf(value).name}`);
}

function gather(parts: readonly (string | CelError)[], join: (parts: readonly string[]) => string): string | CelError {
  return parts.find((part) => part instanceof CelError) ?? join(parts as string[]);
}

function writeMap(map: CelMap): string | CelError {
  const entries = map.keys().map((key): [string | CelError, string | CelError] => [writeLiteral(key), writeLiteral(map.find(key)!)]);
  return gather(
    entries.flat(),
    () =>
      `{${entries
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => `${key as string}:${value as string}`)
        .join(', ')}}`,
  );
}

/** Inside of lists and maps: as a literal that has the value. */
function writeLiteral(value: CelValue): string | CelError {
  if (value instanceof CelList || value instanceof CelMap) return writeText(value);
  if (value instanceof CelDouble) return Number.isFinite(value.value) ? fixed(value.value, 6) : quote(goSpecial(value.value));
  const text = textOf(value);
  if (text instanceof CelError) return text;
  switch (typeOf(value).kind) {
    case 'string':
      return quote(text);
    case 'bytes':
      return `b${quote(text)}`;
    case 'timestamp':
      return `timestamp(${quote(text)})`;
    case 'duration':
      return `duration(${quote(text)})`;
    default:
      return text;
  }
}

const goSpecial = (value: number): string => (Number.isNaN(value) ? 'NaN' : value < 0 ? '-Inf' : '+Inf');

function writeText(value: CelValue): string | CelError {
  if (value instanceof CelList) return gather(listItems(value).map(writeLiteral), (parts) => `[${parts.join(', ')}]`);
  if (!(value instanceof CelMap)) return textOf(value);
  const unsupported = value.keys().find((key) => typeof key !== 'string' && typeof key !== 'boolean' && !isInt(key) && !(key instanceof CelUint));
  if (unsupported !== undefined) return new CelError(`no formatting function for map key of type ${typeOf(unsupported).name}`);
  return writeMap(value);
}

/** Texts that stand for numbers are taken for them. */
function floating(value: CelValue, complaint: string): number | CelError {
  if (value instanceof CelDouble) return value.value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return parseFloatText(value)!;
  return new CelError(`${complaint}, was given string`);
}

/** Digits in groups of three, from the shortest decimal that reads back as the value (golang.org/x/text/message in English). */
function localFixed(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-∞' : '∞';
  const text = plainDecimal(Math.abs(value));
  const [whole, fraction = ''] = text.split('.');
  const rounded = roundDecimal(value < 0, BigInt(whole! + fraction), -fraction.length, precision);
  const [digits, rest] = rounded.split('.');
  const grouped = digits!.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const SCIENTIFIC_PRECISION = 6;

/** `2.718280×10⁰⁰`; the precision that is asked for is taken for a width, and so has no effect. */
function localScientific(value: number): string {
  if (!Number.isFinite(value)) return localFixed(value, 0);
  const [mantissa, exponent] = value.toExponential(SCIENTIFIC_PRECISION).split('e');
  const digits = String(Math.abs(Number(exponent))).padStart(2, '0');
  return `${mantissa}×10${Number(exponent) < 0 ? '⁻' : ''}${Array.from(digits, (digit) => SUPERSCRIPTS[Number(digit)]).join('')}`;
}

function floatClause(complaint: string, write: (value: number, precision: number) => string): Clause {
  return {
    accepts: ['double', 'string'],
    complaint,
    write(value, precision) {
      const number = floating(value, complaint);
      return typeof number === 'number' ? write(number, precision) : number;
    },
  };
}

const HEX_TYPES: readonly TypeKind[] = ['int', 'uint', 'string', 'bytes'];
const HEX_COMPLAINT = 'only integers, byte buffers, and strings can be formatted as hex';

/** By their letters. Kubernetes has version 2 of the library, which prints numbers in English. */
export const FORMAT_CLAUSES: Readonly<Record<string, Clause>> = {
  s: { accepts: ANYTHING, complaint: TEXT_COMPLAINT, write: writeText },
  d: { accepts: INTEGERS, complaint: 'decimal clause can only be used on integers', write: inBase(10) },
  f: floatClause('fixed-point clause can only be used on doubles', localFixed),
  e: floatClause('scientific clause can only be used on doubles', localScientific),
  b: { accepts: [...INTEGERS, 'bool'], complaint: 'only integers and bools can be formatted as binary', write: inBase(2) },
  o: { accepts: INTEGERS, complaint: 'octal clause can only be used on integers', write: inBase(8) },
  x: { accepts: HEX_TYPES, complaint: HEX_COMPLAINT, write: hexadecimal },
  X: { accepts: HEX_TYPES, complaint: HEX_COMPLAINT, write: (value) => hexadecimal(value).toUpperCase() },
};
