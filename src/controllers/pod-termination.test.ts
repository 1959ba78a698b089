import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Node, Pod } from '../apis/facts/types/core-v1.ts';
import { FakeClient } from '../client/fake-client.ts';
import { timeOf } from '../util/time.ts';
import { collectPods } from './pod-termination.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: Date.parse('2030-01-01T00:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const pod = (name: string, { nodeName = '', deletedForSeconds = NaN, phase = 'Running' }): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace: 'default',
    generation: 2,
    ...(!Number.isNaN(deletedForSeconds) && { deletionTimestamp: timeOf(new Date(Date.now() + deletedForSeconds * 1000)) }),
  },
  spec: { containers: [], ...(nodeName !== '' && { nodeName }) } as unknown as Pod['spec'],
  status: { phase },
});

const node = (name: string, isOutOfService: boolean): Node => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name },
  spec: isOutOfService ? { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } : {},
  status: {
    conditions: [{ type: 'Ready', status: isOutOfService ? 'Unknown' : 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
  } as unknown as Node['status'],
});

async function start(nodes: readonly Node[], pods: readonly Pod[]) {
  const client = new FakeClient();
  for (const each of nodes) await client.resource<Node>('', 'nodes').create('', each);
  for (const each of pods) await client.resource<Pod>('', 'pods').create('default', each);
  const stop = new AbortController();
  await collectPods(client, { signal: stop.signal, report: (error) => expect.fail(error.message), now: () => new Date() });
  const pass = async (waitMs: number): Promise<string[]> => {
    await vi.advanceTimersByTimeAsync(waitMs);
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
    return client
      .resource<Pod>('', 'pods')
      .informer.list('')
      .map(({ metadata }) => metadata.name!);
  };
  return { client, pass };
}

describe('pods that end', () => {
  test('with no node go at once, on a node that is there never', async () => {
    const pods = [pod('unscheduled', { deletedForSeconds: 0 }), pod('running', { nodeName: 'here', deletedForSeconds: 30 }), pod('waiting', {})];
    const { client, pass } = await start([node('here', false)], pods);
    expect(await pass(0)).toEqual(['running', 'waiting']);
    expect(await pass(3_600_000)).toEqual(['running', 'waiting']);
    expect(client.writes.slice(-2)).toEqual(['update-status pods default/unscheduled', 'delete pods default/unscheduled']);
  });

  test('on a node that is out of service go when that is said', async () => {
    const { client, pass } = await start([node('ill', false)], [pod('stuck', { nodeName: 'ill', deletedForSeconds: 30 }), pod('running', { nodeName: 'ill' })]);
    expect(await pass(60_000)).toEqual(['stuck', 'running']);
    await client.resource<Node>('', 'nodes').update('', 'ill', (found) => void Object.assign(found, node('ill', true)));
    expect(await pass(0)).toEqual(['running']);
  });

  test('on a node that is not there have their grace', async () => {
    const { pass } = await start([], [pod('short', { nodeName: 'gone', deletedForSeconds: 10 }), pod('long', { nodeName: 'gone', deletedForSeconds: 3600 })]);
    expect(await pass(9_999)).toEqual(['short', 'long']);
    expect(await pass(1)).toEqual(['long']);
    expect(await pass(30_000)).toEqual([]);
  });
});

test('pods whose node has gone are marked and removed, unless it comes back', async () => {
  const { client, pass } = await start(
    [node('one', false), node('two', false)],
    [pod('first', { nodeName: 'one' }), pod('second', { nodeName: 'two' }), pod('third', { nodeName: 'two', phase: 'Succeeded' })],
  );
  const seen: Pod[] = [];
  client.resource<Pod>('', 'pods').informer.onChange((object) => void (object && seen.push(object)));
  const nodes = client.resource<Node>('', 'nodes');
  await nodes.delete('', 'one');
  await nodes.delete('', 'two');
  expect(await pass(39_999)).toEqual(['first', 'second', 'third']);
  await nodes.create('', node('one', false));
  expect(await pass(1)).toEqual(['first']);
  expect(await pass(3_600_000)).toEqual(['first']);
  expect(seen.map(({ metadata, status }) => [metadata.name, status])).toEqual([
    [
      'second',
      {
        phase: 'Failed',
        observedGeneration: 2,
        conditions: [
          {
            type: 'DisruptionTarget',
            observedGeneration: 2,
            status: 'True',
            reason: 'DeletionByPodGC',
            message: 'PodGC: node no longer exists',
            lastProbeTime: null,
            lastTransitionTime: '2030-01-01T00:00:40Z',
          },
        ],
      },
    ],
  ]);
});
