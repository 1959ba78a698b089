import { expect, test } from 'vitest';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { priorityClasses } from './priority-class.ts';

const RESERVED = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";

test.each([
  [{ metadata: { name: 'high' }, value: 1_000_000_000 }, []],
  [{ metadata: { name: 'high' }, value: 1_000_000_001 }, ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000']],
  [
    { metadata: { name: 'high' }, preemptionPolicy: 'Maybe' },
    ['preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"'],
  ],
  [{ metadata: { name: 'high' }, preemptionPolicy: '' }, ['preemptionPolicy: Required value']],
  [{ metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }, []],
  [{ metadata: { name: 'system-node-critical' }, value: 1 }, [`${RESERVED}value of system-node-critical PriorityClass must be 2000001000`]],
  [{ metadata: { name: 'system-mine' }, value: 1 }, [`${RESERVED}system-mine is not a known system priority class`]],
  [
    { metadata: { name: 'high', finalizers: ['mine'] } },
    ['metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'],
  ],
])('%j', (sent, problems) => {
  expect(created(priorityClasses, sent).problems).toEqual(problems);
});

test('value and policy stay; the system keeps its own', () => {
  const { object } = created(priorityClasses, { metadata: { name: 'high' }, value: 5 });
  expect(object).toMatchObject({ preemptionPolicy: 'PreemptLowerPriority', metadata: { generation: 1 } });
  expect(updated(priorityClasses, object, (next) => void Object.assign(next, { value: 6, preemptionPolicy: 'Never' })).problems).toEqual([
    'value: Forbidden: may not be changed in an update.',
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ]);
  expect(priorityClasses.deletion?.refusal?.('system-node-critical')).toBe('this is a system priority class and cannot be deleted');
  expect(priorityClasses.deletion?.refusal?.('high')).toBeUndefined();
  expect(cellsOf(priorityClasses, object)).toMatchObject({ Name: 'high', Value: 5, 'Global-Default': false, PreemptionPolicy: 'PreemptLowerPriority' });
});
