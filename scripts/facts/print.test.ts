import { expect, test } from 'vitest';
import { printJson, printLines } from './print.ts';
import { withoutProse } from './prose.ts';

test('what fits a line stays on one', () => {
  const long = 'x'.repeat(150);
  expect(printJson({ a: { b: [1, 2] }, c: [long, long], d: {}, e: undefined })).toBe(
    `{\n "a": {"b":[1,2]},\n "c": [\n  "${long}",\n  "${long}"\n ],\n "d": {}\n}\n`,
  );
  expect(printJson({ a: { b: 1 } }, 2)).toBe('{\n "a": {\n  "b": 1\n }\n}\n');
});

test('one line an entry', () => {
  expect(printLines({ a: { b: 1 }, c: 2 })).toBe('{\n"a": {"b":1},\n"c": 2\n}\n');
  expect(printLines([{ a: 1 }, 2])).toBe('[\n{"a":1},\n2\n]\n');
  expect(printLines([])).toBe('[]\n');
});

test('descriptions go, fields of that name stay', () => {
  const schema = { description: 'words', properties: { description: { type: 'string', description: 'words' } }, enum: ['description'] };
  expect(withoutProse([schema])).toEqual([{ properties: { description: { type: 'string' } }, enum: ['description'] }]);
});
