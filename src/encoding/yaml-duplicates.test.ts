import { expect, test } from 'vitest';
import { repeatedKeys } from './yaml-duplicates.ts';

test('a key is told of after what its value holds', async () => {
  expect(await repeatedKeys('a:\n  b: 1\n  b: 2\nc: 1\na:\n- d: 1\n  d: 2\n')).toEqual([
    { line: 3, key: '"b"' },
    { line: 7, key: '"d"' },
    { line: 5, key: '"a"' },
  ]);
});

test('no more than anybody reads, and nothing that would take long', async () => {
  expect(await repeatedKeys(`{${'"a":1,'.repeat(1000)}"a":1}`)).toHaveLength(100);
  await expect(repeatedKeys(`{${'"a":1,'.repeat(100_000)}"a":1}`)).rejects.toThrow('Request entity too large');
});

test('lines are those of the text', async () => {
  expect((await repeatedKeys(`a: 1\n${'a: 1\n\n'.repeat(30)}`)).map(({ line }) => line)).toEqual(Array.from({ length: 30 }, (_, index) => 2 + 2 * index));
});

test('lines are found once, however many keys are repeated', async () => {
  const text = `x: |\n${' y\n'.repeat(40_000)}${'a: 1\n'.repeat(1_000)}`;
  const startedAtMs = performance.now();
  const found = await repeatedKeys(text);
  expect([found.length, found[0], found.at(-1)]).toEqual([100, { line: 40_003, key: '"a"' }, { line: 40_102, key: '"a"' }]);
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
});

test.each([
  ['y: 1\nY: 2', ['true']],
  ['yes: 1\non: 2\nno: 3\noff: 4', ['true', 'false']],
  ['1: 1\n"1": 2', []],
  ['1: 1\n01: 2\n0x1: 3\n1.0: 4', ['1', '1']],
  ['1.0: 1\n1e0: 2', ['1']],
  ['1e6: 1\n1000000.0: 2', ['1e+06']],
  ['.inf: 1\n.Inf: 2\n.nan: 3\n.NaN: 4', ['+Inf']],
])('%j: keys are compared as Go compares them', async (text, keys) => {
  expect((await repeatedKeys(text)).map(({ key }) => key)).toEqual(keys);
});
