import { describe, expect, test } from 'vitest';
import { addQuantities, canonicalQuantity, compareQuantities, formatQuantity, parseQuantity, quantityAt, subtractQuantities } from './quantity.ts';

describe('canonical text', () => {
  test.each([
    ['0', '0'],
    ['0Ki', '0'],
    ['1', '1'],
    ['-1', '-1'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0.5', '500m'],
    ['1.5', '1500m'],
    ['1.500', '1.500'],
    ['.001', '1m'],
    ['1.', '1.'],
    ['1.G', '1.G'],
    ['1000M', '1G'],
    ['12345', '12345'],
    ['10000', '10k'],
    ['50000', '50k'],
    ['1Ki', '1Ki'],
    ['1024Mi', '1Gi'],
    ['1500Mi', '1500Mi'],
    ['8Ki', '8Ki'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['.001Ki', '1024m'],
    ['.000000000001Ki', '2n'],
    ['100.035Ki', '102435840m'],
    ['9Ei', '9223372036854775807'],
    ['9223372036854775807Ki', '9223372036854775807'],
    ['-9Ei', '-9223372036854775807'],
    ['12E', '12E'],
    ['1000E', '1000E'],
    ['3.001n', '4n'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['1.2e3', '1200'],
    ['1.3E+6', '1300e3'],
    ['1e1000', '10e999'],
    ['1e-1000000', '1e-9'],
    ['05Gi', '05Gi'],
    ['-', '0'],
    ['.', '0'],
  ])('%s is %s', (text, canonical) => {
    expect(formatQuantity(parseQuantity(text))).toBe(canonical);
    expect(canonicalQuantity(text)).toBe(canonical);
  });
});

describe('errors', () => {
  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  test.each([
    ['', format],
    ['one', format],
    ['1.1.1', format],
    ['1 Gi', format],
    ['1kk', "unable to parse quantity's suffix"],
    ['1Mi5', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
    ['9'.repeat(100_000), 'unable to parse numeric part of quantity'],
  ])('of %s', (text, message) => expect(() => parseQuantity(text)).toThrow(message));
});

describe('arithmetic', () => {
  const of = parseQuantity;
  test('compares across formats and sizes', () => {
    expect(compareQuantities(of('1Gi'), of('1G'))).toBe(1);
    expect(compareQuantities(of('1000m'), of('1'))).toBe(0);
    expect(compareQuantities(of('-1'), of('1n'))).toBeLessThan(0);
    expect(compareQuantities(of('1e999999999'), of('9e999999998'))).toBe(1);
    expect(compareQuantities(of('-1e999999999'), of('-2'))).toBe(-1);
    expect(compareQuantities(of('0'), of('0Mi'))).toBe(0);
  });
  test('adds and subtracts', () => {
    expect(formatQuantity(addQuantities(of('100m'), of('1')))).toBe('1100m');
    expect(formatQuantity(addQuantities(of('0'), of('1Gi')))).toBe('1Gi');
    expect(formatQuantity(addQuantities(of('1Gi'), of('512Mi')))).toBe('1536Mi');
    expect(formatQuantity(subtractQuantities(of('1'), of('1m')))).toBe('999m');
    expect(formatQuantity(addQuantities(of('1e999999999'), of('1')))).toBe('1e999999999');
  });
  test('reads off units', () => {
    expect(quantityAt(of('1001m'), 0)).toBe(2n);
    expect(quantityAt(of('1001m'), -3)).toBe(1001n);
    expect(quantityAt(of('-1.5'), 0)).toBe(-2n);
    expect(quantityAt(of('1e30'), 0)).toBe(9223372036854775807n);
  });
});

test.each(['0'.repeat(1_000_000), '1'.repeat(1_000_000), `0.${'0'.repeat(1_000_000)}`, 'e'.repeat(1_000_000), `1e${'0'.repeat(1_000_000)}`])(
  'reads no text for long',
  (text) => {
    const startMs = performance.now();
    expect(() => parseQuantity(`${text}!`)).toThrow(/quantities must match/);
    expect(performance.now() - startMs).toBeLessThan(1000);
  },
);
