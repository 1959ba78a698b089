import { type Socket, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { serverIdentity } from '../src/api/server-identity.ts';
import type { ApiClient, TestList } from './support/api-client.ts';
import { type EtcdCluster, hasEtcd, startEtcd } from './support/etcd.ts';
import { freePorts } from './support/free-ports.ts';
import { type PeerServer, peerClient, startPeerServer } from './support/peer-servers.ts';

/* Servers of different versions on one etcd (KEP-4020): what only one of them serves is had through each. */

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** Only the newer one serves these. */
const CANDIDATES = '/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates';
/** Only the older one serves these. */
const ADDRESSES = '/apis/networking.k8s.io/v1beta1/ipaddresses';
/** A server that has just come says where it is with its next heartbeat. */
const PATIENCE = { timeout: 60_000, interval: 100 };
const CANDIDATE = { leaseName: 'app', binaryVersion: '1.36.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion' };
const NEWER = ['--runtime-config=coordination.k8s.io/v1beta1=true'];
/** In 1.34 the gate was alpha. */
const OLD = ['--emulated-version=1.34', '--feature-gates=UnknownVersionInteroperabilityProxy=true'];
const OLDER = [...OLD, '--runtime-config=networking.k8s.io/v1beta1=true'];

interface Groups {
  items: { metadata: { name: string }; versions: { version: string }[] }[];
}

const versionsAt = async (client: ApiClient, accept = DISCOVERY): Promise<string[]> => {
  const { items } = (await client.expect(200, { path: '/apis', headers: { accept } })).json<Groups>();
  return items.flatMap(({ metadata, versions }) => versions.map(({ version }) => `${metadata.name}/${version}`));
};

const statusOf = async (client: ApiClient, path: string): Promise<number> => (await client.send({ path })).status;

describe.runIf(hasEtcd())('two servers of different versions', () => {
  let cluster: EtcdCluster;
  let newer: PeerServer;
  let older: PeerServer;

  beforeAll(async () => {
    cluster = await startEtcd();
    [newer, older] = await Promise.all([
      startPeerServer(cluster.endpoints, { hostName: 'newer', flags: NEWER }),
      startPeerServer(cluster.endpoints, { hostName: 'older', flags: OLDER }),
    ]);
    await vi.waitFor(async () => expect([await statusOf(older.client, CANDIDATES), await statusOf(newer.client, ADDRESSES)]).toEqual([200, 200]), PATIENCE);
  }, PATIENCE.timeout);

  afterAll(async () => {
    for (const { client, process } of [newer, older]) {
      client.close();
      expect(await process.stop()).toEqual({ code: 0, signal: null });
    }
  });

  test('requests are answered by the one that can, and as the user’s own', async () => {
    const made = await older.client.create(CANDIDATES, { metadata: { name: 'one' }, spec: CANDIDATE });
    expect((await newer.client.get(`${CANDIDATES}/one`)).metadata.uid).toBe(made.metadata.uid);
    const alice = peerClient(older.process.port, 'alice');
    const refused = await alice.send({ path: CANDIDATES });
    expect([refused.status, refused.json<{ message: string }>().message]).toEqual([
      403,
      expect.stringContaining('User "alice" cannot list resource "leasecandidates"'),
    ]);
    alice.close();
    expect((await newer.client.get<TestList>(ADDRESSES)).kind).toBe('IPAddressList');
  });

  test('a watch through the other one follows', async () => {
    const watch = await older.client.watch(`${CANDIDATES}?watch=true`);
    await newer.client.create(CANDIDATES, { metadata: { name: 'two' }, spec: CANDIDATE });
    for (let event = await watch.next(); event?.object.metadata.name !== 'two'; event = await watch.next()) expect(event).toBeDefined();
    watch.response.destroy();
  });

  test('a request that was sent on once is not sent on again, and what nobody has is nobody’s', async () => {
    const answer = await older.client.send({ path: CANDIDATES, headers: { 'x-kubernetes-peer-proxied': 'true' } });
    expect(answer.status).toBe(404);
    expect(await statusOf(older.client, '/apis/coordination.k8s.io/v1beta1/namespaces/default/things')).toBe(404);
    expect(await statusOf(older.client, '/apis/example.com/v1/things')).toBe(404);
  });

  test('discovery tells what either has, and on request what this one has', async () => {
    for (const client of [newer.client, older.client])
      expect(await versionsAt(client)).toEqual(expect.arrayContaining(['coordination.k8s.io/v1beta1', 'networking.k8s.io/v1beta1']));
    const own = await versionsAt(older.client, `${DISCOVERY};profile=nopeer`);
    expect([own.includes('coordination.k8s.io/v1beta1'), own.includes('networking.k8s.io/v1beta1')]).toEqual([false, true]);
    const protobuf = await older.client.send({ path: '/apis', headers: { accept: DISCOVERY.replace('json', 'vnd.kubernetes.protobuf') } });
    expect(protobuf.body.includes('leasecandidates')).toBe(true);
  });

  test('definitions are every server’s own', async () => {
    const names = { plural: 'toys', singular: 'toy', kind: 'Toy', listKind: 'ToyList' };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await newer.client.create(path, { metadata: { name: 'toys.example.com' }, spec: { group: 'example.com', scope: 'Namespaced', names, versions } });
    await expect.poll(() => statusOf(older.client, '/apis/example.com/v1/toys'), PATIENCE).toBe(200);
    const { text } = await older.client.expect(200, { path: '/metrics' });
    expect(text).not.toMatch(/apiserver_rerouted_request_total\{[^}]*resource="toys"/);
  });

  test('what was sent on is counted', async () => {
    const { text } = await older.client.expect(200, { path: '/metrics' });
    expect(text).toMatch(/apiserver_rerouted_request_total\{code="200",group="coordination.k8s.io",resource="leasecandidates",version="v1beta1"\} [1-9]/);
    expect(text).toMatch(/apiserver_rerouted_request_total\{code="200",group="",resource="",version=""\} [1-9]/);
    expect(text).toMatch(/aggregator_discovery_peer_aggregated_cache_misses_total [1-9]/);
    const counted = text.split('\n').filter((line) => line.startsWith('apiserver_request_total{code="20') && line.includes('resource="leasecandidates"'));
    expect(counted).toEqual([]);
  });

  test('leases say where each is reached', async () => {
    const { metadata } = await newer.client.get(`/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${serverIdentity('older', 'kube-apiserver')}`);
    expect(metadata.annotations?.['kubernetes.io/peer-advertise-address']).toBe(`127.0.0.1:${older.process.port}`);
  });

  test('one that hangs costs a request its time, and no more', async () => {
    newer.process.signal('SIGSTOP');
    try {
      const { status } = await older.client.send({ path: `${CANDIDATES}?timeout=1s` });
      // 503 where it had not renewed in time what it says of itself.
      expect([503, 504]).toContain(status);
      expect(await statusOf(older.client, '/apis/coordination.k8s.io/v1/leases')).toBe(200);
    } finally {
      newer.process.signal('SIGCONT');
    }
    await expect.poll(() => statusOf(older.client, CANDIDATES), PATIENCE).toBe(200);
  });

  test('one that was killed is missed, and found when it is back', async () => {
    const { port } = newer.process;
    await newer.process.kill();
    const first = await older.client.send({ path: CANDIDATES });
    // A server that has no time to renew what it says of itself is forgotten before it is killed.
    expect([first.status, first.text]).toEqual([
      503,
      expect.stringMatching(/^error trying to reach service: dial tcp 127.0.0.1:\d+: connect: connection refused\n$|Error getting ip/),
    ]);
    // Where it was is forgotten after fifteen seconds, and that it was after an hour.
    await expect
      .poll(async () => (await older.client.send({ path: CANDIDATES })).text, PATIENCE)
      .toContain('Error getting ip and port info of the remote server while proxying');
    const { text } = await older.client.expect(200, { path: '/metrics' });
    expect(text).toContain(
      'apiserver_peer_proxy_errors_total{group="coordination.k8s.io",resource="leasecandidates",type="endpoint_resolution",version="v1beta1"}',
    );
    newer.client.close();
    newer = await startPeerServer(cluster.endpoints, { hostName: 'newer', flags: NEWER, port });
    await expect.poll(() => statusOf(older.client, CANDIDATES), PATIENCE).toBe(200);
  });
});

describe.runIf(hasEtcd())('a server that', () => {
  let cluster: EtcdCluster;
  let newer: PeerServer;
  let port: number;
  const others: PeerServer[] = [];

  /** Has the newer one for a peer; what it does not trust, or is not trusted by, leaves it alone. */
  async function start(options: Partial<Parameters<typeof startPeerServer>[1]> = {}): Promise<PeerServer> {
    const server = await startPeerServer(cluster.endpoints, { hostName: `other-${others.length}`, flags: OLD, ...options });
    others.push(server);
    return server;
  }

  const syncErrors = async ({ client }: PeerServer): Promise<string> => (await client.expect(200, { path: '/metrics' })).text;

  beforeAll(async () => {
    cluster = await startEtcd();
    [port] = (await freePorts(1)) as [number];
    newer = await startPeerServer(cluster.endpoints, {
      hostName: 'newer',
      flags: [...NEWER, '--peer-advertise-ip=127.0.0.1', `--peer-advertise-port=${port}`],
    });
  });

  afterAll(async () => {
    for (const { client, process } of [newer, ...others]) {
      client.close();
      await process.stop();
    }
  });

  test('is advertised where nobody answers leaves others as they are', async () => {
    const server = await start();
    await expect.poll(() => syncErrors(server), PATIENCE).toMatch(/apiserver_peer_discovery_sync_errors_total\{type="fetch_discovery"\} [1-9]/);
    expect(await statusOf(server.client, CANDIDATES)).toBe(404);
  });

  test('is slow to say what it has holds up nobody', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => void silent.listen(port, '127.0.0.1', resolve));
    const server = await start();
    expect(await statusOf(server.client, CANDIDATES)).toBe(404);
    expect((await versionsAt(server.client)).includes('apps/v1')).toBe(true);
    expect(await server.process.stop()).toEqual({ code: 0, signal: null });
    silent.close();
    for (const socket of sockets) socket.destroy();
  });

  test('has a certificate of another authority is not asked', async () => {
    newer.client.close();
    await newer.process.stop();
    newer = await startPeerServer(cluster.endpoints, { hostName: 'newer', flags: NEWER });
    const server = await start({ trustsStrangers: true });
    await server.process.line(/does not say what it serves.*x509: certificate signed by unknown authority/);
    expect(await statusOf(server.client, CANDIDATES)).toBe(404);
  });

  test('does not believe who asks leaves it without', async () => {
    const server = await start({ proxyName: 'somebody-else' });
    await server.process.line(/does not say what it serves: discovery request failed with status: 40[13]/);
    expect(await statusOf(server.client, CANDIDATES)).toBe(404);
  });
});
