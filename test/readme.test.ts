import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { PROJECT_DIR } from './support/paths.ts';
import { temporaryFolder } from './support/server.ts';

/* The README's example as a user runs it who has pasted it: in a folder of its own, with the packages under their names. */

const exampleOf = (readme: string): string => /^## In a test$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(readme)![1]!;

test('the example of a test runs as it is pasted, and ends by itself', { timeout: 60_000 }, async () => {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@kubernetes'), { recursive: true });
  mkdirSync(join(modules, 'binnacle'));
  // What `npm pack` would have put there, without a registry.
  writeFileSync(join(modules, 'binnacle', 'package.json'), readFileSync(join(PROJECT_DIR, 'package.json')));
  symlinkSync(inject('distDir'), join(modules, 'binnacle', 'dist'));
  symlinkSync(join(PROJECT_DIR, 'node_modules/@kubernetes/client-node'), join(modules, '@kubernetes/client-node'));
  const example = exampleOf(readFileSync(join(PROJECT_DIR, 'README.md'), 'utf8'));
  expect(example).toContain('startServer()');
  writeFileSync(join(folder, 'example.mjs'), example);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['example.mjs'], { cwd: folder, timeout: 50_000 });
  expect([stdout, stderr]).toEqual(['', '']);
});
