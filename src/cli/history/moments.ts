import type { Moment } from '../../history/history-source.ts';
import { CommandError } from '../../options/command-error.ts';
import { DurationError, parseDuration } from '../../util/duration.ts';

const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;
/** The minute that the end is in has later times. */
const AHEAD_MS = 60_000;
const EXAMPLES = '10:05, 10:05:30, 2026-01-31T10:05:00Z, or -5m for five minutes before the end';

/** The same, or a version of the store: `--at 1234`. */
export const parseMoment = (flag: string, text: string, endMs: number): Moment =>
  /^[1-9]\d*$/.test(text) ? { resourceVersion: Number(text) } : { timeMs: parseTime(flag, text, endMs) };

/**
 * A time as a person names it. A time of day is one of the recording's last day, in the time zone of this machine; `-5m` is so long before the end of
 * the recording.
 */
export function parseTime(flag: string, text: string, endMs: number): number {
  const clock = CLOCK.exec(text);
  if (clock) {
    const day = new Date(endMs);
    day.setHours(Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0), clock[3] === undefined ? 0 : 999);
    // Just after midnight, 23:50 was yesterday.
    if (day.getTime() > endMs + AHEAD_MS) day.setDate(day.getDate() - 1);
    return day.getTime();
  }
  if (text.startsWith('-')) return endMs - lengthOf(flag, text.slice(1));
  const timeMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(timeMs)) throw new CommandError(`${flag}: ${JSON.stringify(text)} is no time: write ${EXAMPLES}`);
  return timeMs;
}

function lengthOf(flag: string, text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw new CommandError(`${flag}: ${JSON.stringify(`-${text}`)} is no time: write ${EXAMPLES}`);
    throw error;
  }
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-01-31 10:05:30`, in the time zone of this machine. */
export function timeText(timeMs: number): string {
  const time = new Date(timeMs);
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
