import { describe, expect, test } from 'vitest';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { admit, testEnvironment, writeOf } from '../testing/attributes.ts';
import { limitRanger } from './limit-ranger.ts';

async function pluginWith(...limits: object[]): Promise<AdmissionPlugin> {
  const environment = testEnvironment();
  await environment.client
    .resource('', 'limitranges')
    .create('n', { kind: 'LimitRange', apiVersion: 'v1', metadata: { name: 'l' }, spec: { limits } } as never);
  return limitRanger(environment);
}
const pod = (resources: object, spec: object = {}): object => ({ spec: { containers: [{ name: 'c', resources }], ...spec } });
const cpu = (request?: string, limit?: string): object => ({ ...(request && { requests: { cpu: request } }), ...(limit && { limits: { cpu: limit } }) });
const claim = (storage: string): object => ({ spec: { resources: { requests: { storage } } } });

test('containers get what they leave open, and an annotation says so', async () => {
  const plugin = await pluginWith({ type: 'Container', default: { memory: '1Gi', cpu: '1' }, defaultRequest: { cpu: '100m' } });
  const admitted = await admit<Pod>(plugin, writeOf('pods', pod({ limits: { cpu: '2' } }, { initContainers: [{ name: 'i', resources: {} }] })));
  expect(admitted.spec.containers![0]!.resources).toEqual({ limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '100m' } });
  expect(admitted.metadata.annotations).toEqual({
    'kubernetes.io/limit-ranger':
      'LimitRanger plugin set: cpu request for container c; memory limit for container c; cpu request for init container i; cpu, memory limit for init container i',
  });
});

test('what a pod asks for as a whole follows what its containers were given', async () => {
  const plugin = await pluginWith({ type: 'Container', default: { memory: '1Gi' }, defaultRequest: { memory: '1Gi' } });
  const admitted = await admit<Pod>(plugin, writeOf('pods', { ...pod({}, { resources: { limits: { cpu: '2' }, requests: { cpu: '1' } } }), status: {} }));
  expect(admitted.spec.resources).toEqual({ limits: { cpu: '2' }, requests: { cpu: '1', memory: '1Gi' } });
});

describe('refusals', () => {
  test.each([
    [{ type: 'Container', min: { cpu: '100m' } }, cpu(), 'minimum cpu usage per Container is 100m.  No request is specified'],
    [{ type: 'Container', min: { cpu: '100m' } }, cpu('50m', '1'), 'minimum cpu usage per Container is 100m, but request is 50m'],
    [{ type: 'Container', min: { cpu: '100m' } }, cpu('100m', '50m'), 'minimum cpu usage per Container is 100m, but limit is 50m'],
    [{ type: 'Container', max: { cpu: '1' } }, cpu('1'), 'maximum cpu usage per Container is 1.  No limit is specified'],
    [{ type: 'Container', max: { cpu: '1' } }, cpu('1', '1001m'), 'maximum cpu usage per Container is 1, but limit is 1001m'],
    [{ type: 'Container', max: { cpu: '1' } }, cpu('2', '1'), 'maximum cpu usage per Container is 1, but request is 2'],
    [
      { type: 'Container', maxLimitRequestRatio: { cpu: '1500m' } },
      cpu('1', '2'),
      'cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000',
    ],
    [
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      cpu(),
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      cpu('1', '0'),
      'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
    ],
    [
      { type: 'Pod', max: { cpu: '1' }, min: { cpu: '2' } },
      cpu('1', '2'),
      '[minimum cpu usage per Pod is 2, but request is 1, maximum cpu usage per Pod is 1, but limit is 2]',
    ],
  ])('%j of %j', async (limit, resources, message) => {
    await expect(admit(await pluginWith(limit), writeOf('pods', pod(resources)))).rejects.toThrow(`pods "x" is forbidden: ${message}`);
  });

  test('a pod is checked by its containers together, or by what it asks for as a whole', async () => {
    const plugin = await pluginWith({ type: 'Pod', max: { cpu: '3' } });
    const limits = { limits: { cpu: '2' } };
    const two = {
      containers: [
        { name: 'a', resources: limits },
        { name: 'b', resources: limits },
      ],
    };
    await expect(admit(plugin, writeOf('pods', pod({}, two)))).rejects.toThrow('maximum cpu usage per Pod is 3, but limit is 4');
    await admit(plugin, writeOf('pods', pod({}, { ...two, resources: { limits: { cpu: '3' } } })));
    await admit(
      plugin,
      writeOf('pods', pod({}, { initContainers: [{ name: 'i', resources: { limits: { cpu: '3' } } }], containers: [{ name: 'a', resources: limits }] })),
    );
  });

  test('claims by their request alone', async () => {
    const plugin = await pluginWith({ type: 'PersistentVolumeClaim', max: { storage: '2Gi' }, min: { storage: '1Gi' } });
    await expect(admit(plugin, writeOf('persistentvolumeclaims', claim('3Gi')))).rejects.toThrow(
      'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    );
    await expect(admit(plugin, writeOf('persistentvolumeclaims', claim('512Mi')))).rejects.toThrow(
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi',
    );
    await admit(plugin, writeOf('persistentvolumeclaims', claim('2Gi')));
  });
});

test('of updates of pods only resizes count, and nothing that is being deleted', async () => {
  const plugin = await pluginWith({ type: 'Container', max: { cpu: '1' } });
  const resized = pod({ limits: { cpu: '2' } });
  const oldObject = writeOf('pods', resized).object;
  await admit(plugin, writeOf('pods', resized, { operation: 'UPDATE', oldObject }));
  await expect(admit(plugin, writeOf('pods/resize', resized, { operation: 'UPDATE', oldObject }))).rejects.toThrow('maximum cpu');
  const dying = { ...oldObject!, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
  await admit(plugin, writeOf('pods/resize', resized, { operation: 'UPDATE', oldObject: dying }));
});

test('more amounts than a pod can have are not filled in', async () => {
  const amounts = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`example.com/r${index}`, '1']));
  const plugin = await pluginWith({ type: 'Container', default: amounts });
  const containers = (count: number): object => ({ containers: Array.from({ length: count }, (_, index) => ({ name: `c${index}`, resources: {} })) });
  const admitted = await admit<Pod>(plugin, writeOf('pods', pod({}, containers(60))));
  expect(Object.keys(admitted.spec.containers![59]!.resources.limits!)).toHaveLength(300);
  await expect(admit(plugin, writeOf('pods', pod({}, containers(67))))).rejects.toThrow('limit is 20000 amounts of limit ranges');
});
