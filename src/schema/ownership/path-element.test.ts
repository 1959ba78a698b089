import { describe, expect, test } from 'vitest';
import { stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { Random } from '../../util/test-random.ts';
import { type PathElement, compareElements, parseElement, sortedElements } from './path-element.ts';

const TEXTS = ['', 'a', 'b', 'ab', 'a"b', 'a\\', 'é', 'z', '\u{1F600}', '\uFF5E', '10', '9', '<', '__proto__', 'name'];
const VALUES: readonly Json[] = [...TEXTS, 0, 1, 9, 10, -1, 1.5, 80, 8080, 1e21, true, false, null, [1], [], {}, { a: 1 }];
const NAMES = ['name', 'port', 'protocol', 'a"b', '1', '10', '__proto__'];

function randomElement(random: Random): PathElement {
  const keys = (): string =>
    [...new Set([random.pick(NAMES), random.pick(NAMES), random.pick(NAMES)])]
      .map((name) => `${stringifyJson(name)}:${stringifyJson(random.pick(VALUES))}`)
      .join();
  const written = [
    () => `f:${random.pick(TEXTS)}`,
    () => `v:${stringifyJson(random.pick(VALUES))}`,
    () => `i:${random.below(200) - 100}`,
    () => `k:{"name":${stringifyJson(random.pick(TEXTS))}}`,
    () => `k:{"containerPort":${random.below(100)},"protocol":"${random.pick(['TCP', 'UDP'])}"}`,
    () => `k:{${keys()}}`,
  ];
  return parseElement(random.pick(written)())!;
}

/** As structured-merge-diff puts it (fieldpath.PathElement.Compare, value.Compare), with nothing remembered and no way shorter. */
function naiveOrder(a: PathElement, b: PathElement): number {
  const rank = (element: PathElement): number => 'fkvi'.indexOf(element[0]!);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  const [left, right] = [a.slice(2), b.slice(2)];
  if (a[0] === 'f') return naiveText(left, right);
  if (a[0] === 'i') return Number(left) - Number(right);
  const [x, y] = [JSON.parse(left) as Json, JSON.parse(right) as Json];
  return a[0] === 'v' ? naiveValue(x, y) : naiveKeys(x as JsonObject, y as JsonObject);
}

function naiveKeys(a: JsonObject, b: JsonObject): number {
  const pairs = (keys: JsonObject): [string, Json][] => Object.entries(keys as Record<string, Json>).toSorted(([x], [y]) => naiveText(x, y));
  const [left, right] = [pairs(a), pairs(b)];
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = naiveText(name, other[0]) || naiveValue(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function naiveValue(a: Json, b: Json): number {
  const rank = (value: Json): number => (value === null ? 4 : ['number', 'string', 'boolean', 'object'].indexOf(typeof value));
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'string') return naiveText(a, b as string);
  return typeof a === 'object' ? naiveText(JSON.stringify(a), JSON.stringify(b)) : Number(a) - Number(b);
}

const naiveText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('the order of elements', () => {
  test('is the naive one, of any two', () => {
    const random = new Random(1);
    for (let i = 0; i < 200_000; i++) {
      const [a, b] = [randomElement(random), randomElement(random)];
      if (Math.sign(compareElements(a, b)) !== Math.sign(naiveOrder(a, b))) expect.fail(`${a} and ${b}`);
    }
  });

  test('is the naive one, of many', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const random = new Random(seed);
      const elements = Array.from({ length: random.below(30) }, () => randomElement(random));
      expect(sortedElements(elements), `of seed ${seed}`).toEqual(elements.toSorted(naiveOrder));
    }
  });

  test('places beyond all numbers have one too', () => {
    const far = parseElement(`i:${'9'.repeat(400)}`)!;
    expect(sortedElements([far, 'i:1'])).toEqual(['i:1', far]);
  });
});
