import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { temporaryFolder } from './support/server.ts';

/* The bundle has all that it needs but the native code of the embedded store, which npm installs for the machine. */

test('without the native code of lmdb, the command says in one line what to do', async () => {
  const folder = temporaryFolder();
  cpSync(inject('distDir'), join(folder, 'dist'), { recursive: true });
  const args = [join(folder, 'dist', 'binnacle.js'), 'serve', `--data-dir=${join(folder, 'data')}`, '--secure-port=0'];
  const failure = await promisify(execFile)(process.execPath, args).catch((error: { code: number; stderr: string }) => error);
  expect(failure).toMatchObject({ code: 1 });
  const errors = failure.stderr.split('\n').filter((line) => line.startsWith('error:'));
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(
    /needs the npm package lmdb with its native code: .*; install it with `npm install lmdb@\d+\.\d+\.\d+`, or .*--storage-backend=memory/,
  );
});
