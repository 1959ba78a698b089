import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, describe, expect, test } from 'vitest';
import { Compacted, type Engine, StorageUnavailable } from '../engine.ts';
import { FakeClock } from '../fake-clock.ts';
import { engineContract } from './contract.ts';
import { openEmbeddedEngine } from './embedded.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-embedded-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newFolder = (): string => mkdtempSync(join(root, 'store-'));
const put = (engine: Engine, key: string, value: string, expected = 0): Promise<number> =>
  engine.commit({ type: 'put', key, value: Buffer.from(value), expected });
/** The line that an operator is shown. */
const refusal = (folder: string): Promise<string> =>
  openEmbeddedEngine({ folder }).then(
    () => 'opened',
    (error) => (error instanceof StorageUnavailable ? error.message : `not explained: ${error}`),
  );

engineContract('embedded engine', (options) => openEmbeddedEngine({ ...options, folder: newFolder() }));

describe('embedded engine, opened again', () => {
  test('has all keys at their revisions, and goes on counting', async () => {
    const folder = newFolder();
    const first = await openEmbeddedEngine({ folder });
    const revision = await put(first, '/a', 'one');
    const last = await first.commit({ type: 'delete', key: '/b', expected: await put(first, '/b', 'x') });
    await first.close();

    const second = await openEmbeddedEngine({ folder });
    expect(await second.currentRevision()).toBe(last);
    const items = [{ key: '/a', value: Buffer.from('one'), revision, createdRevision: revision, version: 1 }];
    expect(await second.range('')).toEqual({ items, revision: last, remaining: 0 });
    expect(() => second.watch('', last, () => undefined)).toThrow(Compacted);
    second.watch('', last + 1, () => undefined).close();
    const written = await put(second, '/a', 'two', revision);
    expect(written).toBe(last + 1);
    expect(await second.get('/a')).toEqual({ key: '/a', value: Buffer.from('two'), revision: written, createdRevision: revision, version: 2 });
    await second.close();
  });

  test('removes keys whose time ran out while it was closed', async () => {
    const folder = newFolder();
    const clock = new FakeClock();
    const first = await openEmbeddedEngine({ folder, clock });
    await first.commit({ type: 'put', key: '/short', value: Buffer.from('x'), expected: 0, ttlSeconds: 10 });
    await first.commit({ type: 'put', key: '/long', value: Buffer.from('x'), expected: 0, ttlSeconds: 1_000 });
    await first.close();
    clock.pass(60_000);

    const second = await openEmbeddedEngine({ folder, clock });
    const removed = new Promise((resolve) => second.watch('', 4, ([event]) => resolve(event?.key)));
    clock.pass(0);
    expect(await removed).toBe('/short');
    expect(await second.get('/long')).toBeDefined();
    await second.close();

    const third = await openEmbeddedEngine({ folder, clock });
    const next = new Promise((resolve) => third.watch('', 5, ([event]) => resolve(event?.key)));
    clock.pass(2_000_000);
    expect(await next).toBe('/long');
    await third.close();
  });

  test('the file is for its owner only', async () => {
    const folder = join(newFolder(), 'store');
    const engine = await openEmbeddedEngine({ folder });
    await put(engine, '/a', 'secret');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'data.mdb')).mode & 0o777).toBe(0o600);
    await engine.close();
  });

  test('thousands of keys and megabytes make the file grow as needed', async () => {
    const engine = await openEmbeddedEngine({ folder: newFolder() });
    const value = 'v'.repeat(4_000);
    await Promise.all(Array.from({ length: 3_000 }, (_, i) => put(engine, `/k/${String(i).padStart(5, '0')}`, value)));
    const { items, remaining } = await engine.range('/k/', { limit: 2_000 });
    expect(items).toHaveLength(2_000);
    expect(remaining).toBe(1_000);
    expect(items.every((item) => item.value.toString() === value)).toBe(true);
    await engine.close();
  });
});

test('tells how large its file is, and how much of it is free again', async () => {
  const engine = await openEmbeddedEngine({ folder: newFolder() });
  const revisions = await Promise.all(Array.from({ length: 500 }, (_, i) => put(engine, `/k/${i}`, 'v'.repeat(4_000))));
  const full = engine.statistics()!;
  expect(full.sizeBytes).toBeGreaterThan(2_000_000);
  expect(full.freeBytes).toBeLessThan(full.sizeBytes / 2);
  await Promise.all(revisions.map((expected, i) => engine.commit({ type: 'delete', key: `/k/${i}`, expected })));
  await put(engine, '/last', 'x');
  const empty = engine.statistics()!;
  expect(empty.sizeBytes).toBeGreaterThanOrEqual(full.sizeBytes);
  expect(empty.freeBytes).toBeGreaterThan(empty.sizeBytes * 0.8);
  await engine.close();
});

