import { describe, expect, test } from 'vitest';
import { canonicalMicroTime, canonicalTime, microTimeOf, timeOf } from './time.ts';

describe('times', () => {
  test.each([
    ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05Z'],
    ['2020-01-02T03:04:05.999999999Z', '2020-01-02T03:04:05Z'],
    ['2020-01-02T03:04:05+02:00', '2020-01-02T01:04:05Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['9999-12-31T23:59:59-01:00', '10000-01-01T00:59:59Z'],
    ['0000-01-01T00:00:00+01:00', '-0001-12-31T23:00:00Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
  ])('%s is kept as %s', (text, kept) => expect(canonicalTime(text)).toBe(kept));

  const layout = '"2006-01-02T15:04:05Z07:00"';
  test.each([
    ['', `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    ['a/b/c', `parsing time "a/b/c" as ${layout}: cannot parse "a/b/c" as "2006"`],
    ['2020-13-01T00:00:00Z', 'parsing time "2020-13-01T00:00:00Z": month out of range'],
    ['2021-02-29T00:00:00Z', 'parsing time "2021-02-29T00:00:00Z": day out of range'],
    ['2020-01-01T24:00:00Z', 'parsing time "2020-01-01T24:00:00Z": hour out of range'],
    ['2020-01-01 00:00:00Z', `parsing time "2020-01-01 00:00:00Z" as ${layout}: cannot parse " 00:00:00Z" as "T"`],
    ['2020-01-01T00:00:00', `parsing time "2020-01-01T00:00:00" as ${layout}: cannot parse "" as "Z07:00"`],
    ['2020-01-01T00:00:00Zx', 'parsing time "2020-01-01T00:00:00Zx": extra text: "x"'],
  ])('%j is refused', (text, message) => expect(() => canonicalTime(text)).toThrow(message));

  test('micro times need six digits', () => {
    expect(canonicalMicroTime('2020-01-02T03:04:05.000006+01:00')).toBe('2020-01-02T02:04:05.000006Z');
    for (const text of ['2020-01-02T03:04:05.000006Z', '2024-02-29T23:59:59.999999Z']) expect(canonicalMicroTime(text)).toBe(text);
    expect(canonicalMicroTime('0001-01-01T00:00:00.000000Z')).toBeNull();
    expect(() => canonicalMicroTime('2023-02-29T03:04:05.000006Z')).toThrow('day out of range');
    expect(() => canonicalMicroTime('2020-01-02T03:04:05Z')).toThrow(
      'parsing time "2020-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    );
  });

  test('of a Date', () => {
    expect(timeOf(new Date(1_600_000_000_123))).toBe('2020-09-13T12:26:40Z');
    expect(microTimeOf(new Date(1_600_000_000_123))).toBe('2020-09-13T12:26:40.123000Z');
  });
});
