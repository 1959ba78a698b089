import { expect, test, vi } from 'vitest';
import { FakeClient } from '../client/fake-client.ts';
import type { ApiObject } from '../api/api-object.ts';
import { LEASE_NAME, Leadership } from './leadership.ts';

const TIMES = { leaseMs: 1_000, renewWithinMs: 300, retryMs: 10 };

interface Server {
  /** How many terms have begun, and whether one is under way. */
  readonly terms: { count: number; isLeading: boolean };
  readonly started: Promise<void>;
  stop(): void;
}

function startServer(client: FakeClient): Server {
  const stop = new AbortController();
  const terms = { count: 0, isLeading: false };
  const leadership = new Leadership(client, { report: () => undefined, now: () => new Date(), times: TIMES });
  const started = leadership.lead(stop.signal, async (signal) => {
    Object.assign(terms, { count: terms.count + 1, isLeading: true });
    signal.addEventListener('abort', () => (terms.isLeading = false));
  });
  return { terms, started, stop: () => stop.abort() };
}

const leaseIn = (client: FakeClient): Record<string, unknown> =>
  client.resource<ApiObject & { spec: Record<string, unknown> }>('coordination.k8s.io', 'leases').informer.get('kube-system', LEASE_NAME)!.spec;

test('one of two works; when it goes, the other does', async () => {
  const client = new FakeClient();
  const first = startServer(client);
  await first.started;
  expect(first.terms).toEqual({ count: 1, isLeading: true });
  const second = startServer(client);
  await second.started;
  expect(second.terms).toEqual({ count: 0, isLeading: false });
  first.stop();
  await vi.waitFor(() => expect(second.terms).toEqual({ count: 1, isLeading: true }));
  expect(first.terms.isLeading).toBe(false);
  expect(leaseIn(client)).toMatchObject({ leaseDurationSeconds: 1, leaseTransitions: 1 });
  second.stop();
  await vi.waitFor(() => expect(leaseIn(client)['holderIdentity']).toBe(''));
});

test('one that says nothing for the time of its lease is succeeded', async () => {
  const client = new FakeClient();
  const spec = { holderIdentity: 'dead', leaseDurationSeconds: 1, leaseTransitions: 4 };
  const lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: LEASE_NAME }, spec };
  await client.resource('coordination.k8s.io', 'leases').create('kube-system', lease as ApiObject);
  const server = startServer(client);
  await server.started;
  expect(server.terms.count).toBe(0);
  await vi.waitFor(() => expect(server.terms.isLeading).toBe(true), { timeout: 5_000 });
  expect(leaseIn(client)['leaseTransitions']).toBe(5);
  server.stop();
});

test('one that cannot renew stops, and begins anew when it can', async () => {
  const client = new FakeClient();
  const server = startServer(client);
  await server.started;
  const leases = client.resource('coordination.k8s.io', 'leases');
  const broken = vi.spyOn(leases, 'update').mockImplementation(() => Promise.reject(new Error('the store is away')));
  await vi.waitFor(() => expect(server.terms.isLeading).toBe(false));
  broken.mockRestore();
  await vi.waitFor(() => expect(server.terms).toEqual({ count: 2, isLeading: true }));
  server.stop();
});
