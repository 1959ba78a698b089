import { DurationError, parseNanoseconds } from '../../util/duration.ts';
import { quote } from '../../util/go-quote.ts';
import { timeZoneError } from './time-zone.ts';

/** The five fields of a schedule and the predefined ones, as robfig/cron's standard parser takes them; messages are its own. */
interface Bounds {
  min: bigint;
  max: bigint;
  names: readonly string[];
}

const bounds = (min: number, max: number, names: readonly string[] = []): Bounds => ({ min: BigInt(min), max: BigInt(max), names });
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** Minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly Bounds[] = [bounds(0, 59), bounds(0, 23), bounds(1, 31), bounds(1, 12, MONTHS), bounds(0, 6, WEEKDAYS)];
const DESCRIPTORS: ReadonlySet<string> = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);
const EVERY = '@every ';
const MAX_INT64 = 2n ** 63n - 1n;

/** A field does not follow the grammar. */
class CronError extends Error {}

/** What is wrong with a schedule; undefined where nothing is. */
export function cronScheduleError(schedule: string): string | undefined {
  try {
    checkSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

function checkSchedule(schedule: string): void {
  const text = /^(CRON_)?TZ=/.test(schedule) ? withoutTimeZone(schedule) : schedule;
  if (text.startsWith('@')) return checkDescriptor(text);
  const fields = text.split(/[\s\u0085]+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) throw new CronError(`expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`);
  for (const [index, field] of fields.entries()) for (const range of field.split(',')) if (range !== '') checkRange(range, FIELDS[index]!);
}

function withoutTimeZone(schedule: string): string {
  const space = schedule.indexOf(' ');
  // The reference's parser panics here, and this is how its caller words that.
  if (space < 0) throw new CronError('invalid schedule format: runtime error: slice bounds out of range [:-1]');
  const zone = schedule.slice(schedule.indexOf('=') + 1, space);
  const error = timeZoneError(zone);
  if (error !== undefined) throw new CronError(`provided bad location ${zone}: ${error}`);
  return schedule.slice(space).trim();
}

function checkDescriptor(text: string): void {
  if (DESCRIPTORS.has(text)) return;
  if (!text.startsWith(EVERY)) throw new CronError(`unrecognized descriptor: ${text}`);
  try {
    parseNanoseconds(text.slice(EVERY.length));
  } catch (error) {
    throw error instanceof DurationError ? new CronError(`failed to parse duration ${text}: ${error.message}`) : error;
  }
}

/** `5`, `1-5`, `*`, `?`, each perhaps with a step: `1-5/2`. A single number with a step goes on to the end. */
function checkRange(range: string, { min, max, names }: Bounds): void {
  const [limits = '', ...steps] = range.split('/');
  const [low = '', ...highs] = limits.split('-');
  const isAll = low === '*' || low === '?';
  const start = isAll ? min : parseValue(low, names);
  if (!isAll && highs.length > 1) throw new CronError(`too many hyphens: ${range}`);
  let end = isAll ? max : highs.length === 1 ? parseValue(highs[0]!, names) : start;
  if (steps.length > 1) throw new CronError(`too many slashes: ${range}`);
  const step = steps.length === 0 ? 1n : parseNumber(steps[0]!);
  if (steps.length === 1 && highs.length === 0) end = max;
  if (start < min) throw new CronError(`beginning of range (${start}) below minimum (${min}): ${range}`);
  if (end > max) throw new CronError(`end of range (${end}) above maximum (${max}): ${range}`);
  if (start > end) throw new CronError(`beginning of range (${start}) beyond end of range (${end}): ${range}`);
  if (step === 0n) throw new CronError(`step of range should be a positive number: ${range}`);
}

function parseValue(text: string, names: readonly string[]): bigint {
  const index = names.indexOf(text.toLowerCase());
  // Months are counted from one.
  return index < 0 ? parseNumber(text) : BigInt(names === MONTHS ? index + 1 : index);
}

function parseNumber(text: string): bigint {
  const refuse = (why: string): CronError => new CronError(`failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw refuse('invalid syntax');
  const value = text.length > 40 ? MAX_INT64 + 1n : BigInt(text.replace('+', ''));
  if (value > MAX_INT64 || value < -MAX_INT64 - 1n) throw refuse('value out of range');
  if (value < 0n) throw new CronError(`negative number (${value}) not allowed: ${text}`);
  return value;
}
