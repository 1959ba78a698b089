// Builds the console's page (console/) into a folder `console` of what it is given: index.html, and assets/ with a hash in every name, each beside its
// compressed forms. The server reads these files when they are first asked for (docs/console.md).
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Packages whose code is in the page; their licenses are carried with it. */
export const CONSOLE_PACKAGES = [
  'preact',
  '@preact/signals',
  '@preact/signals-core',
  '@codemirror/autocomplete',
  '@codemirror/commands',
  '@codemirror/lang-yaml',
  '@codemirror/language',
  '@codemirror/search',
  '@codemirror/state',
  '@codemirror/view',
  '@lezer/common',
  '@lezer/highlight',
  '@lezer/lr',
  '@lezer/yaml',
  '@marijn/find-cluster-break',
  'crelt',
  'style-mod',
  'w3c-keyname',
];

export async function buildConsole(outdir) {
  const folder = join(outdir, 'console');
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: { console: 'console/main.tsx', style: 'console/styles/main.css' },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['chrome110', 'firefox115', 'safari16.4'],
    minify: true,
    metafile: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'console/tsconfig.json',
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    loader: { '.svg': 'file' },
  });
  writeIndex(folder, metafile);
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) compress(join(folder, file));
}

/** The page itself, which names the entries; what the script imports at once is asked for beside it, not after it. */
function writeIndex(folder, { outputs }) {
  const [script, chunk] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === 'console/main.tsx');
  const [style] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === 'console/styles/main.css');
  const assetOf = (path) => `assets/${basename(path)}`;
  const preloads = chunk.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => `<link rel="modulepreload" href="${assetOf(path)}">`);
  const page = readFileSync('console/index.html', 'utf8')
    .replace('<!-- preloads -->', preloads.join('\n    '))
    .replace('style.css', assetOf(style))
    .replace('main.js', assetOf(script));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.html'), page);
}

function compress(file) {
  if (statSync(file).isDirectory()) return;
  const bytes = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}
