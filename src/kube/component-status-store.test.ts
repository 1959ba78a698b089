import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { EVERY_LABEL } from '../api/label-selector.ts';
import { parseFieldSelector } from '../api/field-selector.ts';
import { ComponentStatusStore, probeHealth } from './component-status-store.ts';

const admission = { mutate() {}, validate() {} };
const store = new ComponentStatusStore(admission as never, {
  scheduler: async () => ({ isHealthy: true, message: 'ok' }),
  'etcd-0': async () => ({ isHealthy: false, message: '', error: 'gone' }),
});
const options = { limit: 0, continue: '', resourceVersion: '', resourceVersionMatch: '' } as const;

test('components are asked when a client asks', async () => {
  expect((await store.get('', 'scheduler')).object()).toEqual({
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name: 'scheduler' },
    conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
  });
  const { entries } = await store.list('', { ...options, selection: { labels: EVERY_LABEL, fields: parseFieldSelector('metadata.name=etcd-0') } });
  expect(entries.map((entry) => entry.object())).toMatchObject([{ metadata: { name: 'etcd-0' }, conditions: [{ status: 'False', error: 'gone' }] }]);
  await expect(store.get('', 'other')).rejects.toThrow('componentstatus "other" not found');
  await expect(store.create()).rejects.toThrow('create is not supported on resources of kind "componentstatuses"');
});

test('whoever does not listen is not healthy', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  expect(await probeHealth(port)).toEqual({
    isHealthy: false,
    message: `Get "https://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
});
