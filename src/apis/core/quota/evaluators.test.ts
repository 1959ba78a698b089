import { describe, expect, test } from 'vitest';
import type { ApiObject } from '../../../api/api-object.ts';
import { listOf } from './amounts.ts';
import { createEvaluators } from './evaluators.ts';

const NOW = new Date('2026-01-01T00:01:00Z');
const evaluatorOf = createEvaluators(() => NOW);
const usage = (resource: string, object: object, group = ''): Record<string, string> =>
  listOf(evaluatorOf({ group, resource })!.usage({ metadata: {}, status: {}, ...object } as unknown as ApiObject));
const container = (requests: object, limits: object = {}, more: object = {}): object => ({ name: 'c', resources: { requests, limits }, ...more });

describe('pods', () => {
  test('by all their containers, with what the runtime needs', () => {
    const spec = {
      containers: [container({ cpu: '1', memory: '1Gi', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }, { cpu: '2' })],
      initContainers: [container({ cpu: '3' })],
      overhead: { cpu: '100m', memory: '1Mi' },
    };
    expect(usage('pods', { spec })).toEqual({
      'count/pods': '1',
      pods: '1',
      cpu: '3100m',
      'requests.cpu': '3100m',
      memory: '1025Mi',
      'requests.memory': '1025Mi',
      'requests.example.com/gpu': '2',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'limits.cpu': '2100m',
    });
  });
  test('by what they ask for as a whole', () => {
    const spec = { containers: [container({ cpu: '1' })], resources: { requests: { cpu: '5' }, limits: { memory: '1Gi' } } };
    expect(usage('pods', { spec })).toMatchObject({ 'requests.cpu': '5', 'limits.memory': '1Gi' });
  });
  test('while they are resized, by the most of it', () => {
    const containerStatuses = [{ name: 'c', resources: { requests: { cpu: '3' } }, allocatedResources: { cpu: '2' } }];
    expect(usage('pods', { spec: { containers: [container({ cpu: '1' })] }, status: { containerStatuses } })).toMatchObject({ 'requests.cpu': '3' });
  });
  test('only as objects, once they have ended or should have', () => {
    const spec = { containers: [container({ cpu: '1' })] };
    expect(usage('pods', { spec, status: { phase: 'Succeeded' } })).toEqual({ 'count/pods': '1' });
    const deleted = (deletionTimestamp: string): object => ({ spec, metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30 } });
    expect(usage('pods', deleted('2026-01-01T00:00:20Z'))).toEqual({ 'count/pods': '1' });
    expect(usage('pods', deleted('2026-01-01T00:00:40Z'))).toHaveProperty('pods', '1');
  });
});

test('services', () => {
  const ports = [{ port: 1, nodePort: 30000 }, { port: 2 }];
  const counts = (spec: object): string[] => ['services', 'services.loadbalancers', 'services.nodeports'].map((name) => usage('services', { spec })[name]!);
  expect(counts({ type: 'ClusterIP', ports })).toEqual(['1', '0', '0']);
  expect(counts({ type: 'NodePort', ports })).toEqual(['1', '0', '2']);
  expect(counts({ type: 'LoadBalancer', ports })).toEqual(['1', '1', '2']);
  expect(counts({ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false })).toEqual(['1', '1', '1']);
});

test('volume claims, by storage class too', () => {
  const spec = { storageClassName: 'gold', resources: { requests: { storage: '1Gi' } } };
  expect(usage('persistentvolumeclaims', { spec, status: { allocatedResources: { storage: '2Gi' } } })).toEqual({
    persistentvolumeclaims: '1',
    'count/persistentvolumeclaims': '1',
    'requests.storage': '2Gi',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    'gold.storageclass.storage.k8s.io/requests.storage': '2Gi',
  });
  const scope = { scopeName: 'VolumeAttributesClass', operator: 'In', values: ['fast'] };
  const isFast = (status: object): boolean =>
    evaluatorOf({ group: '', resource: 'persistentvolumeclaims' })!.isInScope(scope, { spec, status } as unknown as ApiObject);
  expect([isFast({}), isFast({ currentVolumeAttributesClassName: 'fast' })]).toEqual([false, true]);
  const older = createEvaluators(() => NOW, { features: new Set(), allowsPrivileged: false })({ group: '', resource: 'persistentvolumeclaims' })!;
  const claim = { spec, status: { currentVolumeAttributesClassName: 'fast' } } as unknown as ApiObject;
  expect([scope, { ...scope, operator: 'DoesNotExist', values: [] }].map((each) => older.isInScope(each, claim))).toEqual([false, false]);
});

test('device claims, of alternatives the most', () => {
  const requests = [
    { name: 'a', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } },
    {
      name: 'b',
      firstAvailable: [
        { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 4 },
        { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
        { deviceClassName: 'nic', allocationMode: 'All' },
      ],
    },
  ];
  expect(usage('resourceclaims', { spec: { devices: { requests } } }, 'resource.k8s.io')).toEqual({
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': '6',
    'nic.deviceclass.resource.k8s.io/devices': '32',
  });
});

test('all else is counted, but for what is not stored', () => {
  expect(usage('jobs', {}, 'batch')).toEqual({ 'count/jobs.batch': '1' });
  expect(usage('secrets', {})).toEqual({ 'count/secrets': '1', secrets: '1' });
  expect(evaluatorOf({ group: '', resource: 'events' })).toBeUndefined();
});
