import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Lease } from '../src/apis/facts/types/coordination-v1.ts';
import type { LeaseCandidate, LeaseCandidateSpec } from '../src/apis/facts/types/coordination-v1beta1.ts';
import { microTimeOf } from '../src/util/time.ts';
import type { ApiClient } from './support/api-client.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* Coordinated leader election (KEP-4355): raw clients play candidates and holders, the server elects. */

const GROUP = '/apis/coordination.k8s.io';
const LEASES = `${GROUP}/v1/namespaces/default/leases`;
const candidatesIn = (version: string): string => `${GROUP}/${version}/namespaces/default/leasecandidates`;
const CANDIDATES = candidatesIn('v1beta1');
const OLDEST = 'OldestEmulationVersion';
/** An election takes five seconds where somebody does not answer. */
const PATIENCE = { timeout: 30_000, interval: 50 };
const now = (): string => microTimeOf(new Date());

describe('coordinated leader election', () => {
  let server: ServerProcess;
  let client: ApiClient;

  beforeAll(async () => {
    server = await startServer({
      flags: [
        '--feature-gates=CoordinatedLeaderElection=true',
        '--runtime-config=coordination.k8s.io/v1beta1=true,coordination.k8s.io/v1alpha2=true',
        '--coordinated-leadership-lease-duration=3s',
        '--coordinated-leadership-renew-deadline=2s',
        '--coordinated-leadership-retry-period=1s',
      ],
    });
    client = server.client();
  });

  afterAll(async () => {
    client.close();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  const nominate = (name: string, spec: Partial<LeaseCandidateSpec>, version = 'v1beta1'): Promise<unknown> =>
    client.create(candidatesIn(version), {
      metadata: { name },
      spec: { leaseName: 'app', binaryVersion: '1.36.0', emulationVersion: '1.36.0', strategy: OLDEST, renewTime: now(), ...spec },
    });

  const leaseSpec = async (name = 'app'): Promise<Lease['spec'] | undefined> => {
    const answer = await client.send({ path: `${LEASES}/${name}` });
    return answer.status === 200 ? answer.json<Lease>().spec : undefined;
  };

  const change = async <T extends object>(path: string, edit: (object: T) => void): Promise<void> => {
    const object = await client.get<T>(path);
    edit(object);
    const { status } = await client.send({ method: 'PUT', path, body: object });
    // The server writes too: who was late tries again at the next turn.
    expect([200, 409]).toContain(status);
  };

  /** What client-go's candidate does: says that it lives when it is asked. */
  async function answerPings(...names: string[]): Promise<void> {
    for (const name of names) {
      const { spec } = await client.get<LeaseCandidate>(`${CANDIDATES}/${name}`);
      if (spec.pingTime !== undefined && spec.renewTime! < spec.pingTime)
        await change<LeaseCandidate>(`${CANDIDATES}/${name}`, (candidate) => (candidate.spec.renewTime = now()));
    }
  }

  test('one server elects, under a lease of its own, and says so', async () => {
    const lease = (): Promise<Lease> => client.get<Lease>(`${GROUP}/v1/namespaces/kube-system/leases/leader-election-controller`);
    await expect.poll(async () => (await lease()).spec.leaseDurationSeconds, PATIENCE).toBe(3);
    const { text } = await client.expect(200, { path: '/metrics' });
    expect(text).toContain('leader_election_master_status{name="leader-election-controller"} 1');
    const { text: checks } = await client.expect(200, { path: '/readyz?verbose' });
    expect(checks).toContain('[+]poststarthook/start-kube-apiserver-coordinated-leader-election-controller ok');
  });

  test('a candidate is elected; a better one is preferred, and elected when the holder gives up', async () => {
    await nominate('newer', {});
    await expect.poll(() => leaseSpec(), PATIENCE).toMatchObject({ holderIdentity: 'newer', strategy: OLDEST, leaseDurationSeconds: 5 });
    await change<Lease>(`${LEASES}/app`, ({ spec }) => Object.assign(spec, { acquireTime: now(), renewTime: now(), leaseDurationSeconds: 600 }));
    await nominate('older', { emulationVersion: '1.35.0' }, 'v1alpha2');
    await expect
      .poll(async () => {
        await answerPings('newer', 'older');
        return leaseSpec();
      }, PATIENCE)
      .toMatchObject({ holderIdentity: 'newer', preferredHolder: 'older' });
    await change<Lease>(`${LEASES}/app`, ({ spec }) => Object.assign(spec, { holderIdentity: '' }));
    await expect
      .poll(async () => {
        await answerPings('newer', 'older');
        return leaseSpec();
      }, PATIENCE)
      .toMatchObject({ holderIdentity: 'older' });
    expect(await leaseSpec()).not.toHaveProperty('preferredHolder');
  });

  test('a holder that is silent loses its lease to a candidate that answers', async () => {
    await change<Lease>(`${LEASES}/app`, ({ spec }) => Object.assign(spec, { renewTime: now(), leaseDurationSeconds: 1 }));
    await expect
      .poll(async () => {
        await answerPings('newer');
        return leaseSpec();
      }, PATIENCE)
      .toMatchObject({ holderIdentity: 'newer' });
    const { spec } = await client.get<LeaseCandidate>(`${CANDIDATES}/older`);
    expect(spec.renewTime! < spec.pingTime!).toBe(true);
  });

  test('of a strategy of somebody else the lease is made, and no holder picked', async () => {
    await nominate('theirs', { leaseName: 'other', strategy: 'example.com/by-weight' });
    await expect.poll(() => leaseSpec('other'), PATIENCE).toMatchObject({ strategy: 'example.com/by-weight' });
    expect(await leaseSpec('other')).not.toHaveProperty('holderIdentity');
  });

  test('a candidate that was silent for half an hour is none', async () => {
    await nominate('stale', { leaseName: 'third', renewTime: microTimeOf(new Date(Date.now() - 31 * 60_000)) });
    await nominate('last', { leaseName: 'fourth' });
    await expect.poll(() => leaseSpec('fourth'), PATIENCE).toMatchObject({ holderIdentity: 'last' });
    expect(await leaseSpec('third')).toBeUndefined();
  });
});

test('without its version the gate elects nobody, and says why', async () => {
  const server = await startServer({ flags: ['--feature-gates=CoordinatedLeaderElection=true'] });
  const client = server.client();
  await server.line(/No leaders are elected: coordination.k8s.io\/v1beta1 is not served/);
  expect((await client.send({ path: CANDIDATES })).status).toBe(404);
  client.close();
  await server.stop();
});
