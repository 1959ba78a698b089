import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { Random } from '../../util/test-random.ts';
import { NO_MANAGERS, encodeManager, encodeManagers } from './managers.ts';
import { ownerOfNew, ownersAfterUpdate } from './own.ts';
import { shapeOf } from './shape.ts';
import { ONE_VERSION, THING, thing, tidy } from './test-type.ts';

const NOTHING = tidy({});
const WRITER = { name: 'w', apiVersion: 'v1', subresource: '', time: '2026-01-01T00:00:00Z' };

/** Values of each field that differ in shape, in value alone, or only in where a text ends. */
const CHOICES: Record<string, readonly Json[]> = {
  metadata: [
    {},
    { name: 'a' },
    { name: 'b', labels: { a: '1' } },
    { labels: { a: '2', b: '' } },
    { labels: { 'a,f:b': 'x' } },
    { labels: { a: 'x', 'f:b': 'x' } },
  ],
  count: [0, 1, 2],
  items: [
    [{ name: 'x' }],
    [{ name: 'x', value: '1' }],
    [{ name: 'x' }, { name: 'y' }],
    [{ name: 'x' }, { name: 'x' }],
    [{ name: 'x', ports: [{ port: 1 }] }],
    [{ name: 'x', ports: [{ port: 1, protocol: 'UDP' }] }],
    [{ name: 'x', ports: [{ port: 1 }, { port: 11 }] }],
    [{ name: 'x]', ports: [{ port: 11 }, { port: 1 }] }],
  ],
  tags: [['s'], ['t'], ['s', 't'], ['s,1"t']],
  steps: [['1'], ['2', '3']],
  selector: [{ a: '1' }, { b: '1' }],
  whole: [{ a: '1' }, { b: '1' }],
  inner: [{}, { a: '1' }, { b: '1' }, { a: '1', b: '2' }],
  raw: [{ a: 1 }, [1], 'x'],
  free: [{ a: 1 }, { a: { b: 1 } }, { a: {} }, {}, [1], 'x', null],
};

function randomThing(seed: number): JsonObject {
  const random = new Random(seed);
  const object: JsonObject = {};
  for (const [name, values] of Object.entries(CHOICES)) if (random.below(3) > 0) object[name] = random.pick(values);
  return tidy(object);
}

describe('shapes', () => {
  test('what a creator owns is the same by shape as by comparison', () => {
    for (let seed = 1; seed <= 20_000; seed++) {
      const created = thing(randomThing(seed));
      const owner = ownerOfNew(ONE_VERSION, thing(NOTHING), created, WRITER);
      const compared = encodeManagers(ownersAfterUpdate(ONE_VERSION, thing(NOTHING), created, NO_MANAGERS, WRITER));
      expect(owner && [encodeManager(owner)], `of seed ${seed}`).toEqual(compared);
    }
  });

  test('values do not count, but where something stood before', () => {
    const shape = (value: JsonObject, before: JsonObject = {}): string => shapeOf(THING, before, value);
    expect(shape({ text: 'a', count: 1 })).toBe(shape({ text: 'b', count: 2 }));
    expect(shape({ text: 'a' }, { text: 'a' })).not.toBe(shape({ text: 'b' }, { text: 'a' }));
  });

  test('an item without a name is refused', () => {
    expect(() => shapeOf(THING, undefined, { tags: [null] })).toThrow('explicit null');
  });
});
