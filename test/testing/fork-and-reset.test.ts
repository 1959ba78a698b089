import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartedServer } from '../../src/index.ts';
import { startServer } from '../support/library.ts';

const configMap = (name: string, data: Record<string, string> = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }) as const;
const reference = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name }) as const;
const versionOf = ({ metadata }: { metadata?: { resourceVersion?: string } }): number => Number(metadata!.resourceVersion);

const widgets = (version: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
  },
});
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' } } as const;
const WIDGETS = { apiVersion: 'example.com/v1', kind: 'Widget' } as const;

const service = (name: string, nodePort: number, clusterIP: string) =>
  ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { type: 'NodePort', clusterIP, ports: [{ port: 80, nodePort }] } }) as const;

const configOf = (kubeconfig: string, url?: string): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  if (url !== undefined) config.clusters = config.clusters.map((cluster) => ({ ...cluster, server: url }));
  return config;
};

/** The events of a watch of config maps, until it is over: the promise settles with how it ended. */
function watchConfigMaps(server: StartedServer): { events: string[]; opened: Promise<unknown>; ended: Promise<{ code?: number }> } {
  const events: string[] = [];
  const ended = new Promise<{ code?: number }>((resolve) => {
    let last: { code?: number } = {};
    const onEvent = (type: string, object: { metadata?: { name: string }; code?: number }): void => {
      events.push(`${type} ${object.metadata?.name ?? ''}`);
      last = object;
    };
    void new Watch(configOf(server.kubeconfig)).watch('/api/v1/namespaces/default/configmaps', {}, onEvent, () => resolve(last));
  });
  return { events, opened: server.requests.waitFor({ verb: 'watch', resource: 'configmaps' }), ended };
}

describe('a reset', () => {
  let server: StartedServer;
  beforeAll(async () => {
    server = await startServer({ crds: widgets('v1') });
    await server.create(configMap('kept', { color: 'blue' }));
    await server.create(configMap('changed', { color: 'blue' }));
    await server.create(configMap('deleted', { color: 'blue' }));
    await server.create(widget);
  });
  afterAll(() => server.stop());

  test('takes objects back to what they were; versions never go back', async () => {
    const snapshot = server.snapshot();
    const before = await Promise.all(['kept', 'changed', 'deleted'].map((name) => server.get(reference(name))));
    await server.apply(configMap('changed', { color: 'red' }));
    await server.delete(reference('deleted'));
    const { metadata } = await server.create(configMap('new'));
    await server.reset(snapshot);
    const after = await Promise.all(['kept', 'changed', 'deleted'].map((name) => server.get(reference(name))));
    const withoutVersion = (object: (typeof after)[number]) => ({ ...object, metadata: { ...object.metadata, resourceVersion: '' } });
    expect(after.map(withoutVersion)).toEqual(before.map(withoutVersion));
    expect(versionOf(after[0]!)).toBe(versionOf(before[0]!));
    expect(versionOf(after[1]!)).toBeGreaterThan(Number(metadata!.resourceVersion));
    expect(versionOf(after[2]!)).toBeGreaterThan(Number(metadata!.resourceVersion));
    await expect(server.get(reference('new'))).rejects.toThrow(/not found/);
    // Nothing has changed: a second reset leaves all versions.
    await server.reset(snapshot);
    expect((await server.list({ apiVersion: 'v1', kind: 'ConfigMap' })).map(versionOf)).toContain(versionOf(after[1]!));
    await server.create(configMap('new'));
    await server.reset(snapshot);
  });

  test('ends watches as a compaction does, and old versions are gone', async () => {
    const snapshot = server.snapshot();
    const created = await server.create(configMap('seen'));
    const watch = watchConfigMaps(server);
    await watch.opened;
    await server.reset(snapshot);
    expect(await watch.ended).toMatchObject({ code: 410, reason: 'Expired' });
    expect(watch.events.filter((event) => event.startsWith('DELETED'))).toEqual([]);
    const client = configOf(server.kubeconfig).makeApiClient(CoreV1Api);
    const list = (options: object) => client.listNamespacedConfigMap({ namespace: 'default', ...options });
    await expect(list({ resourceVersion: created.metadata!.resourceVersion, resourceVersionMatch: 'Exact' })).rejects.toMatchObject({ code: 410 });
  });

  test('continue tokens from before have expired', async () => {
    const client = configOf(server.kubeconfig).makeApiClient(CoreV1Api);
    const snapshot = server.snapshot();
    const { metadata: { _continue: token } = {} } = await client.listNamespacedConfigMap({ namespace: 'default', limit: 1 });
    await server.reset(snapshot);
    await expect(client.listNamespacedConfigMap({ namespace: 'default', limit: 1, _continue: token! })).rejects.toMatchObject({ code: 410 });
  });

  test('definitions come and go with it, and so do their objects', async () => {
    const snapshot = server.snapshot();
    await server.apply({
      ...widgets('v1'),
      metadata: { name: 'gadgets.example.com' },
      spec: { ...widgets('v1').spec, names: { plural: 'gadgets', kind: 'Gadget' } },
    });
    await server.delete({ ...WIDGETS, name: 'one' });
    await server.delete({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'widgets.example.com' });
    await server.waitFor({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'widgets.example.com' }, (crd) => crd === undefined);
    await server.reset(snapshot);
    expect((await server.list(WIDGETS)).map(({ metadata }) => metadata!.name)).toEqual(['one']);
    await expect(server.list({ apiVersion: 'example.com/v1', kind: 'Gadget' })).rejects.toThrow(/no kind "Gadget"/);
  });

  test('roles, service accounts, addresses and ports are what they were', async () => {
    const snapshot = server.snapshot();
    const robot = await server.serviceAccount({ name: 'robot', clusterRole: 'view' });
    const asRobot = configOf(robot.kubeconfig).makeApiClient(CoreV1Api);
    await asRobot.listNamespacedConfigMap({ namespace: 'default' });
    await server.create(service('one', 30_100, '10.0.0.77'));
    await server.reset(snapshot);
    await expect(asRobot.listNamespacedConfigMap({ namespace: 'default' })).rejects.toMatchObject({ code: 401 });
    // The port and the address are free again, and taken again.
    await server.create(service('two', 30_100, '10.0.0.77'));
    await expect(server.create(service('three', 30_100, ''))).rejects.toThrow(/port is already allocated/);
    const taken = server.snapshot();
    await server.delete({ apiVersion: 'v1', kind: 'Service', name: 'two' });
    await server.reset(taken);
    await expect(server.create(service('three', 0, '10.0.0.77'))).rejects.toThrow(/already allocated/);
    await expect(server.create(service('three', 30_100, ''))).rejects.toThrow(/port is already allocated/);
    await server.reset(snapshot);
  });

  test('what an owner owned is not collected because the owner was away', async () => {
    const owner = await server.create(configMap('owner'));
    const owned = {
      ...configMap('owned'),
      metadata: { name: 'owned', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata!.uid! }] },
    };
    await server.create(owned);
    const snapshot = server.snapshot();
    await server.delete(reference('owner'));
    await server.waitFor(reference('owned'), (object) => object === undefined);
    await server.reset(snapshot);
    await server.create(configMap('later'));
    // A namespace that is deleted and gone shows that the controllers have had their turn.
    await server.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'passing' } });
    await server.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'passing' });
    await server.waitFor({ apiVersion: 'v1', kind: 'Namespace', name: 'passing' }, (namespace) => namespace === undefined);
    expect(await server.get(reference('owned'))).toMatchObject({ metadata: { name: 'owned' } });
    await server.delete(reference('owner'));
    await server.waitFor(reference('owned'), (object) => object === undefined);
  });

  test('what is no snapshot is refused', async () => {
    await expect(server.reset({ resourceVersion: '1' })).rejects.toThrow(/not a snapshot/);
  });
});

