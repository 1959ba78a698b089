import { expect, test } from 'vitest';
import { effectiveFormat, hasFormat } from './formats.ts';

test.each([
  ['date-time', '2026-01-01T00:00:00Z', true],
  ['date-time', '2026-01-01t23:59:59.123+01:00', true],
  ['date-time', '2026-01-01T24:00:00Z', false],
  ['date-time', 'soon', false],
  ['date', '2024-02-29', true],
  ['date', '2023-02-29', false],
  ['ipv4', '1.2.3.4', true],
  ['ipv4', '1.2.3', false],
  ['ipv6', '::1', true],
  ['cidr', '10.0.0.0/8', true],
  ['cidr', '10.0.0.0', false],
  ['uuid', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', true],
  ['uuid4', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', false],
  ['hostname', 'example.com', true],
  ['hostname', 'exam ple', false],
  ['email', 'a@example.com', true],
  ['email', 'a', false],
  ['uri', 'https://example.com/a', true],
  ['uri', 'example', false],
  ['mac', '00:00:5e:00:53:01', true],
  ['byte', 'YWJj', true],
  ['byte', 'a', false],
  ['byte', '', false],
  ['byte', 'YW==', true],
  ['byte', 'YWJj\n', false],
  ['byte', 'YQ=a', false],
  ['duration', '1h30m', true],
  ['duration', '2 weeks', true],
  ['duration', 'later', false],
  ['isbn10', '0-306-40615-2', true],
  ['isbn13', '978-0-306-40615-7', true],
  ['creditcard', '4111 1111 1111 1111', true],
  ['hexcolor', '#fff', true],
  ['rgbcolor', 'rgb(1,2,300)', false],
  ['k8s-short-name', 'a-b', true],
  ['k8s-short-name', 'a.b', false],
  ['k8s-long-name', 'a.b', true],
  ['bsonobjectid', '507f1f77bcf86cd799439011', true],
])('%s of %s: %s', (format, text, expected) => {
  expect(hasFormat(format, text)).toBe(expected);
});

test('formats that nothing is compiled by are none', () => {
  expect(effectiveFormat('string', 'datetime')).toBe('datetime');
  expect(effectiveFormat('string', 'int32')).toBeUndefined();
  expect(effectiveFormat('integer', 'int32')).toBe('int32');
  expect(effectiveFormat('object', 'date')).toBeUndefined();
  expect(effectiveFormat('string', 'constructor')).toBeUndefined();
});
