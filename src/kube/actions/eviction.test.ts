import { expect, test } from 'vitest';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import type { PodDisruptionBudget } from '../../apis/facts/types/policy-v1.ts';
import { TestServer } from './test-server.ts';

const server = await TestServer.start();
const LABELS = { app: 'x' };
const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

async function guarded(
  status: object,
  spec: object = {},
): Promise<{ namespace: string; budget: string; evict: (deleteOptions?: object, query?: string) => Promise<Record<string, unknown>> }> {
  const namespace = await server.namespace();
  await server.pod(namespace, 'a', { nodeName: 'n1' }, LABELS);
  await server.status(`${namespace}/pods/a`, READY);
  const budgets = `${namespace.replace('/api/v1', '/apis/policy/v1')}/poddisruptionbudgets`;
  await server.create(budgets, { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: LABELS }, ...spec } });
  await server.status(`${budgets}/b`, status);
  const evict = async (deleteOptions?: object, query = ''): Promise<Record<string, unknown>> =>
    (
      await server.send('POST', `${namespace}/pods/a/eviction${query}`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'a' },
        ...(deleteOptions && { deleteOptions }),
      })
    ).json();
  return { namespace, budget: `${budgets}/b`, evict };
}

const refusal = (message: string, retryAfterSeconds?: number) => ({
  code: 429,
  reason: 'TooManyRequests',
  message: "Cannot evict pod as it would violate the pod's disruption budget.",
  details: { causes: [{ reason: 'DisruptionBudget', message }], ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
});

test('an eviction takes one disruption off the budget, marks the pod, and deletes it', async () => {
  const { namespace, budget, evict } = await guarded({ observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 });
  expect(await evict(undefined, '?dryRun=All')).toEqual(SUCCESS);
  expect((await server.get<PodDisruptionBudget>(budget)).status.disruptionsAllowed).toBe(1);
  expect(await evict({ gracePeriodSeconds: 5 })).toEqual(SUCCESS);
  const { status } = await server.get<PodDisruptionBudget>(budget);
  expect(status).toMatchObject({
    disruptionsAllowed: 0,
    conditions: [{ type: 'DisruptionAllowed', status: 'False', observedGeneration: 1, reason: 'InsufficientPods', message: '' }],
  });
  expect(Object.keys(status.disruptedPods!)).toEqual(['a']);
  const pod = await server.get<Pod>(`${namespace}/pods/a`);
  expect(pod.metadata.deletionGracePeriodSeconds).toBe(5);
  expect(pod.status.conditions).toContainEqual(
    expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }),
  );
  // On its way, it needs no budget any more.
  expect(await evict()).toEqual(SUCCESS);
});

test('a budget that is not worked out yet asks to wait; one that is spent says why', async () => {
  const unseen = await guarded({ observedGeneration: 0, disruptionsAllowed: 1 });
  expect(await unseen.evict()).toMatchObject(refusal('The disruption budget b is still being processed by the server.', 10));
  const spent = await guarded({ observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 });
  const answer = await spent.evict();
  expect(answer).toMatchObject(refusal('The disruption budget b needs 1 healthy pods and has 1 currently'));
  expect(answer.details).not.toHaveProperty('retryAfterSeconds');
  expect((await server.get<Pod>(`${spent.namespace}/pods/a`)).metadata.deletionTimestamp).toBeUndefined();
});

test('a pod that is not ready goes where the budget lets it', async () => {
  const { namespace, evict, budget } = await guarded(
    { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 1 },
    { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  );
  await server.status(`${namespace}/pods/a`, { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
  expect(await evict()).toEqual(SUCCESS);
  expect((await server.get<PodDisruptionBudget>(budget)).status.disruptedPods).toBeUndefined();
});

test('of two budgets none is asked', async () => {
  const { namespace, evict } = await guarded({ observedGeneration: 1, disruptionsAllowed: 1 });
  await server.create(`${namespace.replace('/api/v1', '/apis/policy/v1')}/poddisruptionbudgets`, {
    metadata: { name: 'c' },
    spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
  });
  const answer = await evict();
  expect(answer).toMatchObject({
    code: 500,
    status: 'Failure',
    message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  });
  expect(answer).not.toHaveProperty('reason');
});

test('concurrent evictions never spend more than there is', async () => {
  const { namespace, budget } = await guarded({ observedGeneration: 1, disruptionsAllowed: 3, currentHealthy: 8, desiredHealthy: 5, expectedPods: 8 });
  const names = Array.from({ length: 8 }, (_, i) => `p${i}`);
  for (const name of names) {
    await server.pod(namespace, name, { nodeName: 'n1' }, LABELS);
    await server.status(`${namespace}/pods/${name}`, READY);
  }
  const answers = await Promise.all(names.map((name) => server.send('POST', `${namespace}/pods/${name}/eviction`, { metadata: { name } })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 429, 429, 429, 429, 429]);
  const { status } = await server.get<PodDisruptionBudget>(budget);
  expect([status.disruptionsAllowed, Object.keys(status.disruptedPods!).length]).toEqual([0, 3]);
});

test('preconditions, names and older bodies', async () => {
  const { evict, namespace } = await guarded({ observedGeneration: 1, disruptionsAllowed: 5, currentHealthy: 9, desiredHealthy: 1 });
  expect(await evict({ preconditions: { uid: 'another' } })).toMatchObject({
    code: 409,
    message: expect.stringMatching(/^Operation cannot be fulfilled on Pod "a": the UID in the precondition \(another\) does not match/),
  });
  const post = async (name: string, body: object) => (await server.send('POST', `${namespace}/pods/${name}/eviction`, body)).json<Record<string, unknown>>();
  expect(await post('a', { metadata: { name: 'b' } })).toMatchObject({ code: 400, message: 'name in URL does not match name in Eviction object' });
  expect(await post('none', { metadata: { name: 'none' } })).toMatchObject({ code: 404, message: 'pods "none" not found' });
  expect(await post('a', { apiVersion: 'policy/v1alpha1', kind: 'Eviction', metadata: { name: 'a' } })).toMatchObject({ code: 400 });
  expect(await post('a', { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'a' } })).toEqual(SUCCESS);
});
