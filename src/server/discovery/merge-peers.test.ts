import { expect, test } from 'vitest';
import { type GroupDiscovery, type ResourceDiscovery, mergePeers } from './merge-peers.ts';

const resource = (name: string, verbs = ['get', 'list'], subresources: string[] = []): ResourceDiscovery => ({
  resource: name,
  verbs,
  ...(subresources.length > 0 && { subresources: subresources.map((subresource) => ({ subresource, verbs: ['get'] })) }),
});

const group = (name: string, versions: Record<string, ResourceDiscovery[]>): GroupDiscovery => ({
  metadata: { name },
  versions: Object.entries(versions).map(([version, resources]) => ({ version, resources, freshness: 'Current' })),
});

const namesOf = (groups: readonly GroupDiscovery[]): string[] =>
  groups.flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources = [] }) => resources.map(({ resource: name }) => `${metadata.name}/${version}/${name}`)),
  );

test('a server without peers shows its own', () => {
  const local = [group('apps', { v1: [resource('deployments')] })];
  expect(mergePeers('a', local, new Map())).toBe(local);
});

test('what only a peer has stands where the peer has it', () => {
  const local = [group('apps', { v1: [resource('deployments')] }), group('batch', { v1: [resource('jobs')] })];
  const peer = [
    group('apps', { v1: [resource('daemonsets'), resource('deployments')] }),
    group('autoscaling', { v2: [resource('hpas')] }),
    group('batch', { v1: [resource('jobs')], v1beta1: [resource('cronjobs')] }),
  ];
  expect(namesOf(mergePeers('a', local, new Map([['b', peer]])))).toEqual([
    'apps/v1/daemonsets',
    'apps/v1/deployments',
    'autoscaling/v2/hpas',
    'batch/v1/jobs',
    'batch/v1beta1/cronjobs',
  ]);
});

test('a resource that servers know differently can do what either can', () => {
  const local = [group('apps', { v1: [resource('deployments', ['list', 'get'], ['status'])] })];
  const peer = [group('apps', { v1: [resource('deployments', ['get', 'watch'], ['scale'])] })];
  const [merged] = mergePeers('b', local, new Map([['a', peer]]));
  expect(merged!.versions[0]!.resources).toEqual([resource('deployments', ['get', 'list', 'watch'], ['scale', 'status'])]);
});

test('the order does not depend on which server is asked', () => {
  const one = [group('z', { v1: [resource('zs')] }), group('b', { v1: [resource('bs')] })];
  const other = [group('z', { v1: [resource('zs')] }), group('a', { v1: [resource('as')] })];
  const merged = mergePeers('one', one, new Map([['two', other]]));
  expect(merged).toEqual(mergePeers('two', other, new Map([['one', one]])));
  expect(namesOf(merged)).toEqual(['z/v1/zs', 'a/v1/as', 'b/v1/bs']);
});
