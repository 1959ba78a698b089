import { describe, expect, test, vi } from 'vitest';
import { FakeClock } from '../fake-clock.ts';
import type { Answer, Message, TestCall, TestClient } from './test-client.ts';
import { openStore } from './test-store.ts';

const NO_PUT = 0;
const NO_DELETE = 1;
const MIB = 1024 * 1024;

/** `put /a=x 2/2/1 before …`, of each event. */
const eventsOf = (answer: Answer): string[] =>
  answer.messages(11).map((event) => {
    const before = event.lines(3).map((line) => ` before ${line}`);
    return `${event.number(1) === 1 ? 'delete' : 'put'} ${event.messages(2)[0]!.line}${before.join('')}`;
  });

const create = (call: TestCall, key: string, more: Message = {}): void => call.send({ 1: { 1: key, ...more } });

/** The watch and the answer that says that it has begun. */
async function watch(client: TestClient, key: string, more: Message = {}): Promise<TestCall> {
  const call = client.call('Watch/Watch');
  create(call, key, more);
  expect((await call.next()).number(3)).toBe(1);
  return call;
}

/** Until so many events have come; also the largest message's bytes. */
async function events(call: TestCall, count: number): Promise<string[]> {
  const lines: string[] = [];
  while (lines.length < count) lines.push(...eventsOf(await call.next()));
  return lines;
}

describe('watches', () => {
  test('tell changes of a key, an interval, all keys, with what was before', async () => {
    const { client } = await openStore();
    const one = await watch(client, '/b');
    const some = await watch(client, '/a', { 2: '/c', 6: true });
    const all = await watch(client, '');
    await client.put('/a', '1');
    await client.put('/b', '2');
    await client.put('/b', '3');
    await client.put('/c', '4');
    await client.ask('KV/DeleteRange', { 1: '/b' });
    expect(await events(one, 3)).toEqual(['put /b=2 3/3/1', 'put /b=3 3/4/2', 'delete /b= 0/6/0']);
    expect(await events(some, 4)).toEqual(['put /a=1 2/2/1', 'put /b=2 3/3/1', 'put /b=3 3/4/2 before /b=2 3/3/1', 'delete /b= 0/6/0 before /b=3 3/4/2']);
    // No key at all is one of zero length, as in etcd: `etcdctl watch ""` is answered, and told of nothing.
    expect(all.waiting).toBe(0);
    const everything = await watch(client, '\0', { 2: '\0', 3: 1 });
    expect(await events(everything, 5)).toHaveLength(5);
  });

  test('leave out puts or removals', async () => {
    const { client } = await openStore();
    const removals = await watch(client, '/a', { 5: NO_PUT });
    const puts = await watch(client, '/a', { 5: Buffer.from([NO_DELETE]) });
    await client.put('/a', '1');
    await client.ask('KV/DeleteRange', { 1: '/a' });
    await client.put('/a', '2');
    await client.ask('KV/DeleteRange', { 1: '/a' });
    expect(await events(removals, 2)).toEqual(['delete /a= 0/3/0', 'delete /a= 0/5/0']);
    expect(await events(puts, 2)).toEqual(['put /a=1 2/2/1', 'put /a=2 4/4/1']);
  });

  test('begin in the past or in the future, and tell of leases', async () => {
    const { client } = await openStore();
    await client.ask('Lease/LeaseGrant', { 1: 60, 2: 7 });
    for (let i = 0; i < 4; i++) await client.put('/a', String(i), i === 2 ? { 3: 7 } : {});
    const past = await watch(client, '/a', { 3: 3 });
    expect(await events(past, 3)).toEqual(['put /a=1 2/3/2', 'put /a=2 2/4/3 lease 7', 'put /a=3 2/5/4']);
    const future = await watch(client, '/a', { 3: 7 });
    await client.put('/a', '4');
    await client.put('/a', '5');
    expect(await events(future, 1)).toEqual(['put /a=5 2/7/6']);
  });

  test('that begin before what is kept are told so', async () => {
    const { client } = await openStore();
    for (let i = 0; i < 4; i++) await client.put('/a', String(i));
    await client.ask('KV/Compact', { 1: 4 });
    const call = await watch(client, '/a', { 3: 2 });
    const canceled = await call.next();
    expect([canceled.number(4), canceled.number(5), canceled.text(6)]).toEqual([1, 5, 'etcdserver: mvcc: required revision has been compacted']);
    create(call, '/a', { 3: 5 });
    expect((await call.next()).number(3)).toBe(1);
    expect(await events(call, 1)).toEqual(['put /a=3 2/5/4']);
  });

  test('several on one stream have numbers, their own or given ones, and are canceled one by one', async () => {
    const { client } = await openStore();
    const call = client.call('Watch/Watch');
    for (const message of [{}, { 7: 5 }, {}, { 7: 5 }] as Message[]) create(call, '/a', message);
    const created = [await call.next(), await call.next(), await call.next(), await call.next()];
    expect(created.map((answer) => [answer.number(2), answer.number(4)])).toEqual([
      [0, 0],
      [5, 0],
      [1, 0],
      [-1, 1],
    ]);
    expect(created[3]!.text(6)).toBe('etcdserver: duplicate watch ID provided on the WatchStream');
    call.send({ 2: { 1: 5 } });
    const canceled = await call.next();
    expect([canceled.number(2), canceled.number(4), canceled.text(6)]).toEqual([5, 1, '']);
    await client.put('/a', 'x');
    expect([(await call.next()).number(2), (await call.next()).number(2)]).toEqual([0, 1]);
    call.send({ 2: { 1: 99 } });
    call.send({ 3: {} });
    const progress = await call.next();
    expect([progress.big(2), progress.revision, progress.messages(11).length]).toEqual([-1n, 2, 0]);
    call.stream.end();
    await call.ended;
  });

  test('progress is told every ten minutes where that is asked for', async () => {
    const clock = new FakeClock();
    const { client } = await openStore({ clock });
    const call = await watch(client, '/a', { 4: true });
    await client.put('/b', 'x');
    clock.pass(10 * 60 * 1_000);
    const progress = await call.next();
    expect([progress.number(2), progress.revision, progress.messages(11).length]).toEqual([0, 2, 0]);
  });

  test('a request that is none ends the stream with the reason', async () => {
    const { client } = await openStore();
    const call = client.call('Watch/Watch');
    call.send({ 1: { 1: Buffer.from([0xff]) } });
    await expect(call.ended).rejects.toThrow('binnacle: keys that are not UTF-8 are not supported');
    await client.put('/after', 'x');
  });
});

