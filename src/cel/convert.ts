import { quote } from '../util/go-quote.ts';
import { checkedInt, checkedUint, formatDouble, intOfDouble, isInt, plainDecimal, uintOfDouble } from './numbers.ts';
import { formatDurationSeconds, formatTimestamp, parseDurationText, parseTimestamp, timestampOf } from './time.ts';
import { BOOL, BYTES, CelType, DOUBLE, DURATION, INT, STRING, TIMESTAMP, TYPE, UINT, formatType } from './types.ts';
import {
  CelDouble,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelObject,
  CelOptional,
  CelTimestamp,
  CelUint,
  canonicalInt,
  typeOf,
  type CelValue,
} from './values.ts';

/** `int(x)`, `string(x)` and the like, as cel-go's ConvertToType. */
export function convert(value: CelValue, to: CelType): CelValue {
  if (value instanceof CelError) return value;
  const from = typeOf(value);
  if (to === TYPE) return from;
  if (from.name === to.name) return value;
  return converted(value, to) ?? new CelError(`type conversion error from '${typeLabel(from)}' to '${typeLabel(to)}'`);
}

/** Go prints the run-time types of lists and maps with their parameters. */
const typeLabel = (type: CelType): string => (type.kind === 'list' || type.kind === 'map' ? formatType(type) : type.name);

function converted(value: CelValue, to: CelType): CelValue | undefined {
  switch (to) {
    case INT:
      return toInt(value);
    case UINT:
      return toUint(value);
    case DOUBLE:
      return toDouble(value);
    case STRING:
      return toText(value);
    case BOOL:
      return typeof value === 'string' ? parseBool(value) : undefined;
    case BYTES:
      return typeof value === 'string' ? Buffer.from(value) : undefined;
    case TIMESTAMP:
      return toTimestamp(value);
    case DURATION:
      return typeof value === 'string' ? parseDurationText(value) : undefined;
    default:
      return undefined;
  }
}

const INTEGER = /^[+-]?\d+$/;

function toInt(value: CelValue): CelValue | undefined {
  if (value instanceof CelDouble) return intOfDouble(value.value);
  if (value instanceof CelUint) return checkedInt(value.value);
  if (value instanceof CelDuration) return canonicalInt(value.nanoseconds);
  if (value instanceof CelTimestamp) return value.seconds;
  if (typeof value !== 'string' || !INTEGER.test(value) || value.length > 64) return undefined;
  const amount = checkedInt(BigInt(value.replace('+', '')));
  return amount instanceof CelError ? undefined : amount;
}

function toUint(value: CelValue): CelValue | undefined {
  if (value instanceof CelDouble) return uintOfDouble(value.value);
  if (isInt(value)) return checkedUint(BigInt(value));
  if (typeof value !== 'string' || !/^\d{1,64}$/.test(value)) return undefined;
  const amount = checkedUint(BigInt(value));
  return amount instanceof CelError ? undefined : amount;
}

function toDouble(value: CelValue): CelDouble | undefined {
  if (isInt(value)) return new CelDouble(Number(value));
  if (value instanceof CelUint) return new CelDouble(Number(value.value));
  const amount = typeof value === 'string' ? parseFloatText(value) : undefined;
  return amount === undefined ? undefined : new CelDouble(amount);
}

const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const HEX_FLOAT = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?\d{1,6})$/i;

/** As strconv.ParseFloat, where what is too large is an error. Underscores are only for literals. */
export function parseFloatText(text: string): number | undefined {
  const word = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (word !== null) return word[2] === undefined ? (word[1] === '' ? Number.NaN : undefined) : word[1] === '-' ? -Infinity : Infinity;
  const amount = FLOAT.test(text) ? Number(text) : parseHexFloat(text);
  return amount !== undefined && Number.isFinite(amount) ? amount : undefined;
}

function parseHexFloat(text: string): number | undefined {
  const [, sign, whole = '', fraction = '', exponent] = HEX_FLOAT.exec(text) ?? [];
  if (exponent === undefined || whole + fraction === '') return undefined;
  const mantissa = Number(`0x${whole}${fraction}`);
  return (sign === '-' ? -1 : 1) * mantissa * 2 ** (Number(exponent) - 4 * fraction.length);
}

const TRUE_WORDS = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_WORDS = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

const parseBool = (text: string): boolean | undefined => (TRUE_WORDS.has(text) ? true : FALSE_WORDS.has(text) ? false : undefined);

function toTimestamp(value: CelValue): CelValue | undefined {
  if (isInt(value)) return timestampOf(Number(value), 0);
  return typeof value === 'string' ? parseTimestamp(value) : undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const INVALID_UTF8 = new CelError('invalid UTF-8 in bytes, cannot convert to string');

function toText(value: CelValue): CelValue | undefined {
  if (isInt(value) || typeof value === 'boolean') return String(value);
  if (value === null) return 'null';
  if (value instanceof CelDouble) return formatDouble(value.value);
  if (value instanceof CelUint) return value.value.toString();
  if (value instanceof Uint8Array) return decodeUtf8(value) ?? INVALID_UTF8;
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDurationSeconds(value);
  return value instanceof CelType ? value.name : undefined;
}

/** Undefined where the bytes are no UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** As Go's %v prints a value inside a message: `no such key: 1`. */
export function show(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (value instanceof CelError) return value.message;
  if (value instanceof CelList) return `[${listItems(value).map(show).join(', ')}]`;
  if (value instanceof CelMap)
    return `{${value
      .keys()
      .map((key) => `${show(key)}: ${show(value.find(key)!)}`)
      .join(', ')}}`;
  if (value instanceof CelObject) return value.toString();
  if (value instanceof CelOptional) return value.value === undefined ? 'optional.none()' : `optional(${show(value.value)})`;
  const text = toText(value);
  return typeof text === 'string' ? text : '';
}

export const listItems = (list: CelList): CelValue[] => Array.from({ length: list.size }, (_, index) => list.get(index));

/** As an expression that has this value, for people: cel-go's types.Format. */
export function formatLiteral(value: CelValue): string {
  if (typeof value === 'string') return quote(value);
  if (value instanceof CelDouble) return doubleLiteral(value.value);
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b"${Array.from(value, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`;
  if (value instanceof CelTimestamp) return `timestamp("${formatTimestamp(new CelTimestamp(value.seconds, value.nanoseconds))}")`;
  if (value instanceof CelDuration) return `duration("${formatDurationSeconds(value)}")`;
  if (value instanceof CelList) return `[${listItems(value).map(formatLiteral).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = value.keys().map((key) => `${formatLiteral(key)}: ${formatLiteral(value.find(key)!)}`);
    return `{${entries.toSorted().join(', ')}}`;
  }
  if (value instanceof CelOptional) return value.value === undefined ? 'optional.none()' : `optional.of(${formatLiteral(value.value)})`;
  return show(value);
}

function doubleLiteral(value: number): string {
  if (Number.isNaN(value)) return 'double("NaN")';
  if (!Number.isFinite(value)) return `double("${value < 0 ? '-' : ''}Infinity")`;
  const text = plainDecimal(value);
  return text.includes('.') ? text : `${text}.0`;
}
