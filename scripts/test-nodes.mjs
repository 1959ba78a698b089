// npm run test:nodes [-- 22 24 [-- vitest arguments]]: the tests on each supported Node, from npm's `node` package (into node_modules/.cache).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const SUPPORTED = ['20', '22', '24'];
const split = process.argv.indexOf('--', 2);
const named = process.argv.slice(2, split < 0 ? undefined : split);
const vitestArguments = split < 0 ? [] : process.argv.slice(split + 1);
const wrong = named.find((version) => !/^\d+(\.\d+){0,2}$/.test(version));
if (wrong !== undefined) {
  console.error(`error: "${wrong}" is no version of Node; name majors or exact versions, as in: npm run test:nodes -- 22 24`);
  process.exit(1);
}

const failed = (named.length > 0 ? named : SUPPORTED).filter((version) => {
  const node = nodeOf(version);
  console.log(`\n=== Node ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
  // Whatever the tests start as `node` is this one too.
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env['PATH']}` };
  return spawnSync(node, ['node_modules/vitest/vitest.mjs', 'run', ...vitestArguments], { stdio: 'inherit', env }).status !== 0;
});
if (failed.length > 0) console.error(`\nerror: the tests fail on Node ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);

function nodeOf(version) {
  const folder = resolve('node_modules/.cache', `node-${version}`);
  const node = resolve(folder, 'node_modules/node/bin/node');
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  console.log(`fetching node@${version}`);
  const { status } = spawnSync('npm', ['install', '--no-save', '--prefix', folder, `node@${version}`], { stdio: 'inherit' });
  if (status !== 0 || !existsSync(node)) {
    console.error(`error: npm could not install node@${version}; is there such a version, and a network?`);
    process.exit(1);
  }
  return node;
}
