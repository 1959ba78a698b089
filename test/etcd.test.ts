import { describe, expect, test, vi } from 'vitest';
import { RANGE, decodeRange, encodeRange } from '../src/storage/engines/etcd/messages.ts';
import { EtcdClient } from '../src/storage/engines/etcd/client.ts';
import type { TestList, TestObject } from './support/api-client.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { etcdFlags, startServerOnEtcd } from './support/etcd-server.ts';
import { belowFloor, readFloor, replayCorpus } from './support/oracle.ts';
import { CommandProcess, temporaryFolder } from './support/server.ts';

/* The whole server on etcd: alone, beside others, and when etcd goes. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const CLEAN_EXIT = { code: 0, signal: null };

/** The keys of a cluster that start so. */
async function keysUnder(endpoints: readonly string[], prefix: string): Promise<string[]> {
  const client = new EtcdClient({ endpoints });
  const { items } = decodeRange(await client.read(RANGE, encodeRange({ key: prefix, end: `${prefix}\uffff`, keysOnly: true })));
  client.close();
  return items.map(({ key }) => key);
}

describe.runIf(hasEtcd())('a server on etcd', () => {
  test('answers the recorded scenarios as on its own store', { timeout: 180_000 }, async () => {
    const { endpoints } = await startEtcd();
    const server = await startServerOnEtcd(endpoints);
    const { surface, ...scores } = await replayCorpus(server.url);
    expect(surface).toBeDefined();
    expect(belowFloor(scores, readFloor())).toEqual([]);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('two on one cluster see each other at once, and their watches tell the same story', async () => {
    const { endpoints } = await startEtcd();
    const servers = [await startServerOnEtcd(endpoints), await startServerOnEtcd(endpoints)];
    const [one, two] = servers.map((server) => server.client());
    const start = (await two!.get<TestList>(CONFIG_MAPS)).metadata.resourceVersion;
    const watches = await Promise.all([one!, two!].map((client) => client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${start}`)));
    for (let i = 0; i < 20; i++) {
      const made = await [one!, two!][i % 2]!.create(CONFIG_MAPS, { metadata: { name: `m-${i}` } });
      // A read without a version is as new as the store, through whichever server.
      const read = await [two!, one!][i % 2]!.get<TestObject>(`${CONFIG_MAPS}/m-${i}`);
      expect(read.metadata).toMatchObject({ uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion });
    }
    const stories = await Promise.all(
      watches.map(async (watch) => {
        const story: string[] = [];
        while (story.length < 20) {
          const event = await watch.next();
          story.push(`${event!.type} ${event!.object.metadata.name} ${event!.object.metadata.resourceVersion}`);
        }
        watch.stop();
        return story;
      }),
    );
    expect(stories[0]).toEqual(stories[1]);
    for (const server of servers) expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('one resource may live on another cluster', async () => {
    const [main, other] = [await startEtcd(), await startEtcd()];
    const server = await startServerOnEtcd(main.endpoints, { flags: [`--etcd-servers-overrides=/configmaps#${other.endpoints[0]}`] });
    const client = server.client();
    await client.create(CONFIG_MAPS, { metadata: { name: 'there' } });
    await client.create('/api/v1/namespaces/default/secrets', { metadata: { name: 'here' } });
    expect(await keysUnder(other.endpoints, '/registry/')).toContain('/registry/configmaps/default/there');
    const keys = await keysUnder(main.endpoints, '/registry/');
    expect(keys).toContain('/registry/secrets/default/here');
    expect(keys).not.toContain('/registry/configmaps/default/there');
    const checks = await client.send({ path: '/readyz?verbose' });
    expect(checks.text).toContain('[+]etcd-override-readiness-0 ok');
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('is not ready while etcd is gone, and is again after, its caches right', async () => {
    const cluster = await startEtcd();
    const server = await startServerOnEtcd(cluster.endpoints);
    const client = server.client();
    await client.create(CONFIG_MAPS, { metadata: { name: 'before' } });
    await cluster.members[0]!.kill();
    await vi.waitFor(async () => expect((await client.send({ path: '/readyz' })).status).toBe(500), { timeout: 10_000 });
    expect((await client.send({ path: `${CONFIG_MAPS}/before?resourceVersion=0` })).status).toBe(200);
    cluster.members[0]!.start();
    await vi.waitFor(async () => expect((await client.send({ path: '/readyz' })).status).toBe(200), { timeout: 20_000 });
    await client.create(CONFIG_MAPS, { metadata: { name: 'after' } });
    const { items } = await client.get<TestList>(CONFIG_MAPS);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['before', 'after']));
    const metrics = (await client.send({ path: '/metrics' })).text;
    const lineOf = (start: string): string | undefined => metrics.split('\n').find((line) => line.startsWith(start));
    expect(lineOf('etcd_requests_total{group="",operation="create",resource="configmaps"}')).toMatch(/ [1-9]\d*$/);
    const [range, watch] = [
      'grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"',
      'grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"',
    ];
    for (const family of ['started', 'msg_sent', 'msg_received'])
      for (const labels of [range, watch]) expect(lineOf(`grpc_client_${family}_total{${labels}}`)).toMatch(/ [1-9]\d*$/);
    for (const labels of [`grpc_code="OK",${range}`, `grpc_code="Unavailable",${range}`, `grpc_code="Unavailable",${watch}`])
      expect(lineOf(`grpc_client_handled_total{${labels}}`)).toMatch(/ [1-9]\d*$/);
    expect(lineOf('apiserver_storage_size_bytes{storage_cluster_id="etcd-0"}')).toMatch(/ [1-9]\d*$/);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('waits for etcd, and says so', async () => {
    const cluster = await startEtcd();
    await cluster.members[0]!.kill();
    const dataDir = temporaryFolder();
    const command = new CommandProcess([
      'serve',
      '--secure-port=0',
      `--data-dir=${dataDir}`,
      '--service-account-issuer=https://x',
      ...etcdFlags(cluster.endpoints, dataDir),
    ]);
    await command.line(/Waiting up to 20 s for etcd/);
    cluster.members[0]!.start();
    await command.line(/Serving url=/);
    expect(await command.stop()).toEqual(CLEAN_EXIT);
  });

  test('is told to stop while it waits, and stops', async () => {
    const dataDir = temporaryFolder();
    const nobody = 'http://127.0.0.1:1';
    const command = new CommandProcess([
      'serve',
      '--secure-port=0',
      `--data-dir=${dataDir}`,
      '--service-account-issuer=https://x',
      ...etcdFlags([nobody], dataDir),
    ]);
    await command.line(/Waiting up to 20 s for etcd/);
    const startMs = performance.now();
    expect(await command.stop()).toEqual(CLEAN_EXIT);
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
});
