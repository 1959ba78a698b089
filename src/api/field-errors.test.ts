import { expect, test } from 'vitest';
import { FieldErrors, TooManyFieldErrors } from './field-errors.ts';
import { quote } from '../util/go-quote.ts';

test.each([
  ['plain', '"plain"'],
  ['a"b\\c\n\u0000\u007f', String.raw`"a\"b\\c\n\x00\x7f"`],
  ['é😀', '"é😀"'],
  ['\u00a0\u200b', String.raw`"\u00a0\u200b"`],
])('quotes %j as Go does', (text, quoted) => {
  expect(quote(text)).toBe(quoted);
});

test('an object that is wrong everywhere is not looked at to its end', () => {
  const errors = new FieldErrors();
  const items = errors.at('items');
  expect(() => {
    for (let index = 0; ; index++) items.index(index).required();
  }).toThrow(TooManyFieldErrors);
  expect(errors.list).toHaveLength(1000);
});
