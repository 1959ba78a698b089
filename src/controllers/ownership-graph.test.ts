import { expect, test } from 'vitest';
import { ReportBudget } from './owner-events.ts';
import { type Dependent, OwnershipGraph } from './ownership-graph.ts';

const resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', apiVersions: ['v1'], namespaced: true, verbs: [] };
const dependent = (uid: string, owners: string[]): Dependent => ({
  resource,
  namespace: 'default',
  name: uid,
  uid,
  owners: owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: owner })),
  isBeingDeleted: false,
});

test('the graph knows who depends on whom, and forgets it', () => {
  const graph = new OwnershipGraph();
  const dependentsOf = (uid: string): string[] => graph.dependentsOf(uid).map((each) => each.uid);
  expect(graph.put(dependent('a', ['x', 'y']))).toBeUndefined();
  graph.put(dependent('b', ['x', 'x']));
  expect([dependentsOf('x'), dependentsOf('y')]).toEqual([['a', 'b'], ['a']]);
  expect(graph.put(dependent('a', ['y']))?.owners).toHaveLength(2);
  expect([dependentsOf('x'), dependentsOf('y')]).toEqual([['b'], ['a']]);
  graph.put(dependent('a', []));
  graph.remove('b');
  expect([graph.get('a'), graph.get('b'), graph.remove('b')]).toEqual([undefined, undefined, undefined]);
  expect(['x', 'y'].map((uid) => graph.hasDependents(uid))).toEqual([false, false]);
});

test('the graph knows which dependents an owner must wait for', () => {
  const graph = new OwnershipGraph();
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
  graph.put({ ...dependent('a', []), owners: [owner] });
  graph.put({ ...dependent('b', []), owners: [{ ...owner, blockOwnerDeletion: true }, owner] });
  expect(graph.blockingDependentsOf('x').map(({ uid }) => uid)).toEqual(['b']);
  expect([graph.isBlockedBy('x', 'a'), graph.isBlockedBy('x', 'b'), graph.isBlockedBy('y', 'b')]).toEqual([false, true, false]);
  graph.put({ ...dependent('b', []), owners: [owner] });
  expect(graph.blockingDependentsOf('x')).toEqual([]);
});

test('reports are limited, and come again with time', () => {
  const budget = new ReportBudget();
  const taken = (atMs: number): number => Array.from({ length: 100 }, () => budget.take(new Date(atMs))).filter(Boolean).length;
  expect([taken(1_000_000), taken(1_000_000), taken(1_003_000), taken(9_000_000)]).toEqual([25, 0, 3, 25]);
});
