import { expect, test } from 'vitest';
import type { Json } from '../util/json-types.ts';
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
