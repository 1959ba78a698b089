import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { Pending, Steps } from '../../util/pending.ts';
import { type Comparison, compareObjects } from './compare.ts';
import { leavesOf } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import { mergeObjects } from './merge.ts';
import { removeFields } from './remove.ts';
import { extractFields } from './test-extract.ts';
import { reconciled } from './schema-aware-sets.ts';
import { THING } from './test-type.ts';
import { validateApplied } from './validate.ts';

describe('the fields of an object', () => {
  test('are leaves, items, keys, and wholes', () => {
    const object = {
      count: 1,
      items: [{ name: 'x', ports: [{ port: 80 }] }],
      tags: ['b'],
      steps: ['s'],
      selector: { a: 'b' },
      metadata: { labels: { l: '1' } },
      inner: {},
      raw: { a: 1 },
      free: { a: { b: [1] } },
    };
    expect(fieldsOf(THING, object)).toEqual({
      'f:count': {},
      'f:items': { 'k:{"name":"x"}': { '.': {}, 'f:name': {}, 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } },
      'f:tags': { 'v:"b"': {} },
      'f:steps': {},
      'f:selector': {},
      'f:metadata': { 'f:labels': { 'f:l': {} } },
      'f:inner': {},
      'f:raw': {},
      'f:free': { 'f:a': { '.': {}, 'f:b': {} } },
    });
  });

  test('items that share a key are owned together', () => {
    expect(
      fieldsOf(THING, {
        items: [
          { name: 'x', value: '1' },
          { name: 'x', value: '2' },
        ],
      }),
    ).toEqual({ 'f:items': { 'k:{"name":"x"}': {} } });
  });
});

const compare = (before: JsonObject, after: JsonObject): Comparison => compareObjects(THING, before, after);

describe('comparison', () => {
  test('tells added, modified and removed', () => {
    expect(compare({ count: 1, text: 'a', tags: ['x'] }, { count: 2, flag: true, tags: ['y'] })).toEqual({
      added: { 'f:flag': {}, 'f:tags': { 'v:"y"': {} } },
      modified: { 'f:count': {} },
      removed: { 'f:text': {}, 'f:tags': { 'v:"x"': {} } },
    });
  });

  test('what is added whole is owned with all in it', () => {
    expect(compare({}, { inner: { a: '1' }, items: [{ name: 'x' }] }).added).toEqual({
      'f:inner': { '.': {}, 'f:a': {} },
      'f:items': { '.': {}, 'k:{"name":"x"}': { '.': {}, 'f:name': {} } },
    });
  });

  test('long lists are compared as short ones are, though not what they begin and end with', () => {
    const items = Array.from({ length: 150 }, (_, index) => ({ name: `n${index}`, value: 'v' }));
    const shared = { name: 'n3', value: 'w' };
    for (const after of [
      items.toSpliced(70, 1),
      items.toSpliced(70, 1, { name: 'new', value: 'v' }, { name: 'n70', value: 'w' }),
      items.toSpliced(70, 0, shared),
      items.toSpliced(140, 5, shared, shared),
      [...items, { name: 'last', value: 'v' }],
      items.toReversed(),
      items,
    ]) {
      // With something that was sent empty, lists are compared whole.
      const whole = (before: JsonObject, then: JsonObject): Comparison => compareObjects(THING, before, then, new Set([{}]));
      expect(compare({ items }, { items: after })).toEqual(whole({ items }, { items: after }));
      expect(compare({ items: after }, { items })).toEqual(whole({ items: after }, { items }));
    }
    expect(compare({ items }, { items: items.toSpliced(70, 1) }).removed).toEqual({
      'f:items': { 'k:{"name":"n70"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
    });
  });

  test('an empty struct that fills belongs to nobody anew', () => {
    expect(compare({ inner: {} }, { inner: { a: '1' } }).added).toEqual({ 'f:inner': { 'f:a': {} } });
  });

  test('items by key, whatever their order; wholes as wholes', () => {
    const before = { items: [{ name: 'x', value: '1' }, { name: 'y' }], whole: { a: '1' }, steps: ['1', '2'] };
    expect(compare(before, { items: [{ name: 'y' }, { name: 'x', value: '2' }], whole: { a: '2' }, steps: ['2', '1'] }).modified).toEqual({
      'f:items': { 'k:{"name":"x"}': { 'f:value': {} } },
      'f:whole': {},
      'f:steps': {},
    });
  });

  test('items that begin or end to share a key', () => {
    const [one, two] = [{ items: [{ name: 'x', value: '1' }] }, { items: [{ name: 'x', value: '1' }, { name: 'x' }] }];
    expect(compare(one, two)).toMatchObject({
      added: { 'f:items': { 'k:{"name":"x"}': {} } },
      removed: { 'f:items': { 'k:{"name":"x"}': { 'f:value': {} } } },
    });
    expect(compare(two, one)).toMatchObject({ removed: { 'f:items': { 'k:{"name":"x"}': {} } } });
  });

  test('a free value that changes its form', () => {
    expect(compare({ free: 'text' }, { free: { a: 1 } })).toEqual({ added: { 'f:free': { 'f:a': {} } }, modified: { 'f:free': {} }, removed: {} });
  });
});

describe('merging', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['scalars are replaced, others stay', { count: 1, text: 'a' }, { count: 2 }, { count: 2, text: 'a' }],
    ['maps are joined', { metadata: { labels: { a: '1' } } }, { metadata: { labels: { b: '2' } } }, { metadata: { labels: { a: '1', b: '2' } } }],
    ['wholes are replaced', { selector: { a: '1' }, steps: ['1'] }, { selector: { b: '2' }, steps: ['2'] }, { selector: { b: '2' }, steps: ['2'] }],
    [
      'items are merged by key',
      { items: [{ name: 'x', value: '1' }, { name: 'y' }] },
      { items: [{ name: 'z' }, { name: 'x', value: '2' }] },
      { items: [{ name: 'z' }, { name: 'x', value: '2' }, { name: 'y' }] },
    ],
    ['the applied order wins where both have an item', { tags: ['a', 'b', 'c'] }, { tags: ['c', 'a'] }, { tags: ['b', 'c', 'a'] }],
    [
      'null takes a scalar away, and leaves a map as it is',
      { text: 'a', metadata: { labels: { a: '1' } } },
      { text: null, metadata: { labels: null } },
      { text: null, metadata: { labels: { a: '1' } } },
    ],
    [
      'null is kept where nothing was',
      { metadata: { labels: { a: '1' } } },
      { text: null, metadata: { labels: { b: null } } },
      { text: null, metadata: { labels: { a: '1', b: null } } },
    ],
  ])('%s', (_name, live, applied, expected) => {
    expect(mergeObjects(THING, live, applied)).toEqual(expected);
  });
});

