import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { PROJECT_DIR } from '../support/paths.ts';
import { temporaryFolder } from '../support/server.ts';

/* The examples, each run as its README says, by the tools of its language. */

interface Result {
  code?: number;
  stdout: string;
  stderr: string;
}

const execute = (file: string, args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}): Promise<Result> => {
  const { VITEST: _vitest, VITEST_WORKER_ID: _worker, VITEST_POOL_ID: _pool, NODE_OPTIONS: _options, ...env } = process.env;
  return promisify(execFile)(file, [...args], { cwd, env: { ...env, ...more }, timeout: 150_000 }).catch((error) => error as Result);
};
const binnacle = (): string => join(inject('distDir'), 'binnacle.js');

function copyOf(name: string): string {
  const folder = temporaryFolder();
  for (const part of ['config', name]) cpSync(join(PROJECT_DIR, 'examples', part), join(folder, part), { recursive: true });
  return join(folder, name);
}

/** What `npm install` would have put there, with the declarations that `npm pack` adds. */
async function installPackages(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'binnacle');
  for (const parent of ['@kubernetes', '@types']) mkdirSync(join(modules, parent), { recursive: true });
  for (const name of ['@kubernetes/client-node', '@types/node', 'vitest', 'typescript'])
    symlinkSync(join(PROJECT_DIR, 'node_modules', name), join(modules, name));
  cpSync(inject('distDir'), join(own, 'dist'), { recursive: true });
  cpSync(join(PROJECT_DIR, 'package.json'), join(own, 'package.json'));
  await promisify(execFile)(process.execPath, ['scripts/types.mjs', '--outdir', join(own, 'dist')], { cwd: PROJECT_DIR });
}

test('the operator in TypeScript', { timeout: 180_000 }, async () => {
  const folder = copyOf('typescript-operator');
  await installPackages(folder);
  const compiled = await execute(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], folder);
  expect(compiled.stdout).toBe('');
  const tested = await execute(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], folder);
  expect([tested.code, tested.stdout, tested.stderr]).toEqual([undefined, expect.stringMatching(/3 passed/), '']);
});

describe('the operator in Python', () => {
  const packages = join(PROJECT_DIR, 'node_modules/.cache/python/usr/lib/python3/dist-packages');
  const python = '/usr/bin/python3';

  // scripts/python-kubernetes.sh puts them there.
  test.skipIf(!existsSync(packages) || !existsSync(python))('with pytest', { timeout: 180_000 }, async () => {
    const folder = copyOf('python-operator');
    const args = [binnacle(), 'run', '--crds', '../config', '--', python, '-m', 'pytest', '-p', 'no:cacheprovider'];
    const { code, stdout } = await execute(process.execPath, args, folder, { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' });
    expect([code, stdout]).toEqual([undefined, expect.stringMatching(/3 passed/)]);
  });
});

describe('the operator in Go', () => {
  const { GO_EXAMPLE_GOPATH: goPath } = process.env;

  // Modules of Go are in no registry that CI reaches: this names folders that have controller-runtime and what it imports, below `src`.
  test.skipIf(goPath === undefined)('with envtest', { timeout: 300_000 }, async () => {
    const folder = copyOf('go-operator');
    const { stdout: assets } = await execute(process.execPath, [binnacle(), 'envtest', '--dir', join(folder, 'assets')], folder);
    const environment = { KUBEBUILDER_ASSETS: assets.trim(), GO111MODULE: 'off', GOPATH: goPath, GOFLAGS: '' };
    const { code, stdout, stderr } = await execute('go', ['test', '.'], folder, environment);
    expect([code, stdout, stderr]).toEqual([undefined, expect.stringMatching(/^ok/), '']);
  });
});
