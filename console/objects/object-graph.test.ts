import { describe, expect, test } from 'vitest';
import { layoutGraph } from './graph-layout.ts';
import { missingRule } from './missing-rule.ts';
import { type GraphNode, allDependents } from './object-graph.ts';

const node = (uid: string, kind = 'Pod'): GraphNode => ({
  uid,
  kind,
  name: uid,
  namespace: 'shop',
  path: `/x/${uid}`,
  finalizers: [],
  isDeleting: false,
});

describe('a graph', () => {
  const dependents = new Map([
    ['deployment', [node('set', 'ReplicaSet')]],
    ['set', [node('a'), node('b'), node('c')]],
    // Owners that own each other do not send anybody round in circles.
    ['c', [node('deployment', 'Deployment')]],
  ]);
  const graph = { self: node('deployment', 'Deployment'), owners: [[node('app', 'App')]], dependents, unseen: [] };

  test('has every dependent once', () => {
    expect(allDependents(graph).map(({ uid }) => uid)).toEqual(['set', 'a', 'b', 'c']);
  });

  test('is laid out with owners to the left and no two in one place', () => {
    const { nodes, edges } = layoutGraph(graph);
    const x = (uid: string): number => nodes.find((placed) => placed.node.uid === uid)!.x;
    expect(x('app')).toBeLessThan(x('deployment'));
    expect(x('deployment')).toBeLessThan(x('set'));
    expect(x('set')).toBeLessThan(x('a'));
    expect(new Set(nodes.map(({ x: left, y }) => `${left}/${y}`)).size).toBe(nodes.length);
    expect(edges).toHaveLength(5);
  });

  test('shows many of a kind as one', () => {
    const many = new Map([['deployment', Array.from({ length: 50 }, (_, index) => node(`p${index}`))]]);
    expect(layoutGraph({ ...graph, owners: [], dependents: many }).nodes.map(({ count }) => count)).toEqual([1, 50]);
  });
});

describe('the rule that a refused request lacks', () => {
  test.each([
    ['GET', '/api/v1/namespaces/shop/pods', true, { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }],
    ['GET', '/apis/apps/v1/namespaces/shop/deployments/web', false, { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] }],
    ['DELETE', '/api/v1/nodes/n1', false, { apiGroups: [''], resources: ['nodes'], verbs: ['delete'] }],
    ['GET', '/console/activity', false, { nonResourceURLs: ['/console/activity'], verbs: ['get'] }],
  ])('%s %s', (method, path, isWatched, rule) => {
    expect(missingRule({ method, path }, 'jane', isWatched).rule).toEqual(rule);
  });

  test('is given in the namespace, or in all of the cluster', () => {
    expect(missingRule({ method: 'GET', path: '/api/v1/namespaces/shop/pods/web' }, 'jane').commands).toEqual([
      'kubectl create role console-user --verb get --resource pods -n shop',
      'kubectl create rolebinding console-user --role console-user --user jane -n shop',
    ]);
    expect(missingRule({ method: 'POST', path: '/apis/apps/v1/deployments' }, 'jane').commands[0]).toBe(
      'kubectl create clusterrole console-user --verb create --resource deployments.apps',
    );
  });
});
