import { describe, expect, test } from 'vitest';
import type { ResourceQuota } from '../../apis/facts/types/core-v1.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { type TestEnvironment, admit, testEnvironment, writeOf } from '../testing/attributes.ts';
import { resourceQuota } from './resource-quota.ts';

interface Setup {
  plugin: AdmissionPlugin;
  environment: TestEnvironment;
  used(name?: string): Record<string, string> | undefined;
}

const zeros = (hard: Record<string, string>): Record<string, string> => Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));

async function withQuota(hard: Record<string, string>, spec: object = {}, used = zeros(hard)): Promise<Setup> {
  const environment = testEnvironment();
  const quotas = environment.client.resource<ResourceQuota>('', 'resourcequotas');
  await quotas.create('n', { kind: '', apiVersion: '', metadata: { name: 'q' }, spec: { hard, ...spec }, status: { hard, used } });
  return { environment, plugin: resourceQuota(environment), used: (name = 'q') => quotas.informer.get('n', name)?.status.used };
}

const pod = (resources: object = {}, spec: object = {}): object => ({ spec: { containers: [{ name: 'c', resources }], ...spec }, status: {} });
const cpu = (request: string, limit?: string): object => ({ requests: { cpu: request }, ...(limit && { limits: { cpu: limit } }) });

test('what is used is charged, and no more than is there', async () => {
  const { plugin, used } = await withQuota({ 'requests.cpu': '1', pods: '3', 'count/pods': '5' });
  await admit(plugin, writeOf('pods', pod(cpu('600m'))));
  expect(used()).toEqual({ 'requests.cpu': '600m', pods: '1', 'count/pods': '1' });
  await expect(admit(plugin, writeOf('pods', pod(cpu('500m'))))).rejects.toThrow(
    'pods "x" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
  );
  await expect(admit(plugin, writeOf('pods', pod()))).rejects.toThrow('pods "x" is forbidden: failed quota: q: must specify requests.cpu for: c');
  expect(used()).toEqual({ 'requests.cpu': '600m', pods: '1', 'count/pods': '1' });
});

test('of 64 creates at once, as many pass as there is room for', async () => {
  const { plugin, used, environment } = await withQuota({ configmaps: '20', 'count/configmaps': '30' });
  const results = await Promise.allSettled(Array.from({ length: 64 }, () => admit(plugin, writeOf('configmaps', {}))));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  expect(used()).toEqual({ configmaps: '20', 'count/configmaps': '20' });
  expect(environment.client.writes.filter((write) => write.startsWith('update-status')).length).toBeLessThan(5);
});

test('a charge that was overtaken is checked again', async () => {
  const { plugin, used, environment } = await withQuota({ secrets: '2' });
  const quotas = environment.client.resource<ResourceQuota>('', 'resourcequotas');
  const stale = structuredClone(quotas.informer.list('n'));
  const list = quotas.informer.list.bind(quotas.informer);
  await quotas.update('n', 'q', (quota) => void (quota.status.used = { secrets: '2' }));
  let calls = 0;
  quotas.informer.list = (namespace) => (calls++ < 2 ? stale : list(namespace));
  await expect(admit(plugin, writeOf('secrets', {}))).rejects.toThrow('exceeded quota: q, requested: secrets=1, used: secrets=2, limited: secrets=2');
  expect(used()).toEqual({ secrets: '2' });
});

test('a dry run is checked and costs nothing', async () => {
  const { plugin, used } = await withQuota({ secrets: '1' });
  await admit(plugin, writeOf('secrets', {}, { dryRun: true }));
  expect(used()).toEqual({ secrets: '0' });
  await admit(plugin, writeOf('secrets', {}));
  await expect(admit(plugin, writeOf('secrets', {}, { dryRun: true }))).rejects.toThrow('exceeded quota');
});

