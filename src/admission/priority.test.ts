import { expect, test } from 'vitest';
import type { Pod } from '../apis/facts/types/core-v1.ts';
import { priority } from './priority.ts';
import { type TestEnvironment, admit, environmentWith, testEnvironment, writeOf } from './testing/attributes.ts';

const pod = (spec: object = {}, metadata: object = {}): object => ({ metadata: { name: 'x', namespace: 'n', ...metadata }, spec: { containers: [], ...spec } });

const classes = (): Promise<TestEnvironment> =>
  environmentWith(
    'scheduling.k8s.io',
    'priorityclasses',
    { metadata: { name: 'high' }, value: 9, preemptionPolicy: 'Never' },
    { metadata: { name: 'usual' }, value: 5, globalDefault: true },
  );

test.each([
  [{ priorityClassName: 'high' }, { priorityClassName: 'high', priority: 9, preemptionPolicy: 'Never' }],
  [{}, { priorityClassName: 'usual', priority: 5 }],
])('%j becomes %j', async (spec, expected) => {
  const { containers: _, ...rest } = (await admit<Pod>(priority(await classes()), writeOf('pods', pod(spec)))).spec;
  expect(rest).toEqual(expected);
});

test('is zero where no class is the default', async () => {
  const { spec } = await admit<Pod>(priority(testEnvironment()), writeOf('pods', pod()));
  expect(spec).toEqual({ containers: [], priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
});

test.each([
  [{ priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
  [
    { priority: 7 },
    'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 5 from the given PriorityClass name',
  ],
  [
    { priorityClassName: 'high', preemptionPolicy: 'X' },
    'the string value of PreemptionPolicy (X) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
  ],
])('%j is refused', async (spec, message) => {
  await expect(admit(priority(await classes()), writeOf('pods', pod(spec)))).rejects.toThrow(`pods "x" is forbidden: ${message}`);
});

test('stays on update', async () => {
  const write = writeOf('pods', pod(), { operation: 'UPDATE', oldObject: writeOf('pods', pod({ priority: 3, preemptionPolicy: 'Never' })).object });
  expect((await admit<Pod>(priority(await classes()), write)).spec).toMatchObject({ priority: 3, preemptionPolicy: 'Never' });
});

test('has one default class at most', async () => {
  const plugin = priority(await classes());
  const another = { metadata: { name: 'another' }, value: 1, globalDefault: true };
  const target = 'priorityclasses.scheduling.k8s.io';
  await expect(admit(plugin, writeOf(target, another))).rejects.toThrow(
    'priorityclasses.scheduling.k8s.io "another" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
  );
  await admit(plugin, writeOf(target, { ...another, metadata: { name: 'usual' } }, { operation: 'UPDATE' }));
});
