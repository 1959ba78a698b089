// Parts of the server alone, without a server around them: they are built from source for this.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const FOLDER = fileURLToPath(new URL('../node_modules/.cache/bench/', import.meta.url));

/** The exports of a TypeScript file beside this one. */
export async function fromSource(name) {
  const outfile = `${FOLDER}${name}.mjs`;
  await build({
    entryPoints: [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Native code is found where it is installed.
    external: ['lmdb'],
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return import(pathToFileURL(outfile).href);
}
