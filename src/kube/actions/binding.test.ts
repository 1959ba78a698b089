import { expect, test } from 'vitest';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import { TestServer } from './test-server.ts';

const server = await TestServer.start();
const bindingOf = (name: string, target: object, metadata: object = {}) => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name, ...metadata }, target });
const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

test('a binding gives the pod its node, and says that it is scheduled', async () => {
  const namespace = await server.namespace();
  await server.pod(namespace, 'a');
  const dryRun = await server.send('POST', `${namespace}/pods/a/binding?dryRun=All`, bindingOf('a', { name: 'n1' }));
  expect([dryRun.status, dryRun.json()]).toEqual([201, SUCCESS]);
  expect((await server.get<Pod>(`${namespace}/pods/a`)).spec.nodeName).toBeUndefined();

  const answer = await server.send(
    'POST',
    `${namespace}/pods/a/binding`,
    bindingOf('a', { kind: 'Node', name: 'n1' }, { annotations: { why: 'room' }, labels: { zone: 'z' } }),
  );
  expect([answer.status, answer.json()]).toEqual([201, SUCCESS]);
  const pod = await server.get<Pod>(`${namespace}/pods/a`);
  expect(pod).toMatchObject({ metadata: { annotations: { why: 'room' }, labels: { zone: 'z' }, generation: 1 }, spec: { nodeName: 'n1' } });
  expect(pod.status.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True', lastProbeTime: null }]);

  const again = await server.send('POST', `${namespace}/pods/a/binding`, bindingOf('a', { name: 'n2' }));
  expect(again.json()).toMatchObject({
    code: 409,
    reason: 'Conflict',
    message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
    details: { name: 'a', kind: 'pods/binding' },
  });
});

test('bindings, from before subresources, do the same', async () => {
  const namespace = await server.namespace();
  await server.pod(namespace, 'a');
  const answer = await server.send('POST', `${namespace}/bindings`, bindingOf('a', { name: 'n1' }, { uid: 'of no account here' }));
  expect([answer.status, answer.json()]).toEqual([201, SUCCESS]);
  expect((await server.get<Pod>(`${namespace}/pods/a`)).spec.nodeName).toBe('n1');
});

test('what does not hold is refused', async () => {
  const namespace = await server.namespace();
  await server.pod(namespace, 'gated', { schedulingGates: [{ name: 'wait' }] });
  const post = async (name: string, body: object) =>
    (await server.send('POST', `${namespace}/pods/${name}/binding`, body)).json<{ code: number; message: string }>();
  expect(await post('gated', bindingOf('other', { name: 'n' }))).toMatchObject({ code: 400, message: 'name in URL does not match name in Binding object' });
  expect(await post('gated', bindingOf('gated', { kind: 'Pod' }))).toMatchObject({
    code: 500,
    message: '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]',
  });
  expect(await post('gated', bindingOf('gated', { name: 'n' }))).toMatchObject({
    code: 409,
    message: 'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
  });
  expect(await post('none', bindingOf('none', { name: 'n' }))).toMatchObject({ code: 404, message: 'pods "none" not found' });
  const stale = await post('gated', bindingOf('gated', { name: 'n' }, { uid: 'another' }));
  expect(stale.code).toBe(409);
  expect(stale.message).toMatch(
    /^Operation cannot be fulfilled on pods "gated": StorageError: invalid object, Code: 4, Key: .*: Precondition failed: UID in precondition: another, UID in object meta: /,
  );
});
