/** Text that is no time; the message is that of Go's time.Parse. */
/** Go's time package quotes by bytes: control characters and what is beyond ASCII are written as `\xNN`. */
const quote = (text: string): string =>
  `"${text.replace(/["\\]|[^ -\u007f]/gu, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : [...Buffer.from(char)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  )}"`;

export class TimeError extends Error {}

/** A moment as Go's time.Time has it: whole seconds since 1970 and the nanoseconds beyond them. */
export interface Moment {
  seconds: number;
  nanoseconds: number;
}

const SECONDS_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICROSECONDS_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';
/** 0001-01-01T00:00:00Z: Go's zero time, which meta/v1 writes as null. */
const ZERO_SECONDS = -62_135_596_800;
const CANONICAL = /^2[0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$/;
const CANONICAL_MICRO = /^2[0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z$/;

/** RFC 3339 as meta/v1 Time takes it. Throws TimeError. */
export const parseTime = (text: string): Moment => new TimeReader(text, SECONDS_LAYOUT).read();

/** RFC 3339 with six digits of fraction, as meta/v1 MicroTime takes it. Throws TimeError. */
export const parseMicroTime = (text: string): Moment => new TimeReader(text, MICROSECONDS_LAYOUT).read();

/** `2020-01-02T03:04:05Z`. */
export const formatTime = (moment: Moment): string => `${date(moment.seconds)}Z`;

/** `2020-01-02T03:04:05.000006Z`. */
export const formatMicroTime = (moment: Moment): string => `${date(moment.seconds)}.${String(Math.trunc(moment.nanoseconds / 1000)).padStart(6, '0')}Z`;

/** A Date as meta/v1 Time writes it. */
export const timeOf = (now: Date): string => `${now.toISOString().slice(0, 19)}Z`;

/** A Date as meta/v1 MicroTime writes it. */
export const microTimeOf = (now: Date): string => `${now.toISOString().slice(0, 23)}000Z`;

/** Text that is read and written again as it is; most is. */
export const isCanonicalTime = (text: string): boolean => CANONICAL.test(text);

/** Read and written again, in UTC and whole seconds; null for Go's zero time. Throws TimeError. */
export function canonicalTime(text: string): string | null {
  if (isCanonicalTime(text)) return text;
  const moment = parseTime(text);
  return isZero(moment) ? null : formatTime(moment);
}

/** The same for MicroTime: every node renews its lease with one every ten seconds. */
export function canonicalMicroTime(text: string): string | null {
  if (CANONICAL_MICRO.test(text)) return text;
  const moment = parseMicroTime(text);
  return isZero(moment) ? null : formatMicroTime(moment);
}

const isZero = (moment: Moment): boolean => moment.seconds === ZERO_SECONDS && moment.nanoseconds === 0;

function date(seconds: number): string {
  const text = new Date(seconds * 1000).toISOString().slice(0, -5);
  // An offset can lead to the years -1 and 10000, which JavaScript writes with a sign and six digits, and Go with as few as four (time/format.go, appendInt).
  const beyond = /^([+-])0*(\d+)/.exec(text);
  return beyond === null ? text : `${beyond[1] === '-' ? '-' : ''}${beyond[2]!.padStart(4, '0')}${text.slice(beyond[0].length)}`;
}

/** Reads a value along Go's layout, element by element, since errors name the element and what stood in its place (time/format.go). */
class TimeReader {
  readonly value: string;
  readonly layout: string;
  rest: string;

  constructor(value: string, layout: string) {
    this.value = value;
    this.layout = layout;
    this.rest = value;
  }

  read(): Moment {
    const year = this.number('2006', 4, 4);
    this.literal('-');
    const month = this.inRange(this.number('01', 2, 2), 1, 12, 'month');
    this.literal('-');
    const day = this.number('02', 2, 2);
    this.literal('T');
    const hour = this.inRange(this.number('15', 1, 2), 0, 23, 'hour');
    this.literal(':');
    const minute = this.inRange(this.number('04', 2, 2), 0, 59, 'minute');
    this.literal(':');
    const second = this.inRange(this.number('05', 2, 2), 0, 59, 'second');
    const nanoseconds = this.layout === SECONDS_LAYOUT ? this.optionalFraction() : this.microseconds();
    const offsetSeconds = this.zone();
    if (this.rest !== '') this.fail(`: extra text: ${quote(this.rest)}`);
    const midnight = new Date(0);
    midnight.setUTCFullYear(year, month - 1, day);
    if (day < 1 || midnight.getUTCMonth() !== month - 1) this.fail(': day out of range');
    return { seconds: midnight.getTime() / 1000 + hour * 3600 + minute * 60 + second - offsetSeconds, nanoseconds };
  }

  number(element: string, minDigits: number, maxDigits: number): number {
    let count = 0;
    let value = 0;
    for (; count < maxDigits; count++) {
      const digit = this.rest.charCodeAt(count) - 0x30;
      // NaN at the end of the text.
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    if (count < minDigits) this.mismatch(element);
    this.rest = this.rest.slice(count);
    return value;
  }

  inRange(value: number, min: number, max: number, name: string): number {
    if (value < min || value > max) this.fail(`: ${name} out of range`);
    return value;
  }

  literal(character: string): void {
    if (!this.rest.startsWith(character)) this.mismatch(character);
    this.rest = this.rest.slice(1);
  }

  /** Go takes a fraction after the seconds even where the layout has none. */
  optionalFraction(): number {
    const fraction = /^[.,]([0-9]+)/.exec(this.rest);
    if (fraction === null) return 0;
    this.rest = this.rest.slice(fraction[0].length);
    return Number(fraction[1]!.slice(0, 9).padEnd(9, '0'));
  }

  microseconds(): number {
    const fraction = /^[.,]([0-9]{6})/.exec(this.rest);
    if (fraction === null) this.mismatch('.000000');
    this.rest = this.rest.slice(7);
    return Number(fraction![1]) * 1000;
  }

  zone(): number {
    if (this.rest.startsWith('Z')) {
      this.rest = this.rest.slice(1);
      return 0;
    }
    const zone = /^([+-])([0-9]{2}):([0-9]{2})/.exec(this.rest);
    if (zone === null) this.mismatch('Z07:00');
    this.rest = this.rest.slice(6);
    const hours = this.inRange(Number(zone![2]), 0, 24, 'time zone offset hour');
    const minutes = this.inRange(Number(zone![3]), 0, 60, 'time zone offset minute');
    return (zone![1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  }

  mismatch(element: string): never {
    throw new TimeError(`parsing time ${quote(this.value)} as ${quote(this.layout)}: cannot parse ${quote(this.rest)} as ${quote(element)}`);
  }

  fail(message: string): never {
    throw new TimeError(`parsing time ${quote(this.value)}${message}`);
  }
}
