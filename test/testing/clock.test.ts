import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { startServer } from '../support/library.ts';

const EVENT = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'one', namespace: 'default' }, involvedObject: { namespace: 'default' } } as const;
const event = { apiVersion: 'v1', kind: 'Event', name: 'one', namespace: 'default' } as const;

test('events end, tokens expire and timestamps follow when time is advanced; a fork goes on from there', async () => {
  await using server = await startServer();
  const robot = await server.serviceAccount({ name: 'robot', clusterRole: 'view' });
  const config = new KubeConfig();
  config.loadFromString(robot.kubeconfig);
  const client = config.makeApiClient(CoreV1Api);
  await server.create(EVENT);
  await server.clock.advance('50m');
  await server.get(event);
  await client.listNamespacedConfigMap({ namespace: 'default' });
  await server.clock.advance('11m');
  await expect(server.get(event)).rejects.toMatchObject({ code: 404 });
  await expect(client.listNamespacedConfigMap({ namespace: 'default' })).rejects.toMatchObject({ code: 401 });
  await using fork = await server.fork();
  const created = await fork.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } });
  expect(Date.parse(String(created.metadata!.creationTimestamp)) - Date.now()).toBeGreaterThan(3_600_000);
  expect(fork.clock.time.getTime()).toBeGreaterThanOrEqual(server.clock.time.getTime() - 1_000);
});
