import { describe, expect, test } from 'vitest';
import { Compacted, type StoreReset } from '../engine.ts';
import { FakeClock } from '../fake-clock.ts';
import { engineContract } from './contract.ts';
import { type MemoryEngine, openMemoryEngine } from './memory.ts';

engineContract('memory engine', async (options) => openMemoryEngine(options));

const put = (engine: MemoryEngine, key: string, value: string, expected = 0, ttlSeconds?: number): Promise<number> =>
  engine.commit({ type: 'put', key, value: Buffer.from(value), expected, ...(ttlSeconds !== undefined && { ttlSeconds }) });
const contentOf = async (engine: MemoryEngine): Promise<string[]> =>
  (await engine.range('/')).items.map(({ key, value, revision }) => `${key}=${value}@${revision}`);

describe('an image of the memory engine', () => {
  test('is what the engine comes back to: what differs gets a new revision, and watchers are told what it is', async () => {
    const engine = openMemoryEngine();
    const kept = await put(engine, '/kept', 'a');
    const changed = await put(engine, '/changed', 'a');
    const gone = await put(engine, '/gone', 'a');
    const image = engine.image();
    await put(engine, '/changed', 'b', changed);
    await engine.commit({ type: 'delete', key: '/gone', expected: gone });
    const last = await put(engine, '/new', 'a');
    const told: Error[] = [];
    engine.watch(
      '/',
      last + 1,
      () => undefined,
      (error) => void told.push(error),
    );
    engine.restore(image);
    expect(await contentOf(engine)).toEqual([`/changed=a@${last + 1}`, `/gone=a@${last + 1}`, `/kept=a@${kept}`]);
    expect((told[0] as StoreReset).events.map(({ type, key }) => `${type} ${key}`).toSorted()).toEqual(['delete /new', 'put /changed', 'put /gone']);
    expect(() => engine.watch('/', last, () => undefined)).toThrow(Compacted);
    await expect(engine.range('/', { revision: last })).rejects.toThrow(Compacted);
    // Nothing differs any more.
    engine.restore(image);
    expect(await contentOf(engine)).toEqual([`/changed=a@${last + 1}`, `/gone=a@${last + 1}`, `/kept=a@${kept}`]);
    await engine.close();
  });

  test('keeps when keys expire, also of those that were written anew', async () => {
    const clock = new FakeClock();
    const engine = openMemoryEngine({ clock });
    const revision = await put(engine, '/passing', 'a', 0, 10);
    const image = engine.image();
    await put(engine, '/passing', 'b', revision);
    engine.restore(image);
    const gone = new Promise<unknown>((resolve) => void engine.watch('/', engine.publishedRevision + 1, resolve));
    clock.pass(11_000);
    await gone;
    expect(await contentOf(engine)).toEqual([]);
    await engine.close();
  });

  test('is what another engine begins with; each writes for itself', async () => {
    const first = openMemoryEngine();
    const revision = await put(first, '/one', 'a');
    const second = openMemoryEngine({ image: first.image() });
    await put(second, '/one', 'b', revision);
    await put(first, '/two', 'a');
    expect([await contentOf(first), await contentOf(second)]).toEqual([['/one=a@2', '/two=a@3'], ['/one=b@3']]);
    await Promise.all([first.close(), second.close()]);
  });
});
