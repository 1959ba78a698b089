const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
const UNITS: Readonly<Record<string, number>> = { y: YEAR_MS, d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };
const AGE = /^(?:\d+[ydhms])+$/;

/** As kubectl shows ages, two units where the first is small (kubernetes: apimachinery/pkg/util/duration, HumanDuration). */
export function formatAge(durationMs: number): string {
  if (durationMs < 0) return '0s';
  const whole = (unitMs: number): number => Math.floor(durationMs / unitMs);
  const rest = (unitMs: number, ofMs: number): number => Math.floor((durationMs % ofMs) / unitMs);
  const pair = (count: number, unit: string, part: number, partUnit: string): string => (part === 0 ? `${count}${unit}` : `${count}${unit}${part}${partUnit}`);
  if (durationMs < 2 * MINUTE_MS) return `${whole(SECOND_MS)}s`;
  if (durationMs < 10 * MINUTE_MS) return pair(whole(MINUTE_MS), 'm', rest(SECOND_MS, MINUTE_MS), 's');
  if (durationMs < 3 * HOUR_MS) return `${whole(MINUTE_MS)}m`;
  if (durationMs < 8 * HOUR_MS) return pair(whole(HOUR_MS), 'h', rest(MINUTE_MS, HOUR_MS), 'm');
  if (durationMs < 2 * DAY_MS) return `${whole(HOUR_MS)}h`;
  if (durationMs < 8 * DAY_MS) return pair(whole(DAY_MS), 'd', rest(HOUR_MS, DAY_MS), 'h');
  if (durationMs < 2 * YEAR_MS) return `${whole(DAY_MS)}d`;
  if (durationMs < 8 * YEAR_MS) return pair(whole(YEAR_MS), 'y', rest(DAY_MS, YEAR_MS), 'd');
  return `${whole(YEAR_MS)}y`;
}

/** `2m30s` → 150,000; nothing where the text is no age. */
export function ageMs(text: string): number | undefined {
  if (!AGE.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([ydhms])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0);
}

/** `2026-11-18 10:02:03`, in the time zone of who looks. */
export function formatTime(timeMs: number): string {
  const date = new Date(timeMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
