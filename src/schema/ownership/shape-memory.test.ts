import { describe, expect, test } from 'vitest';
import { setOf } from './field-set.ts';
import { MAX_SHAPES_IN_ALL, ShapeMemory } from './shape-memory.ts';
import { ONE_VERSION } from './test-type.ts';
import type { Versions } from './updater.ts';

const FIELDS = setOf(['f:a']);
const kinds = (count: number): Versions[] => Array.from({ length: count }, () => ({ ...ONE_VERSION }));
const shapes = (count: number): string[] => Array.from({ length: count }, (_, index) => `{${index}}`);

describe('the memory of shapes', () => {
  test('keeps kinds apart', () => {
    const memory = new ShapeMemory();
    const [one, other] = kinds(2) as [Versions, Versions];
    memory.set(one, '{}', FIELDS);
    expect([memory.get(one, '{}'), memory.get(other, '{}'), memory.get(one, '[]')]).toEqual([FIELDS, undefined, undefined]);
  });

  test('is bounded in all, however many kinds there are', () => {
    const memory = new ShapeMemory();
    const many = kinds(10 * MAX_SHAPES_IN_ALL);
    for (const versions of many) {
      memory.set(versions, '{}', FIELDS);
      expect(memory.get(versions, '{}')).toBe(FIELDS);
    }
    expect(many.filter((versions) => memory.get(versions, '{}') !== undefined).length).toBeLessThanOrEqual(MAX_SHAPES_IN_ALL);
  });

  test('a kind of ever new shapes forgets its own, and nobody else’s', () => {
    const memory = new ShapeMemory();
    const [quiet, restless] = kinds(2) as [Versions, Versions];
    memory.set(quiet, '{}', FIELDS);
    const all = shapes(10 * MAX_SHAPES_IN_ALL);
    for (const shape of all) memory.set(restless, shape, FIELDS);
    expect(memory.get(quiet, '{}')).toBe(FIELDS);
    expect(all.filter((shape) => memory.get(restless, shape) !== undefined).length).toBeLessThanOrEqual(64);
  });
});
