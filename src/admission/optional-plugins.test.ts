import { describe, expect, test } from 'vitest';
import type { Pod } from '../apis/facts/types/core-v1.ts';
import { alwaysDeny } from './always.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { clusterTrustBundleAttest } from './cluster-trust-bundle-attest.ts';
import { denyServiceExternalIps } from './deny-service-external-ips.ts';
import { eventRateLimit } from './event-rate-limit.ts';
import { extendedResourceToleration } from './extended-resource-toleration.ts';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts';
import { namespaceAutoProvision } from './namespace-auto-provision.ts';
import { namespaceExists } from './namespace-exists.ts';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podTolerationRestriction } from './pod-toleration-restriction.ts';
import { admit, environmentWith, testEnvironment, writeOf } from './testing/attributes.ts';

/* The plug-ins that are off unless someone asks for them, and a few that are small. */

const pod = (spec: object = {}): object => ({ spec: { containers: [{ name: 'c', image: 'i', resources: {} }], ...spec }, status: {} });
const update = (target: string, object: object, old: object) => writeOf(target, object, { operation: 'UPDATE', oldObject: writeOf(target, old).object });

test('AlwaysDeny', async () => {
  await expect(admit(alwaysDeny, writeOf('configmaps', {}))).rejects.toThrow('configmaps "x" is forbidden: admission control is denying all modifications');
});

describe('AlwaysPullImages', () => {
  test('sets the policy of containers and image volumes', async () => {
    const { spec } = await admit<Pod>(alwaysPullImages, writeOf('pods', pod({ initContainers: [{ name: 'i' }], volumes: [{ name: 'v', image: {} }] })));
    expect([spec.containers![0]!.imagePullPolicy, spec.initContainers![0]!.imagePullPolicy, spec.volumes![0]!.image!.pullPolicy]).toEqual(
      Array(3).fill('Always'),
    );
  });
  test('leaves a pod alone that keeps its images', async () => {
    const { spec } = await admit<Pod>(alwaysPullImages, update('pods', pod(), pod()));
    expect(spec.containers![0]!.imagePullPolicy).toBeUndefined();
  });
  test('refuses what others have set since', () => {
    expect(() => alwaysPullImages.validate!(writeOf('pods', pod()))).toThrow(
      /^pods "x" is forbidden: spec.containers\[0\].imagePullPolicy: Unsupported value: /,
    );
  });
});

test('ClusterTrustBundleAttest asks for the verb attest', async () => {
  const bundle = { spec: { signerName: 'a.b/c', trustBundle: '' } };
  const target = 'clustertrustbundles.certificates.k8s.io';
  await expect(admit(clusterTrustBundleAttest(testEnvironment()), writeOf(target, bundle))).rejects.toThrow(
    'user not permitted to attest for signerName "a.b/c"',
  );
  await admit(clusterTrustBundleAttest(testEnvironment((verb, _resource, name) => verb === 'attest' && name === 'a.b/*')), writeOf(target, bundle));
  await admit(
    clusterTrustBundleAttest(testEnvironment()),
    update(target, { ...bundle, metadata: { name: 'x', finalizers: ['f/f'] } }, { ...bundle, metadata: { name: 'x' } }),
  );
});

test('DenyServiceExternalIPs lets a service keep its addresses', async () => {
  const service = (...externalIPs: string[]): object => ({ spec: { externalIPs } });
  await admit(denyServiceExternalIps, update('services', service('1.1.1.1'), service('1.1.1.1', '2.2.2.2')));
  await expect(admit(denyServiceExternalIps, writeOf('services', service('1.1.1.1')))).rejects.toThrow('Use of external IPs is denied by admission control');
});

test('EventRateLimit counts by namespace and forgets old keys', () => {
  let nowMs = 0;
  const { validate } = eventRateLimit([{ type: 'Namespace', qps: 1, burst: 2, cacheSize: 1 }], () => nowMs);
  const event = (namespace: string, dryRun = false) => writeOf('events', { involvedObject: {} }, { namespace, dryRun });
  const send = (namespace: string): void => void validate!(event(namespace));
  send('a');
  send('a');
  expect(() => send('a')).toThrow('Too many requests: limit reached on type Namespace for key a');
  void validate!(event('a', true));
  nowMs = 1000;
  send('a');
  expect(() => send('a')).toThrow('limit reached');
  send('b');
  send('a');
});

test('ExtendedResourceToleration', async () => {
  const resources = { requests: { 'example.com/gpu': '1', cpu: '1', 'a.com/b': '1' } };
  const { spec } = await admit<Pod>(extendedResourceToleration, writeOf('pods', pod({ containers: [{ name: 'c', resources }] })));
  const tolerations = ['a.com/b', 'example.com/gpu'].map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }));
  expect(spec.tolerations).toEqual(tolerations);
  const again = await admit<Pod>(extendedResourceToleration, writeOf('pods', { spec, status: {} }));
  expect(again.spec.tolerations).toEqual(tolerations);
});

