import { parseTime } from '../util/time.ts';

/** What a plain YAML scalar means to go-yaml v2 (resolve.go), by which upstream reads and quotes: YAML 1.1, without sexagesimals. */
export type Resolved = { kind: 'null' | 'bool' | 'int' | 'float' | 'timestamp' | 'merge' | 'string'; value: null | boolean | number | bigint | string };

const WORDS = new Map<string, Resolved>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, Resolved] => [word, { kind: 'bool', value: true }]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, Resolved] => [word, { kind: 'bool', value: false }]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, Resolved] => [word, { kind: 'null', value: null }]),
  ...['.nan', '.NaN', '.NAN'].map((word): [string, Resolved] => [word, { kind: 'float', value: Number.NaN }]),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word): [string, Resolved] => [word, { kind: 'float', value: Infinity }]),
  ...['-.inf', '-.Inf', '-.INF'].map((word): [string, Resolved] => [word, { kind: 'float', value: -Infinity }]),
]);

const STARTS_NUMBER = /^[-+.0-9]/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INTEGERS: readonly { form: RegExp; prefix: string }[] = [
  { form: /^([-+]?)0[xX]([0-9a-fA-F]+)$/, prefix: '0x' },
  { form: /^([-+]?)0[bB]([01]+)$/, prefix: '0b' },
  { form: /^([-+]?)0[oO]?([0-7]+)$/, prefix: '0o' },
  { form: /^([-+]?)(0|[1-9][0-9]*)$/, prefix: '' },
];
const SHORT_DATE = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$/;
const SPACED_TIME = /^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})(?:[Tt]|\s)([0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?)(Z|[-+][0-9]{2}:[0-9]{2})?$/;
const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** No integer of more characters fits 64 bits, whatever its base, but for zeros that nobody writes. */
const MAX_INTEGER_LENGTH = 100;

export function resolvePlain(text: string): Resolved {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text === '<<') return { kind: 'merge', value: text };
  if (!STARTS_NUMBER.test(text)) return { kind: 'string', value: text };
  if (isTimestamp(text)) return { kind: 'timestamp', value: text };
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  const whole = integer(plain);
  if (whole !== undefined) return whole;
  const value = FLOAT.test(plain) ? Number(plain) : Number.NaN;
  // A number that is too large for a float is text, as Go's ParseFloat refuses it.
  return Number.isFinite(value) ? { kind: 'float', value } : { kind: 'string', value: text };
}

function integer(text: string): Resolved | undefined {
  if (text.length > MAX_INTEGER_LENGTH) return undefined;
  for (const { form, prefix } of INTEGERS) {
    const match = form.exec(text);
    if (match === null) continue;
    const size = BigInt(prefix + match[2]!);
    const value = match[1] === '-' ? -size : size;
    if (value < MIN_INT64 || value > MAX_UINT64) return undefined;
    return { kind: 'int', value: Number.isSafeInteger(Number(value)) || value >= 2n ** 63n ? Number(value) : value };
  }
  return undefined;
}

/** `2020-1-2` to `2020-01-02`. */
const pad = (fields: string, separator: string): string =>
  fields
    .split(separator)
    .map((field) => field.replace(/^([0-9])(?![0-9])/, '0$1'))
    .join(separator);

/** Kept as text when read, but quoted when written. */
function isTimestamp(text: string): boolean {
  const match = SPACED_TIME.exec(text);
  if (match === null && !SHORT_DATE.test(text)) return false;
  // A space stands only before times without a zone, a T only before times with one.
  if (match !== null && /\s/.test(text) !== (match[3] === undefined)) return false;
  const date = pad(match?.[1] ?? text, '-');
  const time = match === null ? '00:00:00' : pad(match[2]!, ':');
  try {
    parseTime(`${date}T${time}${match?.[3] ?? 'Z'}`);
    return true;
  } catch {
    return false;
  }
}
