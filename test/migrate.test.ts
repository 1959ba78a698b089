import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import type { ApiClient, TestList, TestObject } from './support/api-client.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { startServer, temporaryFolder } from './support/server.ts';

/* A cluster that outgrows its machine, and one that comes back: `binnacle migrate`. */

const binnacle = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [join(inject('distDir'), 'binnacle.js'), ...args])).stdout;

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const LISTS = [
  '/api/v1/namespaces',
  '/api/v1/services',
  '/api/v1/configmaps',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  WIDGETS,
];

async function fill(client: ApiClient): Promise<void> {
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { metadata: { name: 'widgets.example.com' }, spec });
  const widget = { kind: 'Widget', apiVersion: 'example.com/v1' };
  while ((await client.send({ method: 'POST', path: WIDGETS, body: { ...widget, metadata: { name: 'z' }, spec: { b: 1, a: [1] } } })).status !== 201);
  await client.create('/api/v1/namespaces/default/services', { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
  for (const name of ['c', 'a', 'b']) await client.create('/api/v1/namespaces/default/configmaps', { metadata: { name }, data: { text: 'ü\n' } });
  await client.create(WIDGETS, { ...widget, metadata: { name: 'a' }, spec: {} });
}

/** All objects without their versions, in the order of those. */
async function contentOf(client: ApiClient): Promise<object[]> {
  const lists = await Promise.all(LISTS.map((path) => client.get<TestList>(path)));
  const byVersion = (a: TestObject, b: TestObject): number => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion);
  return lists
    .flatMap(({ items }) => items)
    .toSorted(byVersion)
    .map(withoutVersion);
}

function withoutVersion(object: TestObject): object {
  const { resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
}

describe.runIf(hasEtcd())('binnacle migrate', () => {
  test('takes a cluster to etcd and back: names, uids and order stay', { timeout: 120_000 }, async () => {
    const { endpoints } = await startEtcd();
    const servers = `--etcd-servers=${endpoints.join(',')}`;
    const embedded = await startServer({ storage: 'embedded' });
    await fill(embedded.client());
    const before = await contentOf(embedded.client());
    await expect(binnacle('migrate', '--from', embedded.dataDir, '--to', 'etcd', servers)).rejects.toThrow('is in use by another server');
    await embedded.stop();
    expect(await binnacle('migrate', '--from', embedded.dataDir, '--to', 'etcd', servers)).toMatch(/^\d+ objects were copied\n$/);
    expect(await binnacle('migrate', '--from', embedded.dataDir, '--to', 'etcd', servers)).toMatch(/^0 objects were copied, and \d+ were there already\n$/);

    const onEtcd = await startServerOnEtcd(endpoints);
    expect(await contentOf(onEtcd.client())).toEqual(before);
    await onEtcd.client().create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'later' } });
    const after = await contentOf(onEtcd.client());
    await onEtcd.stop();

    const back = temporaryFolder();
    await binnacle('migrate', '--from', 'etcd', '--to', back, servers);
    const again = await startServer({ storage: 'embedded', dataDir: back });
    expect(await contentOf(again.client())).toEqual(after);
    await again.stop();
  });
});
