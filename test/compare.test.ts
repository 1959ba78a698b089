import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { explainWhole } from '../compare/whole.ts';
import { CACHE_DIR, PROJECT_DIR } from './support/paths.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* `npm run compare` on servers whose differences are known: none, and one that is made. */

const PROGRAM = join(CACHE_DIR, 'compare-test.mjs');

interface Run {
  code: number;
  output: string;
}

beforeAll(() =>
  build({
    entryPoints: [join(PROJECT_DIR, 'compare/main.ts')],
    outfile: PROGRAM,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  }),
);

const compare = (reference: ServerProcess, server: ServerProcess, ...flags: string[]): Promise<Run> =>
  new Promise((resolve) => {
    const args = [PROGRAM, '--reference', reference.url, '--server', server.url, ...flags];
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });

test('a server compared with another of its kind shows no difference', { timeout: 120_000 }, async () => {
  const [reference, server] = await Promise.all([startServer(), startServer()]);
  const { code, output } = await compare(reference, server, '--seed', '1', '--requests', '300');
  expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  expect(output).toContain('0 unexplained differences');
});

test('a difference is found, and shrunk to the few requests that show it', { timeout: 120_000 }, async () => {
  const [reference, server] = await Promise.all([startServer(), startServer({ flags: ['--enable-admission-plugins=AlwaysPullImages'] })]);
  const { code, output } = await compare(reference, server, '--seed', '2', '--requests', '60', '--only', '^limit$', '--show', '1');
  expect(code).toBe(1);
  const [, shown] = output.split('── ');
  expect(shown).toMatch(/--seed=2 --scenario=\d+/);
  // A scenario of this area has some eight; the pod is the last of those that stay.
  expect(shown!.match(/^ {3}\d+\. /gm)!.length).toBeLessThanOrEqual(2);
  expect(shown).toMatch(/^ {3}\d+\. POST \/api\/v1\/namespaces\/n0+\/pods$/m);
  expect(shown).toMatch(/≠ body\.spec\.containers\[0\]\.imagePullPolicy\s+reference "IfNotPresent"\s+server {4}"Always"/);
});

test('webhooks that the reference asked twice are explained whatever the order of keys, and only where both questions are the same', () => {
  const answer = (...reviews: { kind: string; spec: number }[]) => ({ status: 200, headers: {}, body: null, reviews });
  const once = answer({ kind: 'Thing', spec: 1 });
  expect(explainWhole(answer({ spec: 1, kind: 'Thing' }, { spec: 1, kind: 'Thing' }), once)?.name).toMatch(/^the reference asked webhooks again/);
  expect(explainWhole(answer({ spec: 1, kind: 'Thing' }, { spec: 2, kind: 'Thing' }), once)).toBeUndefined();
});
