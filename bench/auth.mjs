// What authentication and authorization alone cost a request, in CPU time: both are built from source for this.
import { mkdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const OUTPUT = fileURLToPath(new URL('../node_modules/.cache/bench/auth-costs.mjs', import.meta.url));

/** `record(what, value, unit, limit)` is told each figure. */
export async function authCosts(record) {
  mkdirSync(new URL('./', pathToFileURL(OUTPUT)), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL('./auth-costs.ts', import.meta.url))],
    outfile: OUTPUT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const costs = await import(pathToFileURL(OUTPUT).href);
  await costs.authCosts(record);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await authCosts((what, value, unit, limit) => console.log(`${what}: ${value.toFixed(2)} ${unit} (limit ${limit})`));
