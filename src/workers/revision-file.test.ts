import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RevisionFile, openRevision } from './revision-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-revision-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a revision is read as it was written last', () => {
  const path = join(folder, 'one');
  const file = new RevisionFile(path, 7);
  const read = openRevision(path);
  expect(read()).toBe(7);
  file.write(2 ** 53 - 1);
  expect(read()).toBe(2 ** 53 - 1);
  file.close();
});

test('another process that writes all the time is never read in part, nor backwards', async () => {
  const path = join(folder, 'other');
  new RevisionFile(path, 0).close();
  const count = 200_000;
  // Writes as RevisionFile does; numbers of which every byte changes.
  const script = `
    const file = require('node:fs').openSync(${JSON.stringify(path)}, 'r+');
    const numbers = new Float64Array(2);
    for (let i = 1; i <= ${count}; i++) require('node:fs').writeSync(file, numbers.fill(i * 1000003), 0, 16, 0);`;
  const writer = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
  const ended = once(writer, 'exit');
  const read = openRevision(path);
  const state = { last: 0, isOver: false };
  void ended.then(() => (state.isOver = true));
  while (!state.isOver) {
    for (let i = 0; i < 1000; i++) {
      const revision = read();
      if (revision < state.last || revision % 1_000_003 !== 0) throw new Error(`${revision} after ${state.last}`);
      state.last = revision;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await ended).toEqual([0, null]);
  expect(read()).toBe(count * 1_000_003);
});
