import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { FileOperation } from './file-operation.ts';
import { HALF_BYTES, encodeRecord, readJournal } from './journal.ts';
import { JournaledDatabase, openDatabaseSnapshot } from './journaled-database.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-journal-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newFolder = (): string => mkdtempSync(join(root, 'store-'));
const open = (folder: string): JournaledDatabase => new JournaledDatabase(folder, { marks: [] });
const put = (key: string, value: string | Buffer, version = 1): FileOperation => ({ key: Buffer.from(key), value: Buffer.from(value), version });
const removal = (key: string): FileOperation => ({ key: Buffer.from(key), value: undefined, version: 0 });
const ALL = { start: Buffer.from('k'), end: Buffer.from('l') };
const textsOf = (database: Pick<JournaledDatabase, 'range'>): string[] => [...database.range(ALL)].map(({ key, value }) => `${key}=${value}`);

/** With a journal: that is made once there have been some writes. */
async function openJournaled(folder = newFolder()): Promise<{ folder: string; database: JournaledDatabase }> {
  const database = open(folder);
  await vi.waitFor(async () => {
    await database.write([put('m', String(performance.now()))]);
    expect(statSync(join(folder, 'journal')).size).toBe(2 * HALF_BYTES);
  });
  // The write after the file is there makes it a journal; those after that go to it.
  for (let i = 0; i < 3; i++) await database.write([put('m', String(i))]);
  return { folder, database };
}

/** What a machine that loses its power now would find: another process reads these files, while this one still has its own open. */
function afterCrash(folder: string): string {
  const copy = newFolder();
  for (const name of ['data.mdb', 'journal']) copyFileSync(join(folder, name), join(copy, name));
  return copy;
}

describe('a journal in front of LMDB', () => {
  test('what is written is read at once, and after a crash, whether LMDB has it or not', async () => {
    const { folder, database } = await openJournaled();
    await database.write([put('ka', '1'), put('kb', '1'), put('kd', '1')]);
    database.beginCheckpoint();
    await database.write([put('kb', '2', 7), removal('ka'), put('kc', '2')]);
    const expected = ['kb=2', 'kc=2', 'kd=1'];
    expect(textsOf(database)).toEqual(expected);
    expect(database.get(Buffer.from('kb'))).toMatchObject({ value: Buffer.from('2'), version: 7 });
    expect(database.get(Buffer.from('ka'))).toBeUndefined();
    expect(database.count(ALL)).toBe(3);
    expect([...database.range(ALL, 2)]).toHaveLength(2);
    expect(textsOf(openDatabaseSnapshot(folder))).toEqual(expected);
    const crashed = open(afterCrash(folder));
    expect(textsOf(crashed)).toEqual(expected);
    // Written on from there, and found again.
    await crashed.write([put('ke', '3')]);
    await crashed.close();
    await database.close();
    expect(textsOf(open(folder))).toEqual(expected);
  });

  test('halves are filled by turns, many times over', { timeout: 20_000 }, async () => {
    const { folder, database } = await openJournaled();
    const value = Buffer.alloc(HALF_BYTES / 3, 'v');
    for (let i = 0; i < 30; i++) {
      await database.write([put(`k${i % 7}`, value, i + 1)]);
      const crashed = open(afterCrash(folder));
      expect(crashed.get(Buffer.from(`k${i % 7}`))?.version).toBe(i + 1);
      expect(crashed.count(ALL)).toBe(Math.min(i + 1, 7));
      await crashed.close();
    }
    await database.close();
  });

  test('a record that is cut off is none; one that is missing before others is damage, and refused', async () => {
    const { folder, database } = await openJournaled();
    const before = afterCrash(folder);
    await database.write([put('ka', '1')]);
    await database.write([put('kb', '1')]);
    const copy = afterCrash(folder);
    await database.close();
    const content = readFileSync(join(copy, 'journal'));
    const last = content.indexOf('kb1');
    content[last + 2] = 0;
    writeFileSync(join(copy, 'journal'), content);
    const cut = open(copy);
    expect(textsOf(cut)).toEqual(['ka=1']);
    await cut.close();
    // Its first record was of a number that the journal does not have any more.
    const id = Buffer.from(positionText(before).split(' ')[0]!, 'hex');
    const record = encodeRecord(id, 1_000, [put('kx', '1')]);
    writeFileSync(join(before, 'journal'), Buffer.concat([record, Buffer.alloc(2 * HALF_BYTES - record.length)]));
    expect(() => open(before)).toThrow('its journal is damaged before its end');
    expect(readJournal(join(before, 'journal'), id, 999)).toHaveLength(1);
    // Of another store.
    expect(readJournal(join(before, 'journal'), Buffer.alloc(8), 0)).toEqual([]);
  });

  test('what is larger than half a journal goes to LMDB, after all that came before', async () => {
    const { folder, database } = await openJournaled();
    await database.write([put('ka', 'old')]);
    await database.write([put('ka', Buffer.alloc(HALF_BYTES + 1, 'v'), 9)]);
    await database.write([put('kb', '1')]);
    for (const each of [database, open(afterCrash(folder))]) {
      expect(each.get(Buffer.from('ka'))?.version).toBe(9);
      expect(each.count(ALL)).toBe(2);
      await each.close();
    }
  });

  test('a journal that cannot be written to is passed over, and used again later', async () => {
    const { folder, database } = await openJournaled();
    const limit = (sizes: string): void => void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${sizes}`]);
    // The second half lies behind this; LMDB's file does not reach it.
    limit(`${HALF_BYTES}:unlimited`);
    try {
      for (let i = 0; i < 12; i++) await database.write([put(`k${i}`, Buffer.alloc(1_000), i)]);
      database.beginCheckpoint();
      for (let i = 0; i < 12; i++) await database.write([put(`k${i}`, Buffer.alloc(1_000), i)]);
    } finally {
      limit('unlimited:unlimited');
    }
    await database.write([put('kz', 'after')]);
    const crashed = open(afterCrash(folder));
    expect(crashed.count(ALL)).toBe(13);
    await crashed.close();
    await database.close();
  });
});

function positionText(folder: string): string {
  const snapshot = openDatabaseSnapshot(folder);
  const text = snapshot.get(Buffer.from('mjournal'))!.value.toString();
  void snapshot.close();
  return text;
}
