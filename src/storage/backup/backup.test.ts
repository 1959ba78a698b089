import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Engine, StorageUnavailable } from '../engine.ts';
import { openEmbeddedEngine } from '../engines/embedded.ts';
import { FakeClock } from '../fake-clock.ts';
import { restoreBackup } from './restore.ts';
import { writeBackup } from './write.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-backup-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newFolder = (): string => mkdtempSync(join(root, 'store-'));
const quiet = (): void => undefined;
const restore = (file: string, folder: string, force = false): ReturnType<typeof restoreBackup> =>
  restoreBackup({ file, folder, historyFolder: `${folder}-history`, force, onProgress: quiet });
const put = (engine: Engine, key: string, value: string | Buffer, expected = 0): Promise<number> =>
  engine.commit({ type: 'put', key, value: Buffer.from(value), expected });
/** `/a=one@2` */
const itemsOf = async (folder: string): Promise<string[]> => {
  const engine = await openEmbeddedEngine({ folder });
  const { items } = await engine.range('');
  await engine.close();
  return items.map(({ key, value, revision }) => `${key}=${value.toString('latin1')}@${revision}`);
};
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => (error instanceof StorageUnavailable ? error.message : `not explained: ${error}`),
  );

/** A store with some objects of all sizes, closed, and its backup. */
async function storeWithBackup(): Promise<{ folder: string; file: string }> {
  const folder = newFolder();
  const engine = await openEmbeddedEngine({ folder });
  await Promise.all(Array.from({ length: 2_500 }, (_, i) => put(engine, `/registry/ü/${i}`, Buffer.alloc(i % 700, i))));
  await put(engine, '/registry/large', Buffer.alloc(3_000_000, 'l'));
  await engine.close();
  const file = join(newFolder(), 'backup');
  await writeBackup(folder, file, quiet);
  return { folder, file };
}

describe('a backup', () => {
  test('restored elsewhere has every key, value and revision, and counts on far beyond them', async () => {
    const { folder, file } = await storeWithBackup();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const target = join(newFolder(), 'data', 'store');
    const { count, revision } = await restore(file, target);
    expect(count).toBe(2_501);
    expect(await itemsOf(target)).toEqual(await itemsOf(folder));
    const engine = await openEmbeddedEngine({ folder: target });
    expect(await engine.currentRevision()).toBe(revision);
    expect(await put(engine, '/new', 'x')).toBe(revision + 1);
    await engine.close();
    expect(readdirSync(join(target, '..'))).toEqual(['store']);
  });

  test('is of an open store, whose writer goes on', async () => {
    const folder = newFolder();
    const engine = await openEmbeddedEngine({ folder });
    const first = await put(engine, '/a', 'one');
    const file = join(folder, '..', 'open.backup');
    const { count } = await writeBackup(folder, file, () => void put(engine, '/later', 'x').catch(quiet));
    expect(count).toBe(1);
    await put(engine, '/a', 'two', first);
    await engine.close();
    const target = newFolder();
    await restore(file, target);
    expect(await itemsOf(target)).toEqual([`/a=one@${first}`]);
  });

  test('keeps the times at which keys go', async () => {
    const clock = new FakeClock();
    const folder = newFolder();
    const first = await openEmbeddedEngine({ folder, clock });
    await first.commit({ type: 'put', key: '/short', value: Buffer.from('x'), expected: 0, ttlSeconds: 10 });
    await put(first, '/stays', 'x');
    await first.close();
    const file = join(newFolder(), 'backup');
    await writeBackup(folder, file, quiet);
    const target = newFolder();
    const { revision } = await restore(file, target);
    const engine = await openEmbeddedEngine({ folder: target, clock });
    const gone = new Promise((resolve) => engine.watch('', revision + 1, ([event]) => resolve(`${event!.type} ${event!.key}`)));
    clock.pass(20_000);
    expect(await gone).toBe('delete /short');
    await engine.close();
  });

  test('takes the place of an older one of the same name, and leaves nothing else', async () => {
    const { folder, file } = await storeWithBackup();
    writeFileSync(file, 'old');
    await writeBackup(folder, file, quiet);
    expect(statSync(file).size).toBeGreaterThan(3_000_000);
    expect(readdirSync(join(file, '..'))).toEqual(['backup']);
  });

  test('of a folder without a store is refused', async () => {
    const folder = newFolder();
    expect(await refusal(writeBackup(folder, join(root, 'none'), quiet))).toBe(`there is no store in ${folder}`);
    expect(existsSync(join(root, 'none'))).toBe(false);
  });
});

describe('restoring is refused', () => {
  test('where a store is, unless it is to be replaced', async () => {
    const { file } = await storeWithBackup();
    const { folder } = await storeWithBackup();
    const engine = await openEmbeddedEngine({ folder });
    await put(engine, '/extra', 'x');
    expect(await refusal(restore(file, folder, true))).toMatch(/^the folder .* is in use by another server/);
    await engine.close();
    expect(await refusal(restore(file, folder))).toBe(`there is a store in ${folder} already: choose another --data-dir, or replace it with --force`);
    expect(await itemsOf(folder)).toHaveLength(2_502);
    await restore(file, folder, true);
    expect(await itemsOf(folder)).toHaveLength(2_501);
  });

  test('of a file that is damaged anywhere, or cut off; and nothing changes', async () => {
    const { folder, file } = await storeWithBackup();
    const whole = readFileSync(file);
    const broken = `${file}.broken`;
    for (const at of [20, 40, 100, 5_000, whole.length - 40, whole.length - 1]) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x10;
      writeFileSync(broken, bytes);
      expect(await refusal(restore(broken, folder, true))).toMatch(/damaged or was cut off; nothing was restored|has format/);
    }
    for (const length of [0, 10, 30, 1_000, whole.length - 1]) {
      writeFileSync(broken, whole.subarray(0, length));
      expect(await refusal(restore(broken, folder, true))).toMatch(/damaged or was cut off|is not a backup/);
    }
    expect(await itemsOf(folder)).toHaveLength(2_501);
    expect(readdirSync(join(folder, '..')).filter((name) => name.includes('restoring'))).toEqual([]);
  });

  test('of a file that is none, and of a newer format', async () => {
    const file = join(newFolder(), 'file');
    expect(await refusal(restore(file, newFolder()))).toBe(`cannot read ${file}: no such file`);
    writeFileSync(file, 'x'.repeat(100));
    expect(await refusal(restore(file, newFolder()))).toBe(`${file} is not a backup of Binnacle's`);
    writeFileSync(file, Buffer.concat([Buffer.from('binnacle backup\n'), Buffer.from([0, 0, 0, 3]), Buffer.alloc(100)]));
    expect(await refusal(restore(file, newFolder()))).toBe(`the backup ${file} has format 3, and this version reads up to 2; use a newer version`);
  });
});