describe('removing and extracting', () => {
  const object = { count: 1, items: [{ name: 'x', value: '1' }, { name: 'y' }], metadata: { labels: { a: '1', b: '2' } }, steps: ['s'] };

  test('removes fields, keys and items', () => {
    expect(
      removeFields(THING, object, {
        'f:count': {},
        'f:items': { 'k:{"name":"y"}': {}, 'k:{"name":"x"}': { 'f:value': {} } },
        'f:metadata': { 'f:labels': { 'f:a': {} } },
      }),
    ).toEqual({ items: [{ name: 'x' }], metadata: { labels: { b: '2' } }, steps: ['s'] });
  });

  test('extracting what an object mentions is the object', () => {
    expect(extractFields(THING, object, leavesOf(fieldsOf(THING, object)))).toEqual(object);
  });
});

test('who owned something in what has become a whole owns the whole', () => {
  expect(reconciled({ 'f:selector': { 'f:a': {} }, 'f:steps': { 'i:0': {} }, 'f:inner': { 'f:a': {} } }, THING)).toEqual({
    'f:selector': {},
    'f:steps': {},
    'f:inner': { 'f:a': {} },
  });
});

describe('what may not be applied', () => {
  test.each<[JsonObject, string]>([
    [{ inner: { c: '1' } }, '.inner.c: field not declared in schema'],
    [{ count: 'x' }, '.count: expected numeric (int or float), got string'],
    [{ text: 5 }, '.text: expected string, got &value.valueUnstructured{Value:5}'],
    [{ flag: 'yes' }, '.flag: expected boolean, got &{yes}'],
    [{ items: { a: 1 } }, '.items: expected list, got &{map[a:1]}'],
    [{ items: [{ name: 'x' }, { name: 'x' }] }, '.items: duplicate entries for key [name="x"]'],
    [{ items: ['x'] }, '.items: element 0: associative list with keys may not have non-map elements'],
    [{ tags: [null] }, ".tags: element 0: associative list without keys has an element that's an explicit null"],
    [{ items: [{ name: 'x', ports: [{ port: 1, foo: 1 }] }] }, '.items[name="x"].ports[port=1,protocol="TCP"].foo: field not declared in schema'],
    [{ steps: [{}] }, '.steps[0]: expected string, got &value.valueUnstructured{Value:map[string]interface {}{}}'],
    [{ count: 'x', flag: 1 }, 'errors:\n  .count: expected numeric (int or float), got string\n  .flag: expected boolean, got &{1}'],
  ])('%j', (object, message) => {
    expect(() => validateApplied(THING, object)).toThrow(message);
  });

  /** Long lists and maps, with faults in some places. */
  const large = (fault: Json): JsonObject => ({
    metadata: { labels: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`l${index}`, 'x'])) },
    items: Array.from({ length: 300 }, (_, index) => ({ name: `i${index}`, ports: [{ port: 1 }, { port: 2, ...(index === 200 && { name: fault }) }] })),
    steps: Array.from({ length: 300 }, (_, index) => (index === 250 ? fault : 's')),
    tags: ['a', 'b', ...(fault === '' ? [] : ['a'])],
  });

  test.each([
    ['nothing', ''],
    ['numbers for texts', 5],
  ] as const)('is found in the same order by who is interrupted all the time: %s', (_, fault) => {
    const object = large(fault);
    const messageOf = (steps?: Steps): string => {
      try {
        validateApplied(THING, object, { steps });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const interrupted = new InterruptedSteps();
    expect(messageOf(interrupted)).toBe(messageOf());
    expect(interrupted.pauses).toBeGreaterThan(10);
    expect(messageOf()).toContain(fault === '' ? '' : '.items[name="i200"].ports[port=2,protocol="TCP"].name: expected string');
  });
});

/** Others have their turn whenever they may. */
class InterruptedSteps extends Steps {
  pauses = 0;

  override doResumable<T>(begin: (mayPause: () => void) => () => T): T {
    let mayGoOn = false;
    const resume = begin(() => {
      mayGoOn = !mayGoOn;
      if (!mayGoOn) throw new Pending(Promise.resolve());
    });
    for (;;) {
      try {
        return resume();
      } catch (error) {
        if (!(error instanceof Pending)) throw error;
        this.pauses++;
        mayGoOn = false;
      }
    }
  }
}
