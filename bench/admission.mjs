// What admission alone costs a create, in CPU time, without a server around it: the chain is built from source for this.
import { mkdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const OUTPUT = fileURLToPath(new URL('../node_modules/.cache/bench/admission-chain.mjs', import.meta.url));

/** `record(what, value, unit, limit)` is told each figure. */
export async function admissionCosts(record) {
  mkdirSync(new URL('./', pathToFileURL(OUTPUT)), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL('./admission-chain.ts', import.meta.url))],
    outfile: OUTPUT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const chain = await import(pathToFileURL(OUTPUT).href);
  await chain.admissionCosts(record);
}
