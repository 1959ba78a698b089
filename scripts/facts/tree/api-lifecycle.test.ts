import { expect, test } from 'vitest';
import { printGateHistory, printLifecycles } from '../version-tables.ts';
import { apiLifecycle } from './api-lifecycle.ts';
import { testTree } from './test-tree.ts';

const method = (kind: string, what: string, minor: number): string =>
  `func (in *${kind}) APILifecycle${what}() (major, minor int) {\n\treturn 1, ${minor}\n}\n`;

const tree = testTree({
  'staging/src/k8s.io/api/boats/v1beta1/register.go': 'package v1beta1\nconst GroupName = "boats.k8s.io"\n',
  'staging/src/k8s.io/api/boats/v1beta1/zz_generated.prerelease-lifecycle.go': `package v1beta1\n${method('Boat', 'Introduced', 34)}${method('Boat', 'Deprecated', 37)}${method('Boat', 'Removed', 40)}${method('BoatList', 'Introduced', 34)}`,
  'staging/src/k8s.io/kube-aggregator/pkg/apis/oars/register.go': 'package oars\nconst GroupName = "oars.k8s.io"\n',
  'staging/src/k8s.io/kube-aggregator/pkg/apis/oars/v1/zz_generated.prerelease-lifecycle.go': `package v1\n${method('Oar', 'Removed', 35)}`,
});

test('when kinds came and go', () => {
  expect(apiLifecycle(tree)).toEqual({
    'boats.k8s.io/v1beta1 Boat': { introduced: '1.34', deprecated: '1.37', removed: '1.40' },
    'oars.k8s.io/v1 Oar': { removed: '1.35' },
  });
});

test('the table has what differs between the versions that can be emulated', () => {
  const lines = (text: string): string[] =>
    text
      .slice(text.indexOf('`') + 1, text.lastIndexOf('`'))
      .trim()
      .split('\n');
  expect(lines(printLifecycles(apiLifecycle(tree), 'v1.36.4'))).toEqual(['boats.k8s.io/v1beta1 Boat introduced=1.34', 'oars.k8s.io/v1 Oar removed=1.35']);
  const history = {
    Always: [{ since: '1.20', stage: 'GA', default: true, locked: true }],
    Grown: [
      { since: '1.20', stage: 'ALPHA', default: false },
      { since: '1.30', stage: 'BETA', default: true },
      { since: '1.35', stage: 'GA', default: true, locked: true },
      { since: '1.37', stage: 'GA', default: false },
    ],
    New: [{ since: '1.36', stage: 'BETA', default: true, minCompatibility: '1.36' }],
  } as const;
  expect(lines(printGateHistory(history, 'v1.36.4'))).toEqual(['Grown: 1.30 beta on, 1.35 GA on locked', 'New: 1.36 beta on min=1.36']);
});
