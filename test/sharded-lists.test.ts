import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient, TestObject } from './support/api-client.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* ShardedListAndWatch: lists and watches of a part of a collection, by the hash of uids or namespaces. */

const MAPS = '/api/v1/namespaces/default/configmaps';
const range = (from: string, to: string): string => `shardRange(object.metadata.uid, '${from}', '${to}')`;
const LOWER = range('0x0000000000000000', '0x8000000000000000');
const UPPER = range('0x8000000000000000', '0x10000000000000000');
const query = (selector: string): string => `shardSelector=${encodeURIComponent(selector)}`;

interface Sharded {
  metadata: { shardInfo?: { selector: string }; continue?: string };
  items: TestObject[];
}

let server: ServerProcess;
let client: ApiClient;
beforeAll(async () => {
  server = await startServer({ flags: ['--feature-gates=ShardedListAndWatch=true'] });
  client = server.client();
  for (let i = 0; i < 40; i++) await client.create(MAPS, { metadata: { name: `map-${i}`, labels: { parity: i % 2 === 0 ? 'even' : 'odd' } } });
});
afterAll(() => server.stop());

const list = async (path: string): Promise<Sharded> => (await client.expect(200, { path })).json() as unknown as Sharded;
const names = ({ items }: Sharded): string[] => items.map(({ metadata }) => metadata.name).toSorted();

test('shards are parts of the whole, and say which', async () => {
  const [whole, lower, upper] = await Promise.all([list(MAPS), list(`${MAPS}?${query(LOWER)}`), list(`${MAPS}?${query(UPPER)}`)]);
  expect(lower.metadata.shardInfo).toEqual({ selector: LOWER });
  expect(whole.metadata.shardInfo).toBeUndefined();
  expect(lower.items.length).toBeGreaterThan(0);
  expect(upper.items.length).toBeGreaterThan(0);
  expect([...names(lower), ...names(upper)].toSorted()).toEqual(names(whole));
});

test('other selectors, pages, tables and metadata go with them', async () => {
  const lower = names(await list(`${MAPS}?${query(LOWER)}`));
  const even = names(await list(`${MAPS}?${query(LOWER)}&labelSelector=parity%3Deven`));
  expect(even.every((name) => lower.includes(name))).toBe(true);
  const first = await list(`${MAPS}?${query(LOWER)}&limit=3`);
  const second = await list(`${MAPS}?${query(LOWER)}&limit=500&continue=${first.metadata.continue}`);
  expect([...names(first), ...names(second)].toSorted()).toEqual(lower);
  const table = (
    await client.expect(200, { path: `${MAPS}?${query(LOWER)}`, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } })
  ).json() as unknown as { rows: unknown[]; metadata: { shardInfo: unknown } };
  expect(table.rows).toHaveLength(lower.length);
  expect(table.metadata.shardInfo).toEqual({ selector: LOWER });
  const protobuf = await client.expect(200, { path: `${MAPS}?${query(LOWER)}`, headers: { accept: 'application/vnd.kubernetes.protobuf' } });
  expect(protobuf.body.toString('latin1')).toContain(LOWER);
});

test('watches are told of their shard only', async () => {
  const watch = await client.watch(
    `${MAPS}?watch=1&resourceVersion=${(await client.get<Sharded & { metadata: { resourceVersion: string } }>(MAPS)).metadata.resourceVersion}&${query(LOWER)}`,
  );
  for (let i = 0; i < 10; i++) await client.create(MAPS, { metadata: { name: `watched-${i}` } });
  const lower = names(await list(`${MAPS}?${query(LOWER)}`)).filter((name) => name.startsWith('watched-'));
  const metrics = (await client.send({ path: '/metrics' })).body.toString();
  expect(metrics).toContain('apiserver_watch_shards_total{group="",resource="configmaps"} 1\n');
  expect(metrics).toContain(`apiserver_watch_filtered_events_total{group="",resource="configmaps"} ${10 - lower.length}\n`);
  const seen = (await watch.take(lower.length)).map(({ object }) => object.metadata.name).toSorted();
  expect(seen).toEqual(lower);
  watch.stop();
  await expect
    .poll(async () => (await client.send({ path: '/metrics' })).body.toString())
    .toContain('apiserver_watch_shards_total{group="",resource="configmaps"} 0\n');
});

test('a selector that says nothing is refused', async () => {
  const refused = (await client.expect(500, { path: `${MAPS}?${query(range('0x0', '0x8000000000000000'))}` })).json();
  expect(refused).toMatchObject({
    message: 'invalid shard selector: hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)',
  });
});

test('without its gate the selector is not looked at', async () => {
  const plain = await startServer();
  const found = (await plain.client().expect(200, { path: `/api/v1/namespaces?${query('nonsense')}` })).json() as unknown as Sharded;
  expect(found.items.length).toBeGreaterThan(0);
  await plain.stop();
});
