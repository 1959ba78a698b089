import { expect, test } from 'vitest';
import { parseFieldSelector } from './field-selector.ts';

test('matches by equality and inequality, with escapes', () => {
  const selector = parseFieldSelector('spec.x!=1,metadata.name==a\\,b\\=c');
  expect(selector.requirements).toEqual([
    { field: 'metadata.name', operator: '=', value: 'a,b=c' },
    { field: 'spec.x', operator: '!=', value: '1' },
  ]);
  expect(selector.exactMatch('metadata.name')).toBe('a,b=c');
  expect(selector.exactMatch('spec.x')).toBeUndefined();
  expect(selector.matches((field) => (field === 'spec.x' ? '2' : 'a,b=c'))).toBe(true);
  expect(selector.matches((field) => (field === 'spec.x' ? '1' : 'a,b=c'))).toBe(false);
  expect(selector.toString()).toBe('metadata.name=a\\,b\\=c,spec.x!=1');
  expect(parseFieldSelector(',').isEmpty).toBe(true);
});

test.each([
  ['nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
  ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
])('refuses %s', (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(message);
});

test('has an end', () => {
  expect(() => parseFieldSelector('a!=b,'.repeat(1001))).toThrow('a selector may have at most 1000 requirements');
});

test('empty terms ask for nothing, others have a limit', () => {
  expect(parseFieldSelector(`${','.repeat(100_000)}a=b`).toString()).toBe('a=b');
  expect(() => parseFieldSelector(Array.from({ length: 1_001 }, () => 'a=b').join(','))).toThrow('a selector may have at most 1000 requirements');
});
