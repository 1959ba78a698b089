import { beforeAll, expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* The old lists of groups show what APIServices say, not what is served (kube-aggregator/pkg/apiserver/handler_apis.go). */

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Group {
  name: string;
  versions: { version: string }[];
}

let client: ApiClient;
beforeAll(async () => {
  client = (await startServer()).client();
});

const groups = async (): Promise<Group[]> => (await client.get<{ groups: Group[] }>('/apis')).groups;
const versionsOf = ({ versions }: Group): string[] => versions.map(({ version }) => version);

test('a built-in APIService that is deleted is listed no more, but served', async () => {
  for (const name of ['v2.autoscaling', 'v1.node.k8s.io']) await client.send({ method: 'DELETE', path: `${API_SERVICES}/${name}` });
  const listed = await groups();
  expect(listed.map(({ name }) => name)).not.toContain('node.k8s.io');
  expect(listed.filter(({ name }) => name === 'autoscaling').map(versionsOf)).toEqual([['v1']]);
  expect(versionsOf(await client.get<Group>('/apis/autoscaling'))).toEqual(['v1']);
  // The whole group is gone: its own server still answers for it.
  expect(versionsOf(await client.get<Group>('/apis/node.k8s.io'))).toEqual(['v1']);
  expect((await client.send({ path: '/apis/autoscaling/v2/horizontalpodautoscalers' })).status).toBe(200);
  const aggregated = (await client.send({ path: '/apis', headers: { accept: AGGREGATED } })).json<{ items: { metadata: { name: string } }[] }>();
  expect(aggregated.items.map(({ metadata }) => metadata.name)).toContain('node.k8s.io');
});

test('priorities are those of APIServices, and one that nobody serves is listed too', async () => {
  const patch = (name: string, spec: object) =>
    client.send({ method: 'PATCH', path: `${API_SERVICES}/${name}`, headers: { 'content-type': 'application/merge-patch+json' }, body: { spec } });
  await patch('v1.apps', { groupPriorityMinimum: 3 });
  await patch('v1beta1.networking.k8s.io', { versionPriority: 999 });
  const spec = { group: 'nobody.example.com', version: 'v7', groupPriorityMinimum: 19_000, versionPriority: 1 };
  await client.create(API_SERVICES, { metadata: { name: 'v7.nobody.example.com' }, spec });
  const names = (await groups()).map(({ name }) => name);
  expect(names.slice(0, 2)).toEqual(['apiregistration.k8s.io', 'nobody.example.com']);
  expect(names.at(-1)).toBe('apps');
  expect((await client.send({ path: '/apis/nobody.example.com/v7' })).status).toBe(404);
});

test('a definition is listed while it is installed', async () => {
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const definition = { metadata: { name: 'things.custom.example.com' }, spec: { group: 'custom.example.com', scope: 'Namespaced', names, versions } };
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await expect.poll(async () => (await groups()).map(({ name }) => name)).toContain('custom.example.com');
});
