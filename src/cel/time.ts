import { TimeError, parseTime } from '../util/time.ts';
import { parseNanoseconds, DurationError } from '../util/duration.ts';
import { plainDecimal } from './numbers.ts';
import { CelDuration, CelError, CelTimestamp, type CelValue } from './values.ts';

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;
const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;
const SECOND = 1_000_000_000n;

const TIMESTAMP_OVERFLOW = new CelError('timestamp overflow');
const DURATION_OVERFLOW = new CelError('duration overflow');

export const isInRange = (seconds: number): boolean => seconds >= MIN_SECONDS && seconds <= MAX_SECONDS;

export const timestampOf = (seconds: number, nanoseconds: number, zoneSeconds = 0): CelTimestamp | CelError =>
  isInRange(seconds) ? new CelTimestamp(seconds, nanoseconds, zoneSeconds) : TIMESTAMP_OVERFLOW;

const durationOf = (nanoseconds: bigint): CelDuration | CelError =>
  nanoseconds < MIN_INT64 || nanoseconds > MAX_INT64 ? DURATION_OVERFLOW : new CelDuration(nanoseconds);

/** RFC 3339; undefined where the text is something else. */
export function parseTimestamp(text: string): CelTimestamp | CelError | undefined {
  try {
    const { seconds, nanoseconds } = parseTime(text);
    const zone = /([+-])(\d{2}):(\d{2})$/.exec(text);
    const zoneSeconds = zone === null ? 0 : (zone[1] === '-' ? -1 : 1) * (Number(zone[2]) * 3600 + Number(zone[3]) * 60);
    return timestampOf(seconds, nanoseconds, zoneSeconds);
  } catch (error) {
    if (error instanceof TimeError) return undefined;
    throw error;
  }
}

/** Go's duration text; undefined where the text is something else. */
export function parseDurationText(text: string): CelDuration | undefined {
  try {
    return new CelDuration(parseNanoseconds(text));
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}

/** `2020-01-02T03:04:05.6Z`, in the zone it was written in. */
export function formatTimestamp({ seconds, nanoseconds, zoneSeconds }: CelTimestamp): string {
  const local = new Date((seconds + zoneSeconds) * 1000).toISOString().slice(0, -5);
  const fraction = nanoseconds === 0 ? '' : `.${String(nanoseconds).padStart(9, '0').replace(/0+$/, '')}`;
  return `${local}${fraction}${formatZone(zoneSeconds)}`;
}

function formatZone(zoneSeconds: number): string {
  if (zoneSeconds === 0) return 'Z';
  const minutes = Math.trunc(Math.abs(zoneSeconds) / 60);
  const two = (amount: number): string => String(amount).padStart(2, '0');
  return `${zoneSeconds < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}

/** Seconds as a decimal: `90.5s`. */
export const formatDurationSeconds = (duration: CelDuration): string => `${plainDecimal(secondsOf(duration))}s`;

/** As Go's Duration.Seconds, which adds the fraction to the whole as doubles. */
const secondsOf = ({ nanoseconds }: CelDuration): number => Number(nanoseconds / SECOND) + Number(nanoseconds % SECOND) / 1e9;

export const addDurations = (a: CelDuration, b: CelDuration): CelValue => durationOf(a.nanoseconds + b.nanoseconds);
export const subtractDurations = (a: CelDuration, b: CelDuration): CelValue => durationOf(a.nanoseconds - b.nanoseconds);
export const negateDuration = (a: CelDuration): CelValue => durationOf(-a.nanoseconds);

export function addToTimestamp(moment: CelTimestamp, nanoseconds: bigint): CelTimestamp | CelError {
  const total = BigInt(moment.nanoseconds) + nanoseconds;
  const fraction = ((total % SECOND) + SECOND) % SECOND;
  return timestampOf(moment.seconds + Number((total - fraction) / SECOND), Number(fraction), moment.zoneSeconds);
}

export function timestampDifference(a: CelTimestamp, b: CelTimestamp): CelDuration | CelError {
  return durationOf(BigInt(a.seconds - b.seconds) * SECOND + BigInt(a.nanoseconds - b.nanoseconds));
}

/** The parts of a moment on a wall clock. Months, days of the week and of the year count from zero, days of the month from one. */
export interface WallClock {
  year: number;
  month: number;
  day: number;
  dayOfWeek: number;
  dayOfYear: number;
  hours: number;
  minutes: number;
  seconds: number;
  milliseconds: number;
}

/** `zone` is a name of the time zone database or an offset such as `-08:00`. */
export function wallClock(moment: CelTimestamp, zone: string): WallClock | CelError {
  const offsetSeconds = zoneOffset(moment, zone);
  if (offsetSeconds instanceof CelError) return offsetSeconds;
  const local = new Date((moment.seconds + offsetSeconds) * 1000);
  const newYear = new Date(0);
  newYear.setUTCFullYear(local.getUTCFullYear(), 0, 1);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth(),
    day: local.getUTCDate(),
    dayOfWeek: local.getUTCDay(),
    dayOfYear: Math.floor((local.getTime() - newYear.getTime()) / 86_400_000),
    hours: local.getUTCHours(),
    minutes: local.getUTCMinutes(),
    seconds: local.getUTCSeconds(),
    milliseconds: Math.trunc(moment.nanoseconds / 1_000_000),
  };
}

function zoneOffset(moment: CelTimestamp, zone: string): number | CelError {
  if (zone === 'UTC' || zone === '') return 0;
  const colon = zone.indexOf(':');
  return colon === -1 ? namedZoneOffset(moment, zone) : numericZoneOffset(zone.slice(0, colon), zone.slice(colon + 1), zone.startsWith('-'));
}

function numericZoneOffset(hoursText: string, minutesText: string, isNegative: boolean): number | CelError {
  for (const text of [hoursText, minutesText]) {
    if (!/^[+-]?\d{1,9}$/.test(text)) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  const minutes = Number(minutesText);
  return (Number(hoursText) * 60 + (isNegative ? -minutes : minutes)) * 60;
}

const zoneFormats = new Map<string, Intl.DateTimeFormat>();
/** Names come from users; the database has some six hundred. */
const MAX_CACHED_ZONES = 1_000;

function namedZoneOffset(moment: CelTimestamp, zone: string): number | CelError {
  let format = zoneFormats.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        era: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
    } catch {
      return new CelError(`unknown time zone ${zone}`);
    }
    if (zoneFormats.size < MAX_CACHED_ZONES) zoneFormats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(new Date(moment.seconds * 1000)).map(({ type, value }) => [type, value]));
  const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year);
  const local = new Date(0);
  local.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
  local.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  return local.getTime() / 1000 - moment.seconds;
}
