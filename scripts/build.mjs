// Bundles the command and the embeddable server into dist/ (or --outdir). What a first request does not need stays in chunks of its own, loaded when asked for.
import { chmodSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { writeDescriptions } from './descriptions.mjs';

const { values } = parseArgs({ options: { outdir: { type: 'string', default: 'dist' } } });

rmSync(values.outdir, { recursive: true, force: true });
await build({
  entryPoints: { binnacle: 'src/cli/main.ts', index: 'src/index.ts' },
  outdir: values.outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: false,
  legalComments: 'none',
  // Native code, found beside its own package.
  external: ['lmdb'],
  // Bundled CommonJS packages call require.
  banner: { js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);" },
});
chmodSync(`${values.outdir}/binnacle.js`, 0o755);

writeDescriptions(`${values.outdir}/descriptions.json`);