describe('a client that does not read', () => {
  const HISTORY = { minEvents: 10, maxEvents: Infinity, maxBytes: 16 * MIB };
  const value = (index: number): Buffer => Buffer.alloc(100 * 1024, String(index % 10));

  test('while 100 MB are written: memory stays bounded, and it is told that it missed them', async () => {
    const { client, engine } = await openStore({ history: HISTORY });
    const call = await watch(client, '/a', { 6: true });
    call.stream.pause();
    const before = process.memoryUsage();
    let mostBytes = 0;
    for (let i = 0; i < 1_000; i++) {
      const stored = await engine.get('/a');
      await engine.commit({ type: 'put', key: '/a', value: value(i), expected: stored?.revision ?? 0 });
      const { arrayBuffers } = process.memoryUsage();
      mostBytes = Math.max(mostBytes, arrayBuffers - before.arrayBuffers);
    }
    // History, what V8 has not collected of it yet, and windows of the connection; not the 200 MB of values and of those before them.
    expect(mostBytes).toBeLessThan(120 * MIB);
    call.stream.resume();
    let last = await call.next();
    while (last.number(4) === 0) last = await call.next();
    expect([last.number(5) > 1, last.text(6)]).toEqual([true, 'etcdserver: mvcc: required revision has been compacted']);
  });

  test('gets every change once it reads, in messages of a bounded size, where they are still kept', async () => {
    const { client } = await openStore({ history: HISTORY });
    const call = await watch(client, '/', { 2: '0', 8: true });
    call.stream.pause();
    const count = 60;
    for (let i = 0; i < count; i++) await client.put(`/a${i}`, value(i));
    call.send({ 3: {} });
    call.stream.resume();
    const keys: string[] = [];
    let answer = await call.next();
    // Progress that was asked for comes behind the changes that it speaks of.
    while (answer.big(2) !== -1n) {
      const found = answer.messages(11).map((event) => event.messages(2)[0]!);
      expect(found.reduce((sum, item) => sum + item.bytes(5).length, 0)).toBeLessThanOrEqual(MIB);
      expect(answer.number(7)).toBe(0);
      keys.push(...found.map((item) => item.text(1)));
      answer = await call.next();
    }
    expect(answer.revision).toBe(count + 1);
    expect(keys).toEqual(Array.from({ length: count }, (_, i) => `/a${i}`));
  });

  test('holds up nobody else', async () => {
    const { client } = await openStore({ history: HISTORY });
    const slow = await watch(client, '/', { 2: '0' });
    slow.stream.pause();
    const quick = await watch(client, '/', { 2: '0' });
    for (let i = 0; i < 60; i++) {
      await client.put('/a', value(i));
      expect(await events(quick, 1)).toHaveLength(1);
    }
    slow.stream.destroy();
    await vi.waitFor(() => expect(slow.stream.destroyed).toBe(true));
    await client.put('/a', 'last');
    expect(await events(quick, 1)).toHaveLength(1);
  });
});
