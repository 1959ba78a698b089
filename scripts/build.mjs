// Builds dist/ (or --outdir):
//
//     bundle.js, .cache        all of the server in one file, and what V8 made of it
//     binnacle.js              the command, which loads it
//     index.js                 the embeddable server, which loads it too
//     vitest.mjs, jest.js, node-test.js
//                              fixtures for test runners, which load index.js
//     watchdog-worker.cjs      the thread that watches a supervised server
//     seed.json                what a fresh store begins with
//     descriptions.json.br     what `kubectl explain` shows
//     console/                 the console's page and its assets, compressed
//     package.json             all of this is CommonJS: as a module, the command would make Node prepare its other loader, ten milliseconds
//     THIRD-PARTY-LICENSES.txt of the packages in the bundle
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { parse } from 'yaml';
import { LMDB_PACKAGES, bundledLmdb } from './bundled-lmdb.mjs';
import { CONSOLE_PACKAGES, buildConsole } from './console.mjs';
import { writeDescriptions } from './descriptions.mjs';

const { values } = parseArgs({ options: { outdir: { type: 'string', default: 'dist' } } });
const outdir = resolve(values.outdir);
const START_LIMIT_MS = 20_000;

/** V8 reads a string and parses it as JSON in a third of the time that the same text takes as a program. */
const jsonAsText = {
  name: 'json-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.json$/ }, ({ path }) => {
      const text = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')));
      return { contents: `export default JSON.parse(${JSON.stringify(text)})`, loader: 'js' };
    });
  },
};

const common = {
  outdir,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  define: { 'import.meta.url': '__moduleUrl' },
  plugins: [jsonAsText, bundledLmdb],
};
const MODULE_URL = "const __moduleUrl=require('node:url').pathToFileURL(__filename).href;";

rmSync(outdir, { recursive: true, force: true });
await build({
  ...common,
  entryPoints: { bundle: 'src/cli/bundle.ts' },
  // A function, as Node makes one of a module: V8 reads the file as it is.
  banner: { js: `(function(exports,require,module,__filename,__dirname){"use strict";${MODULE_URL}` },
  footer: { js: '})' },
});
await build({ ...common, entryPoints: { index: 'src/cli/library.ts' } });
/** Test runners load what every other program does. */
const libraryApart = {
  name: 'library-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/index\.ts$/ }, () => ({ path: './index.js', external: true }));
  },
};
const runners = { ...common, plugins: [libraryApart], external: ['vitest'] };
await build({ ...runners, entryPoints: { jest: 'src/testing/runners/jest.ts', 'node-test': 'src/testing/runners/node-test.ts' } });
await build({ ...runners, format: 'esm', outExtension: { '.js': '.mjs' }, entryPoints: { vitest: 'src/testing/runners/vitest.ts' } });
await build({ ...common, entryPoints: { binnacle: 'src/cli/main.ts' }, banner: { js: '#!/usr/bin/env node' } });
chmodSync(join(outdir, 'binnacle.js'), 0o755);
await build({
  ...common,
  entryPoints: { seed: 'src/kube/bootstrap/seed.ts', 'code-cache': 'src/cli/code-cache.ts', 'watchdog-worker': 'src/supervision/watchdog-worker.ts' },
  outExtension: { '.js': '.cjs' },
  banner: { js: MODULE_URL },
});
writeFileSync(join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
writeDescriptions(join(outdir, 'descriptions.json.br'));
await buildConsole(outdir);
writeLicenses(['@noble/ciphers', 'sorted-btree', 'yaml', ...LMDB_PACKAGES, ...CONSOLE_PACKAGES]);
await learnFromStarts();

/** What the packages in the bundle ask to be carried with them. */
function writeLicenses(packages) {
  const texts = packages.map((name) => `${name}\n\n${readFileSync(join('node_modules', name, 'LICENSE'), 'utf8').trim()}\n`);
  writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), texts.join('\n----\n\n'));
}

/**
 * Starts the server three times. What the first start stores is the seed of fresh stores; the others begin with it, within a program and as the command, so that
 * the code cache has the functions that every start and the first requests run. A server that does not start says why, and goes without.
 */
async function learnFromStarts() {
  const requireBuilt = createRequire(join(outdir, 'package.json'));
  const { exports, writeCache } = requireBuilt('./code-cache.cjs').loadBundle(join(outdir, 'bundle.js'));
  await startOnce(exports, (folder) => requireBuilt('./seed.cjs').writeSeed(join(folder, 'store'), '/registry/', join(outdir, 'seed.json')));
  await useOnce(exports);
  await startOnce(exports, writeCache);
  for (const file of ['seed.cjs', 'code-cache.cjs']) rmSync(join(outdir, file));
}

/** A server within this process, what most tests begin with, and what kubectl asks before it explains or edits. */
async function useOnce({ startServer }) {
  const server = await startServer();
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'one' };
  await server.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } });
  await server.get(reference);
  await server.list(reference);
  await server.delete(reference);
  for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) await download(server, path);
  await server.stop();
}

async function download({ url, kubeconfig, caCertificate: ca }, path) {
  const { user } = parse(kubeconfig).users[0];
  const [cert, key] = ['client-certificate-data', 'client-key-data'].map((field) => Buffer.from(user[field], 'base64'));
  const [response] = await once(get(url + path, { ca, cert, key }), 'response');
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
  await once(response.resume(), 'end');
}

/** On a store of its own in a temporary folder, until `onReady` is done. */
async function startOnce({ runCommand }, onReady) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-build-'));
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), START_LIMIT_MS);
  const flags = [`--data-dir=${folder}`, '--secure-port=0', '--bind-address=127.0.0.1', '--authorization-mode=RBAC'];
  const output = { stdout: () => {}, stderr: (text) => text.startsWith('error:') && console.error(text), columns: 0 };
  const settings = {
    stopSignal: stop.signal,
    onReady: async () => {
      await onReady(folder);
      stop.abort();
    },
  };
  await runCommand(['node', 'binnacle', 'serve', ...flags], output, settings);
  clearTimeout(timer);
  rmSync(folder, { recursive: true });
}
