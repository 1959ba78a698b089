import { expect, test } from 'vitest';
import type { ResourceQuota } from '../apis/facts/types/core-v1.ts';
import type { ResourceIdentity } from '../client/client.ts';
import { FakeClient } from '../client/fake-client.ts';
import { keepQuotas } from './resource-quotas.ts';

const identity = (plural: string): ResourceIdentity => ({ group: '', version: 'v1', plural, kind: '', apiVersions: ['v1'], namespaced: true, verbs: [] });
const IDENTITIES = [identity('secrets'), identity('pods'), identity('services')];

class ClientWithResources extends FakeClient {
  override resources(): ResourceIdentity[] {
    return IDENTITIES;
  }
}

/** Resolves with what a quota says is used, once it has come to say so. */
const whenUsed = (client: FakeClient, isReached: (used: Record<string, string>) => boolean): Promise<Record<string, string>> =>
  new Promise((resolve) => {
    const stop = client.resource<ResourceQuota>('', 'resourcequotas').informer.onChange((quota) => {
      if (!quota?.status.used || !isReached(quota.status.used)) return;
      stop();
      resolve(quota.status.used);
    });
  });

test('fills in what is used, and counts again when something goes or ends', async () => {
  const client = new ClientWithResources();
  const stopping = new AbortController();
  const secrets = client.resource('', 'secrets');
  for (const name of ['a', 'b']) await secrets.create('n', { kind: '', apiVersion: '', metadata: { name } });
  await client.resource('', 'pods').create('n', { kind: '', apiVersion: '', metadata: { name: 'p' }, spec: { containers: [] }, status: {} } as never);
  const hard = { secrets: '5', pods: '3', 'count/unknown.x': '1' };
  const quotas = client.resource<ResourceQuota>('', 'resourcequotas');
  await quotas.create('n', { kind: '', apiVersion: '', metadata: { name: 'q' }, spec: { hard }, status: {} });
  await keepQuotas(client, { signal: stopping.signal, report: (error) => expect.unreachable(error.message), now: () => new Date() });
  expect(quotas.informer.get('n', 'q')!.status).toEqual({ hard, used: { secrets: '2', pods: '1', 'count/unknown.x': '0' } });

  const fewer = whenUsed(client, (used) => used.secrets === '1');
  await secrets.delete('n', 'a');
  expect(await fewer).toEqual({ secrets: '1', pods: '1', 'count/unknown.x': '0' });

  const ended = whenUsed(client, (used) => used.pods === '0');
  await client.resource('', 'pods').update('n', 'p', (pod) => void Object.assign(pod, { status: { phase: 'Failed' } }), 'status');
  await ended;

  const raised = whenUsed(client, (used) => Object.keys(used).length === 1);
  await quotas.update('n', 'q', (quota) => void (quota.spec.hard = { secrets: '7' }));
  expect(await raised).toEqual({ secrets: '1' });
  expect(quotas.informer.get('n', 'q')!.status.hard).toEqual({ secrets: '7' });
  stopping.abort();
});