test('gives back the memory that the mapped file takes, under writes and when idle, and reads on', async () => {
  const clock = new FakeClock();
  const engine = await openEmbeddedEngine({ folder: newFolder(), clock });
  const value = 'v'.repeat(10_000);
  const write = (round: number): Promise<number[]> => Promise.all(Array.from({ length: 3_000 }, (_, i) => put(engine, `/k/${round}/${i}`, value)));
  for (let round = 0; round < 3; round++) await Promise.all([write(round), engine.get(`/k/${round}/0`), engine.range('/k/', { limit: 10 })]);
  const { items } = await engine.range('/k/');
  expect(items).toHaveLength(9_000);
  const idle = [engine.get('/k/0/1'), engine.range('/k/0/', { limit: 1 }), put(engine, '/while', 'x')];
  clock.pass(2_000);
  for (const outcome of [...idle, engine.get('/k/0/1'), put(engine, '/while-2', 'x'), engine.range('/k/', { limit: 1 })]) await outcome;
  expect((await engine.range('')).items).toHaveLength(9_002);
  await engine.close();
});

describe('embedded engine refuses, in one line,', () => {
  test('a folder that another engine holds', async () => {
    const folder = newFolder();
    const engine = await openEmbeddedEngine({ folder });
    expect(await refusal(folder)).toBe(
      `the folder ${folder} is in use by another server (process ${process.pid}); stop that one first, or choose another folder`,
    );
    await engine.close();
    await (await openEmbeddedEngine({ folder })).close();
  });

  test('a folder whose parent does not exist', async () => {
    const folder = join(newFolder(), 'no', 'where');
    expect(await refusal(folder)).toBe(`cannot make the folder ${folder}: ${join(folder, '..')} does not exist`);
  });

  test('a file where the folder should be, and a folder under a file', async () => {
    const file = join(newFolder(), 'file');
    writeFileSync(file, 'x');
    expect(await refusal(file)).toBe(`cannot open the store in ${file}: it is not a folder`);
    expect(await refusal(join(file, 'store'))).toMatch(/^cannot make the folder .*ENOTDIR.*$/);
  });

  test('a file that is no store', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'data.mdb'), 'x'.repeat(20_000));
    expect(await refusal(folder)).toBe(`cannot open the store in ${folder}: ${join(folder, 'data.mdb')} is not a store's file`);
  });

  test('a store of a newer format', async () => {
    const folder = newFolder();
    const database = open({ path: folder, noSubdir: false, overlappingSync: false, encoding: 'binary', keyEncoding: 'binary', useVersions: true });
    await database.put(Buffer.from('mformat'), Buffer.from('4'), 0);
    await database.close();
    expect(await refusal(folder)).toBe(`the store in ${folder} has format 4, and this version reads up to 3; use a newer version`);
  });

  test('a store of format 1, whose entries are values alone, is read and written on', async () => {
    const folder = newFolder();
    const database = open({ path: folder, noSubdir: false, overlappingSync: false, encoding: 'binary', keyEncoding: 'binary', useVersions: true });
    await database.put(Buffer.from('mformat'), Buffer.from('1'), 0);
    await database.put(Buffer.from('mrevision'), Buffer.from('7'), 0);
    await database.put(Buffer.from('k/old'), Buffer.from('a value'), 7);
    await database.close();
    for (const version of [2, 3]) {
      const engine = await openEmbeddedEngine({ folder });
      expect(await engine.get('/old')).toMatchObject({ value: Buffer.from(version === 2 ? 'a value' : 'x2'), createdRevision: 7, version: version - 1 });
      await put(engine, '/old', `x${version}`, (await engine.get('/old'))!.revision);
      await engine.close();
    }
  });

  test("a database of another program's", async () => {
    const folder = newFolder();
    const database = open({ path: folder, noSubdir: false });
    await database.put('a', 'b');
    await database.close();
    expect(await refusal(folder)).toBe(`the file in ${folder} is a database of another program's`);
  });

  test('a key that is too long', async () => {
    const engine = await openEmbeddedEngine({ folder: newFolder() });
    await expect(put(engine, `/${'k'.repeat(4_000)}`, 'x')).rejects.toThrow('a key of 4001 bytes is longer than the');
    await put(engine, `/${'k'.repeat(1_900)}`, 'x');
    await engine.close();
  });
});
