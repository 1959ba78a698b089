import { expect, test } from 'vitest';
import { cronScheduleError } from './cron-schedule.ts';
import { timeZoneError } from './time-zone.ts';

test.each([
  '* * * * *',
  '*/5 0-23/2 1,15 jan-MAR ?',
  '0 0 1 1 0',
  '@daily',
  '@every 1h30m',
  ' 1 2 3 4 5 ',
  ', , , , ,',
  'TZ=UTC 1 2 3 4 5',
  'CRON_TZ=Asia/Tokyo @hourly',
  '5/15 * * * *',
])('%j is a schedule', (text) => {
  expect(cronScheduleError(text)).toBeUndefined();
});

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['', 'expected exactly 5 fields, found 0: []'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['99999999999999999999 * * * *', 'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range'],
  ['@never', 'unrecognized descriptor: @never'],
  ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
  ['TZ=Nowhere 1 2 3 4 5', 'provided bad location Nowhere: unknown time zone Nowhere'],
  ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
])('%j is none', (text, error) => {
  expect(cronScheduleError(text)).toBe(error);
});

test.each(['UTC', 'Europe/Berlin', 'US/Pacific', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'GMT'])('%s is a time zone', (name) => {
  expect(timeZoneError(name)).toBeUndefined();
});

test.each(['europe/berlin', 'Mars/Olympus', '+01:00', 'Europe/', 'utc'])('%s is none', (name) => {
  expect(timeZoneError(name)).toBe(`unknown time zone ${name}`);
});
