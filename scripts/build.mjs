// Bundles the command and the embeddable server into dist/. What a first request does not need stays in chunks of its own, loaded when asked for.
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: { binnacle: 'src/cli/main.ts', index: 'src/index.ts' },
  outdir: 'dist',
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
chmodSync('dist/binnacle.js', 0o755);
