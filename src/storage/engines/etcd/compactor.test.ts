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
});