test('a quota is in force by its status alone', async () => {
  const { plugin } = await withQuota({ secrets: '1' }, {}, {});
  await expect(admit(plugin, writeOf('secrets', {}))).rejects.toThrow('status unknown for quota: q, resources: secrets');
  const environment = testEnvironment();
  await environment.client
    .resource('', 'resourcequotas')
    .create('n', { kind: '', apiVersion: '', metadata: { name: 'q' }, spec: { hard: { secrets: '0' } }, status: {} } as never);
  await admit(resourceQuota(environment), writeOf('secrets', {}));
});

test('an update costs what it adds', async () => {
  const { plugin, used } = await withQuota(
    { 'services.nodeports': '2', 'services.loadbalancers': '1', services: '1' },
    {},
    { 'services.nodeports': '1', 'services.loadbalancers': '0', services: '1' },
  );
  const service = (type: string, ...ports: object[]): object => ({ metadata: { name: 'x', resourceVersion: '1' }, spec: { type, ports } });
  const oldObject = writeOf('services', service('NodePort', { port: 1 })).object;
  await admit(plugin, writeOf('services', service('LoadBalancer', { port: 1 }, { port: 2 }), { operation: 'UPDATE', oldObject }));
  expect(used()).toEqual({ 'services.nodeports': '2', 'services.loadbalancers': '1', services: '1' });
  await expect(admit(plugin, writeOf('services', service('NodePort', { port: 1 }, { port: 2 }), { operation: 'UPDATE', oldObject }))).rejects.toThrow(
    'exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=2, limited: services.nodeports=2',
  );
});

describe('scopes', () => {
  const full = { pods: '0' };
  const selector = (operator: string, ...values: string[]): object => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
  });
  test.each<[object, object, boolean]>([
    [{ scopes: ['Terminating'] }, pod({}, { activeDeadlineSeconds: 5 }), true],
    [{ scopes: ['Terminating'] }, pod(), false],
    [{ scopes: ['NotTerminating'] }, pod(), true],
    [{ scopes: ['BestEffort'] }, pod(), true],
    [{ scopes: ['BestEffort', 'Terminating'] }, pod(), false],
    [{ scopes: ['NotBestEffort'] }, pod(cpu('1')), true],
    [{ scopes: ['NotBestEffort'] }, pod(), false],
    [selector('In', 'high'), pod({}, { priorityClassName: 'high' }), true],
    [selector('In', 'high'), pod(), false],
    [selector('NotIn', 'high'), pod(), true],
    [selector('Exists'), pod({}, { priorityClassName: 'low' }), true],
    [selector('DoesNotExist'), pod({}, { priorityClassName: 'low' }), false],
    [
      { scopes: ['CrossNamespacePodAffinity'] },
      pod({}, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['other'], topologyKey: 'k' }] } } }),
      true,
    ],
    [{ scopes: ['CrossNamespacePodAffinity'] }, pod(), false],
  ])('%j', async (spec, object, isLimited) => {
    const { plugin } = await withQuota(full, spec);
    const admitted = admit(plugin, writeOf('pods', object));
    if (isLimited) await expect(admitted).rejects.toThrow('exceeded quota: q');
    else await admitted;
  });
});

test('what is limited by configuration needs a quota', async () => {
  const { environment } = await withQuota({ secrets: '1' });
  const plugin = resourceQuota(environment, [
    { apiGroup: '', resource: 'persistentvolumeclaims', matchContains: ['.storageclass.storage.k8s.io/requests.storage'], matchScopes: [] },
    { apiGroup: '', resource: 'pods', matchContains: [], matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
  ]);
  const claim = { spec: { storageClassName: 'gold', resources: { requests: { storage: '1Gi' } } }, status: {} };
  await expect(admit(plugin, writeOf('persistentvolumeclaims', claim))).rejects.toThrow(
    'persistentvolumeclaims "x" is forbidden: insufficient quota to consume: gold.storageclass.storage.k8s.io/requests.storage',
  );
  await expect(admit(plugin, writeOf('pods', pod({}, { priorityClassName: 'high' })))).rejects.toThrow(
    'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
  );
  await admit(plugin, writeOf('pods', pod()));
});
