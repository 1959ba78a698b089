import { expect, test } from 'vitest';
import { LIMITS } from '../util/limits.ts';
import { formatGo, goSyntax } from './go-format.ts';
import type { Json } from './json-types.ts';

const value: Json = { b: [1, 'x', null, 1.5, true, 2n ** 60n], a: {}, 'c"': { d: [] } };

test('%v', () => {
  expect(formatGo(value)).toBe('map[a:map[] b:[1 x <nil> 1.5 true 1152921504606846976] c":map[d:[]]]');
  expect(formatGo(undefined)).toBe('<nil>');
});

test('%#v', () => {
  expect(goSyntax(value)).toBe(
    'map[interface {}]interface {}{"a":map[interface {}]interface {}{}, "b":[]interface {}{1, "x", interface {}(nil), 1.5, true, 1152921504606846976}, "c\\"":map[interface {}]interface {}{"d":[]interface {}{}}}',
  );
  expect(goSyntax({ a: 1 }, 'string')).toBe('map[string]interface {}{"a":1}');
  expect(goSyntax(null)).toBe('<nil>');
});

test.each<[string, Json]>([
  ['a long text', 'x'.repeat(1_000_000)],
  ['a long key', { ['x'.repeat(1_000_000)]: 1 }],
  ['many items', Array.from({ length: 500_000 }, () => 'x')],
  ['many objects', Array.from({ length: 200_000 }, () => ({ a: ['x'] }))],
])('%s is cut', (_, long) => {
  for (const shown of [formatGo(long), goSyntax(long), goSyntax(long, 'string')]) {
    expect(shown).toHaveLength(LIMITS.shownCharacters + 1);
    expect(shown.at(-1)).toBe('…');
  }
});

test('what just fits is not', () => {
  const text = 'x'.repeat(LIMITS.shownCharacters);
  expect(formatGo(text)).toBe(text);
});
