import type { Random } from '../src/util/test-random.ts';

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

const ATOMS: readonly Value[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  2 ** 53,
  '',
  'a',
  '\u0000',
  '\ud83d\ude00',
  '1Gi',
  'x'.repeat(300),
  [],
  {},
  [null],
  { a: null },
];
const KEYS = ['', 'a', 'name', '__proto__', 'constructor', '$patch', 'spec', 'metadata', 'a/b', '~'];
const MAX_CHARACTERS = 64 * 1024;

/** The text of a JSON value like this one, with something in it replaced, repeated, nested or left out; undefined where the text is no JSON. It stays JSON. */
export function mutateJson(random: Random, text: string): string | undefined {
  try {
    let value = JSON.parse(text) as Value;
    for (let count = 1 + random.below(3); count > 0; count--) value = changed(random, value, 8);
    const mutated = JSON.stringify(value);
    return mutated.length > MAX_CHARACTERS ? undefined : mutated;
  } catch {
    return undefined;
  }
}

/** Goes down, as deep as `depth` at most, and changes what it comes to. */
function changed(random: Random, value: Value, depth: number): Value {
  if (Array.isArray(value)) return random.chance(0.25) || value.length === 0 || depth === 0 ? changedList(random, value) : changedIn(random, value, depth);
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value);
    if (random.chance(0.25) || keys.length === 0 || depth === 0) return changedObject(random, value, keys);
    const key = random.pick(keys);
    return { ...value, [key]: changed(random, value[key]!, depth - 1) };
  }
  return changedAtom(random, value);
}

function changedIn(random: Random, list: readonly Value[], depth: number): Value[] {
  const at = random.below(list.length);
  return list.with(at, changed(random, list[at]!, depth - 1));
}

function changedAtom(random: Random, value: Value): Value {
  const way = random.below(5);
  if (way === 0) return [value];
  if (way === 1) return { [random.pick(KEYS)]: value };
  if (way === 2 && typeof value === 'string') return value.repeat(random.below(4));
  if (way === 3 && typeof value === 'number') return value * random.pick([-1, 2, 1e9, 0.1]);
  return random.pick(ATOMS);
}

function changedList(random: Random, list: readonly Value[]): Value {
  const at = random.below(list.length + 1);
  const way = random.below(5);
  if (way === 0) return list.toSpliced(at, 1);
  if (way === 1) return list.toSpliced(at, 0, random.pick(list.length > 0 ? list : ATOMS));
  if (way === 2) return [...list, ...list];
  if (way === 3) return Array.from({ length: Math.min(200, 20 * list.length) }, (_, index) => list[index % list.length]!);
  return random.chance(0.5) ? [[...list]] : random.pick(ATOMS);
}

function changedObject(random: Random, object: { [key: string]: Value }, keys: readonly string[]): Value {
  const key = keys.length > 0 && random.chance(0.5) ? random.pick(keys) : random.pick(KEYS);
  const way = random.below(4);
  if (way === 0) return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
  if (way === 1) return { ...object, [key]: random.pick(ATOMS) };
  if (way === 2) return { ...object, [key]: object[random.pick(keys)] ?? null };
  return random.chance(0.5) ? { [key]: object } : random.pick(ATOMS);
}
