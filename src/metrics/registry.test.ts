import { expect, test } from 'vitest';
import { DeflatedBlock } from '../encoding/gzip-blocks.ts';
import { type Declarations, counter, gauge, histogram } from './declaration.ts';
import { MetricRegistry } from './registry.ts';
import { EVERY_METRIC } from './selection.ts';
import { formatNumber, textFormat } from './text.ts';

const registryOf = <D extends Declarations>(inventory: D): MetricRegistry<D> => new MetricRegistry(EVERY_METRIC, inventory);

test('a counter and a gauge, families and series in order', () => {
  const registry = registryOf({ z_gauge: gauge('ALPHA', 'Z.'), a_total: counter('STABLE', 'Line\nbreak \\.', ['verb', 'code']) });
  registry.family('z_gauge').with().set(2.5);
  registry.family('a_total').with('b', '2').inc();
  registry.family('a_total').with('a "q"\n', '1').inc(3);
  expect(registry.print()).toBe(`# HELP a_total [STABLE] Line\\nbreak \\\\.
# TYPE a_total counter
a_total{code="1",verb="a \\"q\\"\\n"} 3
a_total{code="2",verb="b"} 1
# HELP z_gauge [ALPHA] Z.
# TYPE z_gauge gauge
z_gauge 2.5
`);
});

test('a histogram counts upwards', () => {
  const registry = registryOf({ h: histogram('ALPHA', 'H.', [0.1, 1, 1e6], ['l']) });
  for (const value of [0.05, 0.1, 0.5, 2, 1e7]) registry.family('h').with('x').observe(value);
  expect(registry.print().split('\n').slice(2)).toEqual([
    'h_bucket{l="x",le="0.1"} 2',
    'h_bucket{l="x",le="1"} 3',
    'h_bucket{l="x",le="1e+06"} 4',
    'h_bucket{l="x",le="+Inf"} 5',
    'h_sum{l="x"} 1.000000265e+07',
    'h_count{l="x"} 5',
    '',
  ]);
});

test('the number of series is bounded (CVE-2020-8552)', () => {
  const registry = registryOf({ c: counter('ALPHA', 'C.', ['a', 'b'], { maxSeries: 3 }) });
  for (let i = 0; i < 1000; i++) registry.family('c').with(`${i}`, 'x').inc();
  expect(registry.print().match(/^c\{/gm)).toHaveLength(4);
  expect(registry.print()).toContain('c{a="unexpected",b="unexpected"} 997\n');
});

test('names of Object.prototype are just label values', () => {
  const registry = registryOf({ c: counter('ALPHA', 'C.', ['a']) });
  registry.family('c').with('__proto__').inc();
  expect(registry.print()).toContain('c{a="__proto__"} 1\n');
});

test('what has no labels is shown from the start, unless it is lazy', () => {
  const registry = registryOf({ a: counter('ALPHA', 'A.'), b: counter('ALPHA', 'B.', [], { isLazy: true }) });
  expect(registry.print()).toBe('# HELP a [ALPHA] A.\n# TYPE a counter\na 0\n');
  registry.family('b').with().inc();
  expect(registry.print()).toContain('\nb 1\n');
});

test('after a reset, a series that somebody keeps is shown once it is counted again', () => {
  const registry = registryOf({ c: counter('ALPHA', 'C.', ['a']), d: counter('ALPHA', 'D.') });
  const kept = registry.family('c').with('x');
  kept.inc(5);
  registry.family('d').with().inc();
  registry.reset();
  expect(registry.print()).toBe('# HELP d [ALPHA] D.\n# TYPE d counter\nd 0\n');
  kept.inc();
  expect(registry.print()).toContain('c{a="x"} 1\n');
});

test('printing takes slices of the time of the thread', async () => {
  const registry = registryOf({ h: histogram('ALPHA', 'H.', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], ['a'], { maxSeries: 20_000 }) });
  for (let i = 0; i < 20_000; i++) registry.family('h').with(`${i}`).observe(i);
  let turns = 0;
  const count = (): unknown => ++turns && setImmediate(count).unref();
  count();
  expect(await registry.printInSlices()).toBe(registry.print());
  expect(turns).toBeGreaterThan(1);
});

const partsOf = async (registry: MetricRegistry<Declarations>): Promise<(Buffer | DeflatedBlock)[]> => {
  const parts = [];
  for await (const part of registry.printParts(textFormat)) parts.push(part);
  return parts;
};

test('of large families, only what changed is printed again', async () => {
  const registry = registryOf({ h: histogram('ALPHA', 'H.', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], ['a']) });
  const family = registry.family('h');
  for (let i = 1000; i < 3000; i++) family.with(`${i}`).observe(i);
  const first = await partsOf(registry);
  expect(await partsOf(registry)).toEqual(first);
  family.with('1500').observe(1);
  family.with('1500a').observe(1);
  family.with('2500').reset();
  const second = await partsOf(registry);
  const blocks = first.filter((part) => part instanceof DeflatedBlock);
  expect(blocks.length).toBeGreaterThan(20);
  expect(blocks.filter((block) => !second.includes(block))).toHaveLength(2);
  expect(await registry.printInSlices()).toBe(registry.print());
  registry.reset();
  expect(await registry.printInSlices()).toBe('');
});

test.each([
  [0, '0'],
  [100, '100'],
  [999999, '999999'],
  [1e6, '1e+06'],
  [1234567, '1.234567e+06'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1.5e21, '1.5e+21'],
  [-3, '-3'],
  [Infinity, '+Inf'],
  [Number.NaN, 'NaN'],
])('%d prints as %s', (value, text) => expect(formatNumber(value)).toBe(text));
