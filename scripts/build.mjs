// Builds dist/ (or --outdir):
//
//     binnacle.js, main.cjs    start command.cjs
//     command.cjs, .cache      the command in one file, and what V8 made of it
//     watchdog-worker.cjs      the thread that watches a supervised server
//     seed.json                what a fresh store begins with
//     index.js and chunks      the embeddable server
//     descriptions.json.br     what `kubectl explain` shows
//     THIRD-PARTY-LICENSES.txt of the packages in the bundles
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
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
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  // Native code, found beside its own package.
  external: ['lmdb'],
  plugins: [jsonAsText],
};

rmSync(outdir, { recursive: true, force: true });
await build({
  ...common,
  entryPoints: { index: 'src/index.ts' },
  format: 'esm',
  splitting: true,
  // Bundled CommonJS packages call require.
  banner: { js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);" },
});
await build({
  ...common,
  entryPoints: {
    main: 'src/cli/main.ts',
    'code-cache': 'src/cli/code-cache.ts',
    command: 'src/cli/command.ts',
    seed: 'src/kube/bootstrap/seed.ts',
    'watchdog-worker': 'src/supervision/watchdog-worker.ts',
  },
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: { 'import.meta.url': '__moduleUrl' },
  banner: { js: "const __moduleUrl=require('node:url').pathToFileURL(__filename).href;" },
});
// CommonJS from the second line on: as a module, main would make Node prepare every name that `fs` exports, six milliseconds.
writeFileSync(
  join(outdir, 'binnacle.js'),
  "#!/usr/bin/env node\nimport { createRequire } from 'node:module';\ncreateRequire(import.meta.url)('./main.cjs');\n",
  { mode: 0o755 },
);
writeDescriptions(join(outdir, 'descriptions.json.br'));
writeLicenses(['@noble/ciphers', 'sorted-btree', 'yaml']);
await learnFromStarts();

/** What the packages in the bundle ask to be carried with them. */
function writeLicenses(packages) {
  const texts = packages.map((name) => `${name}\n\n${readFileSync(join('node_modules', name, 'LICENSE'), 'utf8').trim()}\n`);
  writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), texts.join('\n----\n\n'));
}

/**
 * Starts the server twice. What the first start stores is the seed of fresh stores; the second begins with it, so that the code cache has the functions that
 * every start runs. A server that does not start says why, and goes without.
 */
async function learnFromStarts() {
  const requireBuilt = createRequire(join(outdir, 'main.cjs'));
  const { exports, writeCache } = requireBuilt('./code-cache.cjs').loadBundle(join(outdir, 'command.cjs'));
  await startOnce(exports, (folder) => requireBuilt('./seed.cjs').writeSeed(join(folder, 'store'), '/registry/', join(outdir, 'seed.json')));
  await startOnce(exports, writeCache);
  rmSync(join(outdir, 'seed.cjs'));
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
