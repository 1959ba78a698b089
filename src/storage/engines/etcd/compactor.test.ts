import { describe, expect, test, vi } from 'vitest';
import { hasEtcd, startEtcd } from '../../../../test/support/etcd.ts';
import { Compacted } from '../../engine.ts';
import { FakeClock } from '../../fake-clock.ts';
import { openEtcdEngine } from './engine.ts';

const INTERVAL_MS = 300_000;

describe.runIf(hasEtcd())('compaction', () => {
  test('of two servers one compacts, to where things stood an interval ago', async () => {
    const cluster = await startEtcd();
    const clock = new FakeClock();
    const settings = { ...cluster, compactionIntervalMs: INTERVAL_MS };
    const [one, two] = [await openEtcdEngine({ ...settings, clock }), await openEtcdEngine({ ...settings, clock })];
    const written: number[] = [];
    const write = async (): Promise<void> =>
      void written.push(await one.commit({ type: 'put', key: `/k/${written.length}`, value: Buffer.from('x'), expected: 0 }));
    const counter = async (): Promise<string | undefined> => (await one.get('compact_rev_key'))?.value.toString();
    await write();
    await write();

    clock.pass(INTERVAL_MS);
    // The first time nothing is compacted: nobody knows what an interval ago was.
    await vi.waitFor(async () => expect(await counter()).toBe('0'));
    expect((await one.range('/k/', { revision: written[0]! })).items).toHaveLength(1);

    await vi.waitFor(async () => {
      await write();
      clock.pass(INTERVAL_MS);
      await expect(one.range('/k/', { revision: written[0]! })).rejects.toThrow(Compacted);
    });
    expect(Number(await counter())).toBeGreaterThan(written[1]!);
    await Promise.all([one.close(), two.close()]);
    await cluster.stop();
  });

  test('one that never compacts knows what others have compacted, before and after it was opened', async () => {
    const cluster = await startEtcd();
    const clock = new FakeClock();
    const one = await openEtcdEngine({ ...cluster, compactionIntervalMs: INTERVAL_MS, clock });
    const follower = await openEtcdEngine(cluster);
    expect(follower.oldestRevision).toBe(0);
    const written = await one.commit({ type: 'put', key: '/k/0', value: Buffer.from('x'), expected: 0 });
    await vi.waitFor(() => {
      clock.pass(INTERVAL_MS);
      expect(follower.oldestRevision).toBeGreaterThan(written);
    });
    const known = follower.oldestRevision;
    const late = await openEtcdEngine(cluster);
    await vi.waitFor(() => expect(late.oldestRevision).toBeGreaterThanOrEqual(known));
    // What is no note of a compaction is none.
    const note = (await one.get('compact_rev_key'))!;
    const junk = await one.commit({ type: 'put', key: note.key, value: Buffer.from('-1e99'), expected: note.revision });
    await one.commit({ type: 'put', key: note.key, value: Buffer.from(String(junk)), expected: junk });
    await vi.waitFor(() => expect(late.oldestRevision).toBe(junk));
    await Promise.all([one.close(), follower.close(), late.close()]);
    await cluster.stop();
  });
});
