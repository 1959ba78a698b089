import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { PROJECT_DIR } from '../support/paths.ts';
import { temporaryFolder } from '../support/server.ts';

/* The examples of docs/testing.md, each as a program of its own: compiled with the package's declarations, and run to its end. */

const examples = [...readFileSync(join(PROJECT_DIR, 'docs/testing.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'esnext.disposable'],
    types: ['node'],
    strict: true,
    rootDir: '.',
    outDir: 'out',
  },
  files: [...examples.map((_, index) => `example-${index}.ts`), 'common.cts'],
};

/** A program that is CommonJS, with the package's types. */
const COMMON_JS = `import binnacle = require('binnacle');
async function main(): Promise<void> {
  const server: binnacle.StartedServer = await binnacle.startServer();
  const { status } = await server.get({ apiVersion: 'v1', kind: 'Namespace', name: 'default' });
  console.log(status?.phase);
  await server.stop();
}
void main();
`;

/** What `npm install` would have put there, with the declarations that `npm pack` adds. */
async function projectFolder(): Promise<string> {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  for (const name of ['binnacle', '@kubernetes', '@types']) mkdirSync(join(modules, name), { recursive: true });
  writeFileSync(join(modules, 'binnacle', 'package.json'), readFileSync(join(PROJECT_DIR, 'package.json')));
  mkdirSync(join(modules, 'binnacle', 'dist'));
  for (const file of [
    'index.js',
    'vitest.mjs',
    'jest.js',
    'node-test.js',
    'bundle.js',
    'bundle.js.cache',
    'seed.json',
    'package.json',
    'descriptions.json.br',
  ]) {
    symlinkSync(join(inject('distDir'), file), join(modules, 'binnacle', 'dist', file));
  }
  await promisify(execFile)(process.execPath, ['scripts/types.mjs', '--outdir', join(modules, 'binnacle', 'dist')], { cwd: PROJECT_DIR });
  symlinkSync(join(PROJECT_DIR, 'node_modules/@kubernetes/client-node'), join(modules, '@kubernetes/client-node'));
  symlinkSync(join(PROJECT_DIR, 'node_modules/@types/node'), join(modules, '@types/node'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(join(folder, 'common.cts'), COMMON_JS);
  for (const [index, text] of examples.entries()) writeFileSync(join(folder, `example-${index}.ts`), text);
  return folder;
}

test('the examples of docs/testing.md compile and run', { timeout: 180_000 }, async () => {
  const folder = await projectFolder();
  const compiler = join(PROJECT_DIR, 'node_modules/typescript/bin/tsc');
  const compiled = await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch((error: { stdout: string }) => error);
  expect(compiled.stdout).toBe('');
  const outputs = await Promise.all(
    examples.map((_, index) => promisify(execFile)(process.execPath, [join('out', `example-${index}.js`)], { cwd: folder, timeout: 90_000 })),
  );
  const common = await promisify(execFile)(process.execPath, [join('out', 'common.cjs')], { cwd: folder, timeout: 90_000 });
  expect(common).toEqual({ stdout: 'Active\n', stderr: '' });
  expect(outputs.map(({ stderr }) => stderr)).toEqual(examples.map(() => ''));
  expect(outputs.map(({ stdout }) => stdout.split('\n', 1)[0])).toEqual([
    'blue',
    "[ 'one' ]",
    'Active',
    'true true',
    '',
    '403',
    expect.stringMatching(/^1 /),
    '429',
    'blue',
    '404',
    'TAP version 13',
  ]);
});
