import { expect, test } from 'vitest';
import { created, updated } from '../testing/kind-tester.ts';
import { leases } from './lease.ts';

const lease = (spec: object): object => ({ metadata: { name: 'leader', namespace: 'default' }, spec });

test.each([
  [{ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
  [
    { leaseDurationSeconds: 0, leaseTransitions: -1 },
    ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0', 'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
  ],
])('%j', (spec, problems) => {
  expect(created(leases, lease(spec)).problems).toEqual(problems);
});

test('what belongs to coordinated election is dropped, unless it was there', () => {
  const { object } = created(leases, lease({ strategy: 'OldestEmulationVersion', preferredHolder: 'b' }));
  expect(object.spec).toEqual({});
  expect(updated(leases, object, ({ spec }) => void (spec.strategy = 'x')).object.spec).toEqual({});
  const former = { ...object, spec: { strategy: 'OldestEmulationVersion' } };
  expect(updated(leases, former, ({ spec }) => void (spec.strategy = 'x')).problems).toEqual([
    'spec.strategy.strategy: Unsupported value: "x": supported values: "OldestEmulationVersion"',
  ]);
});
