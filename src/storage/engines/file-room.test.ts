import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileRoom } from './file-room.ts';

test('makes room behind what is there, once, and never over it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-room-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'data');
  writeFileSync(path, 'content');
  const room = new FileRoom(path);
  await room.ensure(5);
  expect(statSync(path).size).toBe(7);
  await room.ensure(3_000_000);
  const { size } = statSync(path);
  expect(size).toBeGreaterThanOrEqual(3_000_000);
  expect(room.ensure(size)).toBe(true);
  // Another has made it larger meanwhile.
  writeFileSync(path, 'more', { flag: 'a' });
  await room.ensure(size + 1);
  expect(statSync(path).size).toBe(size + 4);
  await room.ensure(size + 10);
  const bytes = readFileSync(path);
  expect([bytes.toString('latin1', 0, 7), bytes.toString('latin1', size, size + 4)]).toEqual(['content', 'more']);
  expect(bytes.subarray(7, size).every((byte) => byte === 0)).toBe(true);
  await room.close();
});

test('says where there is none', async () => {
  const room = new FileRoom('/dev/full');
  await expect(Promise.resolve(room.ensure(10))).rejects.toMatchObject({ code: 'ENOSPC' });
  await room.close();
});
