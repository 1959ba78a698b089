import { expect, test } from 'vitest';
import { type ItemForm, RunListBody, sharedRuns } from './list-runs.ts';
import { LooseEntry } from './view.ts';

const PREFIX = '{"kind":"K","apiVersion":"v1",';

const entry = (name: string, sizeBytes: number): LooseEntry =>
  new LooseEntry({ kind: 'K', apiVersion: 'v1', metadata: { name, annotations: { x: 'x'.repeat(sizeBytes) } } });

const form: ItemForm = { name: 'v1 K', bytesOf: ({ bytes }) => bytes, skipOf: ({ typePrefixLength }) => typePrefixLength };
const textOf = (entries: readonly LooseEntry[]): string => `[${entries.map(({ bytes }) => `{${bytes.toString('utf8', PREFIX.length)}`).join(',')}]`;
const sent = (runs: Buffer[] | undefined): string => Buffer.concat([...new RunListBody('[', runs!, ']').chunks()]).toString();
const collection = Array.from({ length: 2000 }, (_, i) => entry(`n${i}`, 1000));

test('the first to ask for a list gets no runs; the next do, and share them', () => {
  expect(sharedRuns(collection, form)).toBeUndefined();
  const runs = sharedRuns(collection, form)!;
  expect(sent(runs)).toBe(textOf(collection));
  expect(new RunListBody('[', runs, ']').sizeBytes).toBe(Buffer.byteLength(textOf(collection)));
  expect(sharedRuns([...collection], form)!.every((run, i) => run === runs[i])).toBe(true);
});

test.each([
  ['one is changed', (list: LooseEntry[]) => list.splice(700, 1, entry('n700', 500))],
  ['one is added in the middle', (list: LooseEntry[]) => list.splice(900, 0, entry('n899a', 10))],
  ['the first of a run goes', (list: LooseEntry[]) => list.splice(1, 1)],
  ['one is added at the end', (list: LooseEntry[]) => list.push(entry('z', 10))],
  ['one is longer than a run', (list: LooseEntry[]) => list.splice(5, 0, entry('n4a', 600_000))],
])('after %s the list is right, and most of it is not made again', (_, change) => {
  sharedRuns(collection, form);
  const before = new Set(sharedRuns(collection, form));
  const after = [...collection];
  change(after);
  const runs = sharedRuns(after, form)!;
  expect(sent(runs)).toBe(textOf(after));
  expect(runs.filter((run) => !before.has(run)).length).toBeLessThanOrEqual(3);
});

test('another form of the same entries is another list', () => {
  sharedRuns(collection, form);
  sharedRuns(collection, form);
  const whole: ItemForm = { ...form, name: 'whole', skipOf: () => 0 };
  expect(sent(sharedRuns(collection, whole))).toBe(`[${collection.map(({ bytes }) => bytes.toString()).join(',')}]`);
});
