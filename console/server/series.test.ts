import { expect, test } from 'vitest';
import { type RequestRecord, shortAgent } from './activity.ts';
import { formatBytes, formatMs, quantile, secondsOf } from './series.ts';

const NOW_MS = Date.UTC(2026, 0, 1, 12, 0, 10);
const record = (secondsAgo: number, code: number, durationMs = 1, extra: Partial<RequestRecord> = {}): RequestRecord => ({
  time: new Date(NOW_MS - secondsAgo * 1_000).toISOString(),
  user: 'u',
  userAgent: 'a',
  sourceIP: '',
  verb: 'get',
  method: 'GET',
  path: '/',
  code,
  durationMs,
  auditID: '',
  isWatch: false,
  isRunning: false,
  ...extra,
});

test('requests are counted by the second in which they ended', () => {
  const records = [
    record(3, 200, 10),
    record(3, 200, 30),
    record(3, 404),
    record(2, 500),
    record(4, 200, 2_000),
    record(90, 200),
    record(3, 200, 0, { isWatch: true, isRunning: true }),
    record(60, 200, 57_000, { isWatch: true }),
  ];
  const seconds = secondsOf(records, NOW_MS, 5);
  expect(seconds.map(({ succeeded, refused, failed }) => [succeeded, refused, failed])).toEqual([
    [0, 0, 0],
    [0, 0, 0],
    [3, 1, 0],
    [1, 0, 1],
    [0, 0, 0],
  ]);
  expect(seconds[2]).toMatchObject({ p50Ms: 10, p99Ms: 30 });
});

test('quantiles', () => {
  expect([quantile([], 0.5), quantile([3, 1, 2], 0.5), quantile([1, 2, 3, 4], 0.99)]).toEqual([0, 2, 4]);
});

test('sizes, times and user agents are short', () => {
  expect([0, 900, 1536, 250 * 2 ** 20, 1.5 * 2 ** 30].map(formatBytes)).toEqual(['0 B', '900 B', '1.5 KiB', '250 MiB', '1.5 GiB']);
  expect([0.42, 12.3, 1_234, 61_000].map(formatMs)).toEqual(['0.4 ms', '12 ms', '1.2 s', '61 s']);
  expect(shortAgent('kubectl/v1.36.4 (linux/amd64) kubernetes/abc')).toBe('kubectl/v1.36.4');
  expect(shortAgent('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36')).toBe('Chrome (console)');
  expect(shortAgent('')).toBe('no user agent');
});
