import { expect, test, vi } from 'vitest';
import type { Lease } from '../../apis/facts/types/coordination-v1.ts';
import type { LeaseCandidate, LeaseCandidateSpec } from '../../apis/facts/types/coordination-v1beta1.ts';
import { FakeClient } from '../../client/fake-client.ts';
import { microTimeOf } from '../../util/time.ts';
import { electLeaders } from './controller.ts';

const NOW = new Date('2026-03-04T05:06:07.089Z');
const GROUP = 'coordination.k8s.io';

const candidate = (name: string, emulationVersion: string, spec: Partial<LeaseCandidateSpec> = {}): LeaseCandidate => ({
  kind: 'LeaseCandidate',
  apiVersion: `${GROUP}/v1beta1`,
  metadata: { name, namespace: 'kube-system' },
  spec: { leaseName: 'scheduler', binaryVersion: '1.36.0', emulationVersion, strategy: 'OldestEmulationVersion', renewTime: microTimeOf(NOW), ...spec },
});

function start() {
  const client = new FakeClient();
  const stop = new AbortController();
  const errors: string[] = [];
  const candidates = client.resource<LeaseCandidate>(GROUP, 'leasecandidates');
  return {
    client,
    candidates,
    errors,
    leaseOf: (name: string) => client.resource<Lease>(GROUP, 'leases').informer.get('kube-system', name)?.spec,
    stop: () => stop.abort(),
    run: () => electLeaders(client, { signal: stop.signal, now: () => NOW, report: ({ message }) => void errors.push(message) }),
  };
}

test('elects those that are there at the start, and tells a holder of a better one', async () => {
  const { candidates, leaseOf, run, stop } = start();
  await candidates.create('kube-system', candidate('a', '1.36.0'));
  await run();
  await vi.waitFor(() => expect(leaseOf('scheduler')).toMatchObject({ holderIdentity: 'a' }));
  await candidates.create('kube-system', candidate('b', '1.35.0'));
  await vi.waitFor(() => expect(leaseOf('scheduler')).toMatchObject({ holderIdentity: 'a', preferredHolder: 'b' }));
  stop();
});

test('a candidate that is asked is waited for, and elected when it answers', async () => {
  const { client, candidates, leaseOf, run, stop } = start();
  await candidates.create('kube-system', candidate('a', '1.36.0', { renewTime: microTimeOf(new Date(NOW.getTime() - 60_000)) }));
  await run();
  await vi.waitFor(() => expect(candidates.informer.get('kube-system', 'a')?.spec.pingTime).toBe(microTimeOf(NOW)));
  expect(client.writes).toEqual(['create leasecandidates kube-system/a', 'update leasecandidates kube-system/a']);
  await candidates.update('kube-system', 'a', ({ spec }) => void (spec.renewTime = microTimeOf(NOW)));
  await vi.waitFor(() => expect(leaseOf('scheduler')).toMatchObject({ holderIdentity: 'a' }));
  stop();
});

test('leases without candidates are left alone, and silent candidates go', async () => {
  const { client, candidates, errors, run, stop } = start();
  await candidates.create('kube-system', candidate('gone', '1.36.0', { renewTime: microTimeOf(new Date(NOW.getTime() - 31 * 60_000)) }));
  await run();
  await vi.waitFor(() => expect(candidates.informer.get('kube-system', 'gone')).toBeUndefined());
  const lease = { kind: 'Lease', apiVersion: `${GROUP}/v1`, metadata: { name: 'scheduler', namespace: 'kube-system' }, spec: {} };
  await client.resource<Lease>(GROUP, 'leases').create('kube-system', lease);
  await candidates.create('kube-system', candidate('other', '1.36.0', { leaseName: 'manager' }));
  await vi.waitFor(() => expect(client.writes).toContain('create leases kube-system/manager'));
  expect([client.writes.filter((write) => write.endsWith('leases kube-system/scheduler')), errors]).toEqual([['create leases kube-system/scheduler'], []]);
  stop();
});

test('candidates that do not agree are told of', async () => {
  const { candidates, errors, leaseOf, run, stop } = start();
  await candidates.create('kube-system', candidate('a', '1.36.0'));
  await candidates.create('kube-system', candidate('b', '1.36.0', { strategy: 'example.com/x' }));
  await run();
  await vi.waitFor(() => expect(errors).toEqual([expect.stringContaining('have the same binary version')]));
  expect(leaseOf('scheduler')).toBeUndefined();
  stop();
});
