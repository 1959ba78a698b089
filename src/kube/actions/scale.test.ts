import { expect, test } from 'vitest';
import type { Scale } from '../../apis/facts/types/autoscaling-v1.ts';
import { TestServer } from './test-server.ts';

const server = await TestServer.start();
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const selector = { matchLabels: { app: 'x' } };

const KINDS: [string, string, object][] = [
  ['apis/apps/v1', 'deployments', { replicas: 2, selector, template }],
  ['apis/apps/v1', 'replicasets', { replicas: 2, selector, template }],
  ['apis/apps/v1', 'statefulsets', { replicas: 2, selector, template, serviceName: 's' }],
  ['api/v1', 'replicationcontrollers', { replicas: 2, selector: { app: 'x' }, template }],
];

test.each(KINDS)('%s %s: scale is read, put and patched', async (group, plural, spec) => {
  const namespace = (await server.namespace()).replace('api/v1', group);
  const path = `${namespace}/${plural}/a`;
  await server.create(`${namespace}/${plural}`, { metadata: { name: 'a' }, spec });
  const scale = await server.get<Scale>(`${path}/scale`);
  expect(scale).toMatchObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'a' },
    spec: { replicas: 2 },
    status: { replicas: 0, selector: 'app=x' },
  });

  // As `kubectl scale --replicas` with `--resource-version` or `--current-replicas` does it: with the version that was read.
  const put = await server.send('PUT', `${path}/scale`, { ...scale, spec: { replicas: 5 } });
  expect([put.status, put.json<Scale>().spec]).toEqual([200, { replicas: 5 }]);
  const stale = await server.send('PUT', `${path}/scale`, { ...scale, spec: { replicas: 6 } });
  expect([stale.status, stale.json<{ reason: string }>().reason]).toEqual([409, 'Conflict']);

  const patch = (body: object) => server.send('PATCH', `${path}/scale`, body, { 'content-type': 'application/merge-patch+json' });
  const patched = await patch({ spec: { replicas: 3 } });
  expect([patched.status, patched.json<Scale>().spec]).toEqual([200, { replicas: 3 }]);
  expect((await patch({ spec: { replicas: -1 } })).json()).toMatchObject({
    code: 422,
    message: 'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  });
  expect((await server.send('PUT', `${path}/scale`, { metadata: { name: 'a', uid: 'another' }, spec: { replicas: 1 } })).status).toBe(409);
  const { spec: stored, metadata } = await server.get<{ spec: { replicas: number }; metadata: { generation: number } }>(path);
  expect([stored.replicas, metadata.generation]).toEqual([3, 3]);
});
