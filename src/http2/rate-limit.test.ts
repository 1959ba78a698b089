import { expect, test } from 'vitest';
import { RateLimit } from './rate-limit.ts';

const allowed = (limit: RateLimit, nowMs: number, count: number): number => Array.from({ length: count }, () => limit.allow(nowMs)).filter(Boolean).length;

test('so many a second are allowed, and in the next second as many again', () => {
  const limit = new RateLimit(10);
  expect(allowed(limit, 5_000, 15)).toBe(10);
  expect(allowed(limit, 5_999, 15)).toBe(0);
  expect(allowed(limit, 6_000, 15)).toBe(10);
});

test('what is expected does not count', () => {
  const limit = new RateLimit(10);
  expect(allowed(limit, 5_000, 10)).toBe(10);
  limit.expect(5);
  expect(allowed(limit, 5_000, 10)).toBe(5);
});