describe('a fork', () => {
  test('does not bring back a default that its origin has lost', async () => {
    await using server = await startServer();
    const defaults = [
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'view' },
      { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', name: 'service-accounts' },
    ] as const;
    for (const one of defaults) await server.delete(one);
    await using fork = await server.fork();
    for (const one of defaults) await expect(fork.get(one)).rejects.toThrow(/not found/);
    expect(await fork.get({ ...defaults[0], name: 'edit' })).toMatchObject({ metadata: { name: 'edit' } });
  });

  test('has what its origin has, and each writes for itself', async () => {
    await using server = await startServer({ crds: widgets('v1'), objects: [configMap('one'), widget, service('web', 30_101, '10.0.0.78')] });
    const jane = server.user({ name: 'jane', groups: ['system:masters'] });
    const robot = await server.serviceAccount({ name: 'robot', clusterRole: 'view' });
    await using fork = await server.fork();
    expect(fork.url).not.toBe(server.url);
    expect(await fork.get(reference('one'))).toEqual(await server.get(reference('one')));
    expect((await fork.list(WIDGETS)).map(({ metadata }) => metadata!.name)).toEqual(['one']);
    // Who was known to the one is known to the other.
    for (const { kubeconfig } of [jane, robot]) await configOf(kubeconfig, fork.url).makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace: 'default' });
    await expect(fork.create(service('more', 30_101, ''))).rejects.toThrow(/port is already allocated/);

    await fork.apply(configMap('one', { written: 'by the fork' }));
    await fork.create(configMap('two'));
    await server.delete(reference('one'));
    expect(await fork.get(reference('one'))).toMatchObject({ data: { written: 'by the fork' } });
    await expect(server.get(reference('two'))).rejects.toThrow(/not found/);
    // A fork of the fork, back to where the first one began.
    const snapshot = server.snapshot();
    await using second = await fork.fork();
    await second.reset(snapshot);
    await expect(second.get(reference('one'))).rejects.toThrow(/not found/);
    expect(await fork.get(reference('two'))).toMatchObject({ metadata: { name: 'two' } });
  });

  test('goes on when its origin has stopped', async () => {
    const server = await startServer({ objects: [configMap('one')] });
    const fork = await server.fork();
    await server.stop();
    expect(await fork.get(reference('one'))).toMatchObject({ metadata: { name: 'one' } });
    await fork.apply(configMap('one', { a: 'b' }));
    await fork.stop();
  });
});
