import { quote } from './go-quote.ts';
import { LIMITS } from './limits.ts';

/** Text that is no duration; the message is that of Go's time.ParseDuration. */
export class DurationError extends Error {}

const UNIT_NANOSECONDS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const SECOND = 1_000_000_000n;
const MAX_INT64 = 2n ** 63n - 1n;
const PART = /([0-9]*)(\.[0-9]*)?([^0-9.]*)/y;
/** Digits of the largest number of nanoseconds: with more of them, any unit overflows. */
const MAX_DIGITS = 19;

/** Milliseconds of `1h2m`, `1.5s`, `-300ms`, `0`. Throws DurationError. */
export const parseDuration = (text: string): number => Number(parseNanoseconds(text)) / 1e6;

/** The same, exact. */
export function parseNanoseconds(text: string): bigint {
  // Go has no such limit; but a duration comes in a URL, before anyone knows who asks, and making a number of a million digits takes a third of a second.
  if (text.length > LIMITS.durationCharacters) throw invalid(`${text.slice(0, 100)}…`);
  const isNegative = text.startsWith('-');
  const start = /^[+-]/.test(text) ? 1 : 0;
  if (text.length - start === 1 && text[start] === '0') return 0n;
  if (text.length === start) throw invalid(text);
  let total = 0n;
  for (PART.lastIndex = start; PART.lastIndex < text.length;) {
    const [, whole, fraction, unit] = PART.exec(text)!;
    if (whole === '' && (fraction ?? '.') === '.') throw invalid(text);
    if (whole!.length > MAX_DIGITS && whole!.replace(/^0+/, '').length > MAX_DIGITS) throw invalid(text);
    if (unit === '') throw new DurationError(`time: missing unit in duration ${quote(text)}`);
    if (!Object.hasOwn(UNIT_NANOSECONDS, unit!)) throw new DurationError(`time: unknown unit ${quote(unit!)} in duration ${quote(text)}`);
    total += partNanoseconds(whole!, fraction ?? '', UNIT_NANOSECONDS[unit!]!);
    if (total > MAX_INT64 + (isNegative ? 1n : 0n)) throw invalid(text);
  }
  return isNegative ? -total : total;
}

function partNanoseconds(whole: string, fraction: string, unit: bigint): bigint {
  // Digits beyond these are below a nanosecond of any unit.
  const digits = fraction.slice(1, 19);
  return BigInt(whole === '' ? 0 : whole) * unit + (BigInt(digits === '' ? 0 : digits) * unit) / 10n ** BigInt(digits.length);
}

const invalid = (text: string): DurationError => new DurationError(`time: invalid duration ${quote(text)}`);

/** As Go's Duration.String: `1h2m0s`, `1.5s`, `300ms`, `0s`. */
export const formatDuration = (durationMs: number): string => formatNanoseconds(BigInt(Math.round(durationMs * 1e6)));

/** The same, exact. */
export function formatNanoseconds(duration: bigint): string {
  if (duration === 0n) return '0s';
  const sign = duration < 0n ? '-' : '';
  const size = duration < 0n ? -duration : duration;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1_000n)}µs`;
  if (size < SECOND) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const minutes = size / (60n * SECOND);
  const seconds = `${decimal(size % (60n * SECOND), SECOND)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(amount: bigint, unit: bigint): string {
  const fraction = amount % unit;
  if (fraction === 0n) return (amount / unit).toString();
  const width = unit.toString().length - 1;
  return `${amount / unit}.${fraction.toString().padStart(width, '0').replace(/0+$/, '')}`;
}

/** Read and written again. Throws DurationError. */
export const canonicalDuration = (text: string): string => formatNanoseconds(parseNanoseconds(text));

const HOURS_A_DAY = 24;
const HOURS_A_YEAR = 24 * 365;

/** An age in two or three figures, as apimachinery/pkg/util/duration.HumanDuration: `45s`, `5m30s`, `3h10m`, `2d4h`, `400d`, `3y12d`. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  // Clocks may differ by a second; more than that in the future is no age.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / HOURS_A_DAY);
  if (hours < HOURS_A_DAY * 8) return pair(days, 'd', hours % HOURS_A_DAY, 'h');
  if (hours < HOURS_A_YEAR * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return hours < HOURS_A_YEAR * 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

const pair = (large: number, largeUnit: string, small: number, smallUnit: string): string => `${large}${largeUnit}${small === 0 ? '' : `${small}${smallUnit}`}`;

/** The age of something made at `timestamp`, for a table's cell: `<unknown>` where there is none. */
export const ageSince = (timestamp: string | undefined, now: Date): string =>
  timestamp === undefined || timestamp === '' ? '<unknown>' : humanDuration(now.getTime() - Date.parse(timestamp));