test('LimitPodHardAntiAffinityTopology', async () => {
  const apart = (topologyKey: string): object => pod({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } } });
  await admit(limitPodHardAntiAffinityTopology, writeOf('pods', apart('kubernetes.io/hostname')));
  await expect(admit(limitPodHardAntiAffinityTopology, writeOf('pods', apart('zone')))).rejects.toThrow(
    'pods "x" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
  );
});

test('NamespaceAutoProvision and NamespaceExists', async () => {
  const environment = testEnvironment();
  await expect(admit(namespaceExists(environment), writeOf('configmaps', {}))).rejects.toThrow('namespaces "n" not found');
  await admit(namespaceAutoProvision(environment), writeOf('configmaps', {}, { dryRun: true }));
  expect(environment.client.writes).toEqual([]);
  await admit(namespaceAutoProvision(environment), writeOf('configmaps', {}));
  await admit(namespaceAutoProvision(environment), writeOf('configmaps', {}));
  expect(environment.client.writes).toEqual(['create namespaces n']);
  await admit(namespaceExists(environment), writeOf('configmaps', {}));
});

describe('OwnerReferencesPermissionEnforcement', () => {
  const owned = (more: object = {}): object => ({
    metadata: { name: 'x', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid: '1', ...more }] },
  });
  test('who cannot delete an object cannot give it an owner, but may make one with it', async () => {
    const plugin = ownerReferencesPermissionEnforcement(testEnvironment());
    await expect(admit(plugin, update('configmaps', owned(), {}))).rejects.toThrow("cannot set an ownerRef on a resource you can't delete: , <nil>");
    await admit(plugin, writeOf('configmaps', owned()));
    await admit(plugin, update('configmaps', owned(), owned()));
  });
  test('who cannot finalize the owner cannot block its deletion', async () => {
    const plugin = ownerReferencesPermissionEnforcement(testEnvironment());
    await expect(admit(plugin, writeOf('configmaps', owned({ blockOwnerDeletion: true })))).rejects.toThrow(
      'cannot set blockOwnerDeletion in this case because',
    );
    const almighty = ownerReferencesPermissionEnforcement(testEnvironment((verb, resource) => verb === 'update' && resource === '*'));
    await admit(almighty, writeOf('configmaps', owned({ blockOwnerDeletion: true })));
  });
});

describe('PodNodeSelector', () => {
  const namespace = (annotations: object = {}): object => ({ metadata: { name: 'n', annotations } });
  test('a pod gets the labels of its namespace, and may not contradict them', async () => {
    const plugin = podNodeSelector(
      await environmentWith('', 'namespaces', namespace({ 'scheduler.alpha.kubernetes.io/node-selector': 'env=test, zone=a' })),
      {},
    );
    const { spec } = await admit<Pod>(plugin, writeOf('pods', pod({ nodeSelector: { disk: 'ssd' } })));
    expect(spec.nodeSelector).toEqual({ env: 'test', zone: 'a', disk: 'ssd' });
    await expect(admit(plugin, writeOf('pods', pod({ nodeSelector: { env: 'prod' } })))).rejects.toThrow(
      'pods "x" is forbidden: pod node label selector conflicts with its namespace node label selector',
    );
  });
  test('the configuration has a default, and limits by namespace', async () => {
    const plugin = podNodeSelector(await environmentWith('', 'namespaces', namespace()), { clusterDefaultNodeSelector: 'env=test', n: 'env=test,disk=ssd' });
    expect((await admit<Pod>(plugin, writeOf('pods', pod()))).spec.nodeSelector).toEqual({ env: 'test' });
    await expect(admit(plugin, writeOf('pods', pod({ nodeSelector: { disk: 'hdd' } })))).rejects.toThrow('labels conflict with its namespace whitelist');
  });
});

test('PodTolerationRestriction', async () => {
  const annotations = {
    'scheduler.alpha.kubernetes.io/defaultTolerations': '[{"key":"a","operator":"Exists"}]',
    'scheduler.alpha.kubernetes.io/tolerationsWhitelist': '[{"key":"a","operator":"Exists"}]',
  };
  const environment = await environmentWith('', 'namespaces', { metadata: { name: 'n', annotations } });
  const plugin = podTolerationRestriction(environment, { default: [], whitelist: [] });
  expect((await admit<Pod>(plugin, writeOf('pods', pod()))).spec.tolerations).toEqual([{ key: 'a', operator: 'Exists' }]);
  await expect(admit(plugin, writeOf('pods', pod({ tolerations: [{ key: 'b', operator: 'Exists' }] })))).rejects.toThrow(
    'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
  );
});
