import { expect, test } from 'vitest';
import { parseJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { Random } from '../util/test-random.ts';
import { deltaOf, pathText, valueAt, withDelta } from './object-delta.ts';

test('the outermost fields that are wholly other are told, and lists of one length by their items', () => {
  const before = { spec: { replicas: 1, containers: [{ image: 'a:1', args: ['x'] }] }, gone: true };
  const after = { spec: { replicas: 2, containers: [{ image: 'a:2', args: ['x', 'y'] }] }, added: {} };
  expect(deltaOf(before, after)).toEqual([
    [['gone']],
    [['spec', 'replicas'], 2],
    [['spec', 'containers', 0, 'image'], 'a:2'],
    [
      ['spec', 'containers', 0, 'args'],
      ['x', 'y'],
    ],
    [['added'], {}],
  ]);
});

test('the version before is not written to, and keys of prototypes are data', () => {
  const before = parseJson('{"__proto__":{"a":1},"list":[1,2]}');
  const after = parseJson('{"__proto__":{"a":2},"list":[1,3],"constructor":null}');
  const next = withDelta(before, deltaOf(before, after));
  expect(JSON.stringify(next)).toBe(JSON.stringify(after));
  expect(JSON.stringify(before)).toBe('{"__proto__":{"a":1},"list":[1,2]}');
  expect(({} as Record<string, unknown>)['a']).toBeUndefined();
});

test('random versions come out of the version before and what changed', () => {
  const random = new Random(7);
  for (let round = 0; round < 500; round++) {
    const [before, after] = [randomObject(random, 3), randomObject(random, 3)];
    expect(withDelta(before, deltaOf(before, after))).toEqual(after);
    expect(deltaOf(after, structuredClone(after))).toEqual([]);
  }
});

test('a delta that does not fit is an error, not another object', () => {
  expect(() => withDelta({ a: 1 }, [[['a', 'b', 'c'], 1]])).toThrow('a delta names ["a","b","c"], which is not there');
  expect(() => withDelta({ a: [] }, [[['a', 3], 1]])).toThrow('which is not there');
});

test('paths are written as people write them', () => {
  expect(pathText(['spec', 'containers', 0, 'image'])).toBe('spec.containers[0].image');
  expect(pathText(['metadata', 'labels', 'app.kubernetes.io/name'])).toBe('metadata.labels["app.kubernetes.io/name"]');
  expect(valueAt({ a: [{ b: 1 }] }, ['a', 0, 'b'])).toBe(1);
  expect(valueAt({ a: [] }, ['a', 0, 'b'])).toBeUndefined();
});

function randomObject(random: Random, depth: number): JsonObject {
  const keys = ['a', 'b', 'c', '__proto__'].filter(() => random.chance(0.6));
  return parseJson(JSON.stringify(Object.fromEntries(keys.map((key) => [key, randomValue(random, depth)])))) as JsonObject;
}

function randomValue(random: Random, depth: number): Json {
  const kind = random.below(depth === 0 ? 3 : 5);
  if (kind === 0) return random.below(3);
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return null;
  if (kind === 3) return Array.from({ length: random.below(3) }, () => randomValue(random, depth - 1));
  return randomObject(random, depth - 1);
}
