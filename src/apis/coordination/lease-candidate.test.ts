import { expect, test } from 'vitest';
import { created, updated } from '../testing/kind-tester.ts';
import { leaseCandidates } from './lease-candidate.ts';

const good = { leaseName: 'l', binaryVersion: '1.36.0', emulationVersion: '1.35.0', strategy: 'OldestEmulationVersion' };
const problemsOf = (spec: object): string[] => created(leaseCandidates, { metadata: { name: 'c' }, spec }).problems;

test.each<[object, string[]]>([
  [good, []],
  [{ ...good, strategy: 'example.com/mine', emulationVersion: '' }, []],
  [{}, ['spec.leaseName: Required value', 'spec.binaryVersion: Required value', 'spec.strategy: Required value']],
  [{ ...good, binaryVersion: '1.34.9' }, ['spec.binaryVersion: Invalid value: "1.34.9": must be greater than or equal to `emulationVersion`']],
  [
    { ...good, emulationVersion: '1.35' },
    [
      'spec.emulationVersion: Invalid value: "1.35": must be a valid semantic version',
      "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
    ],
  ],
  [{ ...good, strategy: 'Mine' }, ['spec.strategy.strategy: Unsupported value: "Mine": supported values: "OldestEmulationVersion"']],
])('%j', (spec, problems) => expect(problemsOf(spec)).toEqual(problems));

test('stays a candidate for its lease', () => {
  const { object } = created(leaseCandidates, { metadata: { name: 'c' }, spec: good });
  const { problems } = updated(leaseCandidates, object, (next) => (next.spec.leaseName = 'm'));
  expect(problems).toEqual(['spec.leaseName: Invalid value: "m": field is immutable']);
});
