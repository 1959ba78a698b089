import { CborError } from './cbor-items.ts';
import { TimeError, isCanonicalTime, parseTime } from '../util/time.ts';

const FRACTION = /\.(\d{0,9})\d*/;
const NO_OFFSET = /[+-]00:00$/;

/** What tag 0 encloses, as Go's RFC3339Nano writes it again: the zone stays, zeros at the end of the fraction go. */
export function taggedTime(text: string): string {
  if (isCanonicalTime(text)) return text;
  try {
    parseTime(text);
  } catch (error) {
    throw error instanceof TimeError ? new CborError(`cbor: cannot set ${text} for time.Time: ${error.message}`) : error;
  }
  return text.replace(FRACTION, (_, digits: string) => fraction(digits)).replace(NO_OFFSET, 'Z');
}

/** The ends of the years that RFC 3339 can write, in seconds since 1970. */
const MIN_SECONDS = -62_167_219_200;
const END_SECONDS = 253_402_300_800;

/** What tag 1 encloses, in UTC, in the same form. */
export function epochTime(value: number | bigint): string {
  const whole = typeof value === 'bigint' ? Number(value) : Math.trunc(value);
  const beyond = typeof value === 'bigint' ? 0 : Math.trunc((value - whole) * 1e9);
  const seconds = beyond < 0 ? whole - 1 : whole;
  const nanoseconds = beyond < 0 ? beyond + 1e9 : beyond;
  if (!(seconds >= MIN_SECONDS && seconds < END_SECONDS))
    throw new CborError(
      'cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]',
    );
  const beyondSeconds = nanoseconds === 0 ? '' : fraction(String(nanoseconds).padStart(9, '0'));
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${beyondSeconds}Z`;
}

function fraction(digits: string): string {
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '' : `.${significant}`;
}
