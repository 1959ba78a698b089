import { describe, expect, test } from 'vitest';
import { ageSince, canonicalDuration, formatDuration, humanDuration, parseDuration } from './duration.ts';

describe('durations', () => {
  test.each([
    ['0', '0s'],
    ['1h2m', '1h2m0s'],
    ['60s', '1m0s'],
    ['1.5s', '1.5s'],
    ['-300ms', '-300ms'],
    ['1500us', '1.5ms'],
    ['2µs', '2µs'],
    ['7ns', '7ns'],
    ['100h', '100h0m0s'],
    ['+.5h', '30m0s'],
    ['000000000000000000000000000001.5s', '1.5s'],
    ['1h1h1m1m', '2h2m0s'],
    ['9223372036854775807ns', '2562047h47m16.854775807s'],
  ])('%s is %s', (text, canonical) => expect(canonicalDuration(text)).toBe(canonical));

  test.each([
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['1', 'time: missing unit in duration "1"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['.s', 'time: invalid duration ".s"'],
    ['9999999999h', 'time: invalid duration "9999999999h"'],
    ['99999999999999999999ns', 'time: invalid duration "99999999999999999999ns"'],
    [`${'9'.repeat(1_000_000)}s`, `time: invalid duration "${'9'.repeat(100)}…"`],
    ['1h'.repeat(1_000), `time: invalid duration "${'1h'.repeat(50)}…"`],
  ])('%j is refused', (text, message) => expect(() => canonicalDuration(text)).toThrow(message));

  test('in milliseconds', () => {
    expect(parseDuration('1m0.25s')).toBe(60_250);
    expect(formatDuration(90_500)).toBe('1m30.5s');
    expect(formatDuration(0.001)).toBe('1µs');
  });
});

describe('ages', () => {
  const minute = 60_000;
  const hour = 60 * minute;
  test.each([
    [-5000, '<invalid>'],
    [-1000, '0s'],
    [119_999, '119s'],
    [2 * minute, '2m'],
    [5 * minute + 30_000, '5m30s'],
    [10 * minute, '10m'],
    [179 * minute, '179m'],
    [3 * hour + 10 * minute, '3h10m'],
    [47 * hour, '47h'],
    [52 * hour, '2d4h'],
    [24 * 400 * hour, '400d'],
    [24 * (365 * 3 + 12) * hour, '3y12d'],
    [24 * 365 * 9 * hour, '9y'],
  ])('%d ms is %s', (durationMs, text) => expect(humanDuration(durationMs)).toBe(text));

  test('of nothing is unknown', () => {
    expect(ageSince(undefined, new Date())).toBe('<unknown>');
    expect(ageSince('2020-01-01T00:00:00Z', new Date('2020-01-01T00:00:07Z'))).toBe('7s');
  });
});
