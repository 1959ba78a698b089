import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { FakeClock } from '../fake-clock.ts';
import { readBolt } from './test-bolt-reader.ts';
import { Answer, type TestClient } from './test-client.ts';
import { openStore } from './test-store.ts';

const isLinux = process.platform === 'linux';

/** Files that this process has open, whose names are gone. */
const openSnapshots = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('/snapshot-');
    } catch {
      return false;
    }
  }).length;

interface ReadSnapshot {
  revision: number;
  /** `/a=x 2/2/1`, in the order of their keys. */
  lines: string[];
  revisions: number[];
  buckets: Map<string, [Buffer, Buffer][]>;
}

/** All pieces, their order and their checksum checked as etcdctl does. */
async function download(client: TestClient): Promise<{ file: Buffer; revision: number }> {
  const call = client.call('Maintenance/Snapshot');
  call.send({});
  call.stream.end();
  const pieces: Buffer[] = [];
  let last = await call.next();
  for (let left = Infinity; ; last = await call.next()) {
    pieces.push(last.bytes(3));
    expect(last.number(2)).toBeLessThan(left);
    if (last.number(2) === 0 && last.bytes(3).length === 32) break;
    left = last.number(2) || 1;
  }
  await call.ended;
  const file = Buffer.concat(pieces.slice(0, -1));
  expect(createHash('sha256').update(file).digest().equals(pieces.at(-1)!)).toBe(true);
  expect(file.length % 512).toBe(0);
  return { file, revision: last.revision };
}

async function snapshot(client: TestClient): Promise<ReadSnapshot> {
  const { file, revision } = await download(client);
  const buckets = readBolt(file);
  const entries = buckets.get('key')!.filter(([key]) => key.length === 17);
  const items = entries.map(([, value]) => new Answer(value));
  const revisions = buckets.get('key')!.map(([key]) => Number(key.readBigUInt64BE(0)));
  for (const [index, item] of items.entries()) expect(item.number(3)).toBe(revisions[index]);
  return { revision, revisions, buckets, lines: items.toSorted((a, b) => (a.text(1) < b.text(1) ? -1 : 1)).map(({ line }) => line) };
}

describe('a snapshot', () => {
  test('has every key as it is, and the revision', async () => {
    const { client } = await openStore();
    await client.put('/a', '1');
    await client.put('/large', 'x'.repeat(1_000_000));
    await client.put('/a', '2');
    await client.put('/gone', 'x');
    const before = await snapshot(client);
    expect([before.revision, before.revisions]).toEqual([5, [3, 4, 5]]);
    await client.ask('KV/DeleteRange', { 1: '/gone' });
    const after = await snapshot(client);
    expect([after.revision, after.revisions]).toEqual([6, [3, 4, 6]]);
    expect(after.lines).toEqual((await client.range('\0', '\0')).lines(2));
    expect([...after.buckets.keys()]).toEqual(['alarm', 'auth', 'authRoles', 'authUsers', 'cluster', 'key', 'lease', 'members', 'members_removed', 'meta']);
    const meta = new Map(after.buckets.get('meta')!.map(([name, value]) => [name.toString(), value]));
    expect(Number(meta.get('finishedCompactRev')!.readBigUInt64BE(0))).toBe(6);
  });

  test('of an empty store', async () => {
    const { client } = await openStore();
    const { lines, revisions } = await snapshot(client);
    expect([lines, revisions]).toEqual([[], [1]]);
  });

  test('has leases, and makes some for keys that expire without', async () => {
    const clock = new FakeClock();
    const { client, engine } = await openStore({ clock });
    await client.ask('Lease/LeaseGrant', { 1: 600, 2: 7 });
    await client.put('/a', 'x', { 3: 7 });
    await engine.commit({ type: 'put', key: '/event', value: Buffer.from('x'), expected: 0, ttlSeconds: 90 });
    const stale = await engine.commit({ type: 'put', key: '/stays', value: Buffer.from('x'), expected: 0, ttlSeconds: 90 });
    await engine.commit({ type: 'put', key: '/stays', value: Buffer.from('y'), expected: stale });
    clock.pass(30_000);
    const { lines, buckets } = await snapshot(client);
    const leases = buckets.get('lease')!.map(([key, value]) => ({ id: key.readBigInt64BE(0), lease: new Answer(value) }));
    expect(leases.map(({ lease }) => lease.big(1))).toEqual(leases.map(({ id }) => id));
    expect([leases[0]!.id, leases[0]!.lease.number(2), leases[0]!.lease.number(3)]).toEqual([7n, 600, 570]);
    expect(leases[1]!.lease.number(2)).toBeGreaterThanOrEqual(60);
    expect(leases[1]!.lease.number(2)).toBeLessThanOrEqual(120);
    expect(lines).toEqual(['/a=x 2/2/1 lease 7', `/event=x 3/3/1 lease ${leases[1]!.id}`, '/stays=y 4/5/2']);
  });

  test('is of one moment while others write, remove and attach to leases, and holds them up little', async () => {
    const { client, engine } = await openStore({ history: { minEvents: 100_000, maxEvents: Infinity, maxBytes: Infinity } });
    await client.ask('Lease/LeaseGrant', { 1: 600, 2: 7 });
    await Promise.all(Array.from({ length: 3_000 }, (_, i) => client.put(`/k/${i}`, `0-${'x'.repeat(500)}`)));
    const over = new AbortController();
    const writer = async (from: number): Promise<void> => {
      for (let i = from; !over.signal.aborted; i = (i + 7) % 3_000) {
        if (i % 3 === 0) await client.ask('KV/DeleteRange', { 1: `/k/${i}` });
        else await client.put(`/k/${i}`, `${i}`, i % 3 === 1 ? { 3: 7 } : {});
      }
    };
    const writers = [0, 1, 2, 3].map(writer);
    for (let round = 0; round < 3; round++) {
      const { revision, lines, revisions } = await snapshot(client);
      expect(revisions.at(-1)).toBe(revision);
      const withoutLease = (line: string): string => line.replace(/ lease 7$/, '');
      // What the store answers for that revision; the leases of the past it does not tell.
      expect(lines.map(withoutLease)).toEqual((await client.range('\0', '\0', { 4: revision })).lines(2).map(withoutLease));
      // What was written while the snapshot was made has its lease: of these keys all that are no longer as they were in the beginning.
      for (const line of lines) {
        const [, index, value] = /^\/k\/(\d+)=(\d+)/.exec(line)!;
        if (value !== '0') expect(line.endsWith(' lease 7')).toBe(Number(index) % 3 === 1);
      }
    }
    over.abort();
    await Promise.all(writers);
    expect(engine.publishedRevision).toBeGreaterThan(3_100);
  });

  test('leaves nothing behind, also where its client goes away or does not read', async () => {
    const { client, folder } = await openStore();
    for (let i = 0; i < 30; i++) await client.put(`/k/${i}`, Buffer.alloc(500_000, i));
    const call = client.call('Maintenance/Snapshot');
    call.send({});
    await call.next();
    call.stream.pause();
    expect(readdirSync(folder).toSorted()).toEqual(['store', 'store.sock']);
    await client.put('/while', 'x');
    if (isLinux) expect(openSnapshots()).toBe(1);
    call.stream.destroy();
    if (isLinux) await vi.waitFor(() => expect(openSnapshots()).toBe(0));
    expect((await snapshot(client)).lines).toHaveLength(31);
  });
});
