import { describe, expect, test } from 'vitest';
import type { Json } from '../../encoding/json-types.ts';
import { isUnchanged, oldField, oldItem } from './correlation.ts';
import type { JsonSchema } from './json-schema.ts';

const TEXT: JsonSchema = { type: 'string' };
const ITEM: JsonSchema = { type: 'object', properties: { a: TEXT, b: { type: 'integer' }, n: { type: 'integer' } } };
const MAP: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'], items: ITEM };
const LIST: JsonSchema = { type: 'array', items: ITEM };

test('an item is known by its keys, wherever it stood; the first of several', () => {
  const old = { schema: MAP, value: [{ a: '1', b: 1, n: 1 }, { a: '2', b: 1, n: 2 }, { a: '2', b: 1, n: 3 }, { a: '3' }] };
  expect(oldItem(old, { a: '2', b: 1, n: 5 })).toEqual({ value: { a: '2', b: 1, n: 2 }, schema: ITEM });
  expect(oldItem(old, { a: '3' })).toBeUndefined();
  expect(oldItem({ schema: LIST, value: old.value }, { a: '1', b: 1 })).toBeUndefined();
});

test('a field is known where its schema is', () => {
  const value = { a: 'x', z: 'y' };
  expect(oldField({ schema: ITEM, value }, 'a')).toEqual({ value: 'x', schema: TEXT });
  expect(oldField({ schema: ITEM, value }, 'z')).toBeUndefined();
  expect(oldField({ schema: { type: 'object', additionalProperties: TEXT }, value }, 'z')).toEqual({ value: 'y', schema: TEXT });
  expect(oldField({ schema: { type: 'object', additionalProperties: true }, value }, 'z')).toBeUndefined();
});

describe('a value is unchanged', () => {
  test.each<[JsonSchema, Json, Json, boolean]>([
    [TEXT, 'a', 'a', true],
    [TEXT, null, null, true],
    [LIST, [{ a: '1' }], [{ a: '1' }], true],
    [LIST, [{ a: '1' }, { a: '2' }], [{ a: '2' }, { a: '1' }], false],
    // By their keys, items of a map are the same in any order.
    [
      MAP,
      [
        { a: '1', b: 1 },
        { a: '2', b: 1 },
      ],
      [
        { a: '2', b: 1 },
        { a: '1', b: 1 },
      ],
      true,
    ],
    [MAP, [{ a: '1' }], [{ a: '1' }], false],
    [MAP, [], [], true],
    [ITEM, { a: '1' }, { a: '1' }, true],
    [ITEM, { a: '1', z: 1 }, { a: '1', z: 1 }, false],
    [ITEM, { a: '1' }, { a: '1', b: 1 }, false],
  ])('by %j, from %j to %j: %s', (schema, before, now, expected) => {
    expect(isUnchanged(now, { value: before, schema })).toBe(expected);
  });
});
