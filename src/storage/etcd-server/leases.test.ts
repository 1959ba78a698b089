import { describe, expect, test, vi } from 'vitest';
import { FakeClock } from '../fake-clock.ts';
import { CallFailed, type TestClient } from './test-client.ts';
import { type TestStore, openStore } from './test-store.ts';

const clocked = async (): Promise<{ clock: FakeClock; store: TestStore }> => {
  const clock = new FakeClock();
  return { clock, store: await openStore({ clock }) };
};

const grant = async (client: TestClient, id: number, ttlSeconds: number): Promise<bigint> =>
  (await client.ask('Lease/LeaseGrant', { 1: ttlSeconds, 2: id })).big(2);

/** Its seconds, granted seconds and keys. */
async function timeToLive(client: TestClient, id: number | bigint): Promise<[number, number, string[]]> {
  const answer = await client.ask('Lease/LeaseTimeToLive', { 1: id, 2: true });
  return [answer.number(3), answer.number(4), answer.texts(5)];
}

const idsOf = async (client: TestClient): Promise<number[]> => (await client.ask('Lease/LeaseLeases', {})).messages(2).map((lease) => lease.number(1));
/** A store that is opened again has one key of its own, beside them. */
const keysOf = async (client: TestClient): Promise<string[]> => (await client.range('/', '0')).messages(2).map((item) => item.text(1));

async function keepAlive(client: TestClient, id: number): Promise<number> {
  const call = client.call('Lease/LeaseKeepAlive');
  call.send({ 1: id });
  const answer = await call.next();
  call.stream.end();
  await call.ended;
  return answer.number(3);
}

describe('leases', () => {
  test('are granted, listed, and refused', async () => {
    const { store } = await clocked();
    const { client } = store;
    expect(await grant(client, 7, 60)).toBe(7n);
    const chosen = await grant(client, 0, 60);
    expect(chosen > 0n).toBe(true);
    expect(await idsOf(client)).toHaveLength(2);
    await expect(grant(client, 7, 60)).rejects.toThrow('etcdserver: lease already exists');
    await expect(grant(client, 8, 9_000_000_001)).rejects.toThrow('etcdserver: too large lease TTL');
    await expect(client.ask('Lease/LeaseRevoke', { 1: 99 })).rejects.toThrow('etcdserver: requested lease not found');
    await expect(client.ask('Lease/LeaseRevoke', { 1: 99 })).rejects.toBeInstanceOf(CallFailed);
    expect(await timeToLive(client, 99)).toEqual([-1, 0, []]);
    expect(await keepAlive(client, 99)).toBe(0);
  });

  test('remove their keys when they end, and are gone', async () => {
    const { store, clock } = await clocked();
    const { client } = store;
    await grant(client, 1, 3_600);
    await grant(client, 7, 10);
    await client.put('/long', 'x', { 3: 1 });
    await client.put('/a', 'x', { 3: 7 });
    await client.put('/b', 'x', { 3: 7 });
    await client.put('/b', 'y');
    await client.put('/c', 'x');
    clock.pass(4_000);
    expect(await timeToLive(client, 7)).toEqual([6, 10, ['/a']]);
    clock.pass(6_000);
    await vi.waitFor(async () => expect(await keysOf(client)).toEqual(['/b', '/c', '/long']));
    // One that ends sooner than those before it is not waited for until they do.
    expect(await idsOf(client)).toEqual([1]);
    expect(await keepAlive(client, 7)).toBe(0);
  });

  test('that are kept alive keep their keys', async () => {
    const { store, clock } = await clocked();
    const { client } = store;
    await grant(client, 7, 10);
    await client.put('/a', 'x', { 3: 7 });
    for (let i = 0; i < 5; i++) {
      clock.pass(9_000);
      expect(await keepAlive(client, 7)).toBe(10);
    }
    expect(await keysOf(client)).toEqual(['/a']);
    clock.pass(10_000);
    await vi.waitFor(async () => expect(await keysOf(client)).toEqual([]));
  });

  test('that are kept alive at the last moment keep their keys, though the new time is not on disk yet', async () => {
    const { store, clock } = await clocked();
    const { client } = store;
    await grant(client, 7, 10);
    await client.put('/a', 'x', { 3: 7 });
    await client.put('/expires', 'x', { 3: await grant(client, 8, 10) });
    clock.pass(9_999);
    const kept = keepAlive(client, 7);
    await vi.waitFor(async () => expect((await timeToLive(client, 7))[0]).toBe(10));
    clock.pass(1);
    expect(await kept).toBe(10);
    await vi.waitFor(async () => expect(await keysOf(client)).toEqual(['/a']));
  });

  test('are revoked with their keys', async () => {
    const { store } = await clocked();
    const { client } = store;
    await grant(client, 7, 60);
    for (let i = 0; i < 20; i++) await client.put(`/a${i}`, 'x', { 3: 7 });
    await client.put('/b', 'x');
    await client.ask('Lease/LeaseRevoke', { 1: 7 });
    expect(await keysOf(client)).toEqual(['/b']);
    expect(await idsOf(client)).toEqual([]);
    await expect(client.put('/a', 'x', { 3: 7 })).rejects.toThrow('etcdserver: requested lease not found');
  });

  test('outlive a restart, with their keys and their time', async () => {
    const { store, clock } = await clocked();
    await grant(store.client, 7, 100);
    await grant(store.client, 8, 50);
    await grant(store.client, -5, 50);
    await store.client.put('/a', 'x', { 3: 7 });
    // Attached to one that ends sooner than the one before.
    await store.client.put('/a', 'y', { 3: 8 });
    await store.client.put('/negative', 'y', { 3: -5 });
    clock.pass(20_000);
    const { client } = await store.restart();
    expect((await idsOf(client)).toSorted((a, b) => a - b)).toEqual([-5, 7, 8]);
    expect(await timeToLive(client, 7)).toEqual([80, 100, []]);
    expect(await timeToLive(client, 8)).toEqual([30, 50, ['/a']]);
    expect((await client.range('/a', '')).lines(2)).toEqual(['/a=y 2/3/2 lease 8']);
    expect(await keepAlive(client, -5)).toBe(50);
    clock.pass(30_000);
    await vi.waitFor(async () => expect(await keysOf(client)).toEqual(['/negative']));
  });

  test('that ended while the store was down are gone when it is up', async () => {
    const { store, clock } = await clocked();
    await grant(store.client, 7, 10);
    await store.client.put('/a', 'x', { 3: 7 });
    const restarting = store.restart();
    clock.pass(60_000);
    const { client } = await restarting;
    await vi.waitFor(async () => expect(await keysOf(client)).toEqual([]));
    expect(await idsOf(client)).toEqual([]);
  });
});
