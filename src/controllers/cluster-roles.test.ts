import { expect, test } from 'vitest';
import type { ClusterRole } from '../apis/facts/types/rbac-v1.ts';
import { FakeClient } from '../client/fake-client.ts';
import { keepAggregatedRoles } from './cluster-roles.ts';

const label = (role: string): string => `example.com/aggregate-to-${role}`;
const role = (name: string, verbs: string[], into: string[]): ClusterRole => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name, labels: Object.fromEntries(into.map((other) => [label(other), 'true'])) },
  rules: verbs.map((verb) => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] })),
});
const aggregate = (name: string, into: string[]): ClusterRole => ({
  ...role(name, [], into),
  rules: null,
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label(name)]: 'true' } }] },
});

test('roles are filled, through each other, and follow their parts', async () => {
  const client = new FakeClient();
  const roles = client.resource<ClusterRole>('rbac.authorization.k8s.io', 'clusterroles');
  for (const each of [aggregate('edit', []), aggregate('view', ['edit']), role('b', ['list', 'get'], ['view']), role('a', ['get', 'watch'], ['view', 'edit'])])
    await roles.create('', each);
  const stop = new AbortController();
  await keepAggregatedRoles(client, { signal: stop.signal, report: (error) => expect.fail(error.message), now: () => new Date() });
  const verbsOf = (name: string): string[] => (roles.informer.get('', name)?.rules ?? []).flatMap(({ verbs }) => verbs ?? []);
  const settled = async (): Promise<void> => {
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
  };
  await settled();
  expect([verbsOf('view'), verbsOf('edit')]).toEqual([
    ['get', 'watch', 'list'],
    ['get', 'watch', 'list'],
  ]);
  await roles.create('', role('c', ['patch'], ['view']));
  await settled();
  expect([verbsOf('view'), verbsOf('edit')]).toEqual([
    ['get', 'watch', 'list', 'patch'],
    ['get', 'watch', 'list', 'patch'],
  ]);
  await roles.delete('', 'b');
  await settled();
  expect(verbsOf('edit')).toEqual(['get', 'watch', 'patch']);
  const writes = client.writes.length;
  stop.abort();
  await roles.delete('', 'c');
  await settled();
  expect(client.writes.length).toBe(writes + 1);
});
