import { describe, expect, test } from 'vitest';
import type { ApiObject } from '../api/api-object.ts';
import type { Json } from '../encoding/json-types.ts';
import { StepBudget } from '../util/step-budget.ts';
import { customColumns } from './columns.ts';
import { compileJsonPath, printFound } from './json-path.ts';

const OBJECT: Json = {
  metadata: { annotations: { 'a.b/c': 'x' } },
  spec: { n: 3, list: ['a', 'b', 'c'], empty: {}, null: null },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', n: 1 },
      { type: 'Synced', status: 'False', n: 2 },
    ],
  },
};

test.each<[string, Json[]]>([
  ['.spec.n', [3]],
  ['.spec.none.deeper', []],
  ['.spec.list[1]', ['b']],
  ['.spec.list[-1]', ['c']],
  ['.spec.list[0:2]', ['a', 'b']],
  ['.spec.list[*]', ['a', 'b', 'c']],
  ['.metadata.annotations.a\\.b/c', ['x']],
  [".metadata.annotations['a.b/c']", ['x']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  ["..conditions[?(@.type=='Synced')].status", ['False']],
  ['.status.conditions[?(@.n>1)].type', ['Synced']],
  ['.status.conditions[?(@.none)].type', []],
  ['$.spec.n', [3]],
  ['.spec.constructor', []],
])('%s finds %j', (path, expected) => {
  expect(compileJsonPath(path)!(OBJECT)).toEqual(expected);
});

test.each(['spec', '.spec[', ".spec['a]", '.spec[a]', '...'])('%s is no path', (path) => {
  expect(compileJsonPath(path)).toBeUndefined();
});

test('what is found is printed', () => {
  expect(printFound(compileJsonPath('.spec.list')!(OBJECT))).toBe('["a","b","c"]');
  expect(printFound(compileJsonPath('.spec.n')!(OBJECT))).toBe('3');
  expect(printFound(compileJsonPath('.spec.null')!(OBJECT))).toBeUndefined();
  expect(printFound([])).toBeUndefined();
});

describe('what a path looks at is bounded', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, { v: index }]));

  test('one that goes through all once finds it', () => {
    expect(compileJsonPath('..v')!(wide)).toHaveLength(5_000);
  });

  test('one that goes through all again and again finds nothing', () => {
    const budget = new StepBudget(100_000);
    expect(compileJsonPath(`${'..*'.repeat(1_000)}`)!(wide, budget)).toEqual([]);
    expect(compileJsonPath('..[?(@..v==1)]..[?(@..v==1)]..[?(@..v==1)]..[?(@..v==1)]')!(wide, budget)).toEqual([]);
    expect(budget.left).toBe(0);
  });

  test('columns of a row share what they look at, rows do not', () => {
    const [, ...cells] = customColumns(Array.from({ length: 50 }, (_, index) => ({ name: `c${index}`, type: 'integer', jsonPath: '..v' })));
    const object = { ...wide, metadata: {} } as unknown as ApiObject;
    const now = new Date();
    const row = (at: Date): number => cells.filter(({ cell }) => cell(object, at) !== null).length;
    expect(row(now)).toBeGreaterThan(1);
    expect(row(now)).toBe(0);
    expect(row(new Date())).toBeGreaterThan(1);
  });

  test('spaces in filters are read once', () => {
    expect(compileJsonPath(`.a[?(@.b${' '.repeat(2_000)}== 'x')]`)!({ a: [{ b: 'x' }, { b: 'y' }] })).toEqual([{ b: 'x' }]);
    expect(compileJsonPath(`.a[?(@.b != 'x=y')]`)!({ a: [{ b: 'x' }, { b: 'x=y' }] })).toEqual([{ b: 'x' }]);
  });
});
