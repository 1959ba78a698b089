import { expect, test } from 'vitest';
import { created, updated } from '../testing/kind-tester.ts';
import { podDisruptionBudgets } from './pod-disruption-budget.ts';

const budget = (spec: object): object => ({ metadata: { name: 'web', namespace: 'default' }, spec });

test.each([
  [{ minAvailable: 1, selector: { matchLabels: { a: 'b' } } }, []],
  [
    { minAvailable: 1, maxUnavailable: '10%' },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"10%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  [{ minAvailable: -1 }, ['spec.minAvailable: Invalid value: -1: must be greater than or equal to 0']],
  [{ maxUnavailable: '101%' }, ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%']],
  [
    { unhealthyPodEvictionPolicy: 'Never' },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
  [
    {
      selector: {
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'Exists', values: ['x'] },
        ],
      },
    },
    [
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ],
])('%j is checked', (spec, problems) => {
  expect(created(podDisruptionBudgets, budget(spec)).problems).toEqual(problems);
});

test('the label of former empty selectors stands alone', () => {
  const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
  const alone = { matchExpressions: [{ key, operator: 'Exists' }] };
  expect(created(podDisruptionBudgets, budget({ selector: alone })).object.spec.selector).toEqual(alone);
  expect(created(podDisruptionBudgets, budget({ selector: { ...alone, matchLabels: { a: 'b' } } })).object.spec.selector).toEqual({
    matchLabels: { a: 'b' },
    matchExpressions: [],
  });
});

test('a status has counts', () => {
  const { object } = created(podDisruptionBudgets, budget({ minAvailable: 1 }));
  expect(updated(podDisruptionBudgets, object, ({ status }) => void (status.expectedPods = -1), 'status').problems).toEqual([
    'status.expectedPods: Invalid value: -1: must be greater than or equal to 0',
  ]);
});
