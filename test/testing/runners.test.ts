import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { PROJECT_DIR } from '../support/paths.ts';
import { temporaryFolder } from '../support/server.ts';

/* The fixtures for test runners, in files that those runners run: two tests that would see each other on one server, and one that fails. */

const TESTS = `
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
test('the first', async ({ server }) => void (await server.create(configMap)));
test('the second', async ({ server }) => void (await server.create(configMap)));
test('fails', async ({ server }) => {
  const response = await fetch(server.url + '/healthz').catch((error) => error);
  await server.requests.waitFor({ verb: 'get' }, { timeout: 100 });
});
const inNamespace = serverTest({ isolation: 'namespace' });
inNamespace('has a namespace', async ({ server, namespace }) => {
  if (!namespace.startsWith('test-')) throw new Error(namespace);
  await server.create({ ...configMap, metadata: { name: 'one', namespace } });
});
`;

function projectWith(file: string, text: string): string {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'binnacle'), { recursive: true });
  symlinkSync(join(PROJECT_DIR, 'package.json'), join(modules, 'binnacle', 'package.json'));
  symlinkSync(inject('distDir'), join(modules, 'binnacle', 'dist'));
  symlinkSync(join(PROJECT_DIR, 'node_modules', 'vitest'), join(modules, 'vitest'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, file), text);
  return folder;
}

const run = (args: readonly string[], cwd: string): Promise<{ stdout: string; stderr: string; code?: number }> => {
  const { NODE_TEST_CONTEXT: _context, VITEST: _vitest, ...env } = process.env;
  return promisify(execFile)(process.execPath, [...args], { cwd, env, timeout: 90_000 }).catch((error) => error);
};

describe('binnacle/node-test', () => {
  test('gives each test a server of its own, and shows the requests of one that fails', async () => {
    const folder = projectWith('own.test.js', `import { serverTest } from 'binnacle/node-test';\nconst test = serverTest();\n${TESTS}`);
    const { stdout, stderr, code } = await run(['own.test.js'], folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^# pass 3$/m);
    expect(stdout).toMatch(/^# fail 1$/m);
    expect(stdout + stderr).toContain('The last requests of "fails":');
  });
});

describe('binnacle/vitest', () => {
  test('gives each test a server of its own, and shows the requests of one that fails', async () => {
    const folder = projectWith('own.test.js', `import { serverTest } from 'binnacle/vitest';\nconst test = serverTest();\n${TESTS}`);
    const { stdout, stderr, code } = await run([join(PROJECT_DIR, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter=verbose'], folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/1 failed.*3 passed/);
    expect(stdout + stderr).toContain('The last requests of "fails":');
  });
});

describe('binnacle/jest', () => {
  test('takes test and afterAll from the global scope, as Jest gives them', async () => {
    // Jest itself is no dependency of this project: these are the two functions of it that are used.
    const harness = `
const tests = [], ends = [];
globalThis.test = Object.assign((name, run) => tests.push([name, run]), { only() {}, skip() {}, concurrent() {} });
globalThis.afterAll = (run) => ends.push(run);
const { serverTest } = require('binnacle/jest');
const test = serverTest();
${TESTS}
(async () => {
  for (const [name, run] of tests) console.log(name + ': ' + (await run().then(() => 'passed', () => 'failed')));
  for (const end of ends) await end();
})();`;
    const folder = projectWith('own.cjs', harness);
    const { stdout, stderr, code } = await run(['own.cjs'], folder);
    expect([code, stdout]).toEqual([undefined, 'the first: passed\nthe second: passed\nfails: failed\nhas a namespace: passed\n']);
    expect(stderr).toContain('The last requests of "fails":');
  });
});
