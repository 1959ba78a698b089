// Puts the declarations of the embeddable server beside its bundle in dist/ (or --outdir): those of the package's interface, and what they name.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { outdir: { type: 'string', default: 'dist' } } });
const MADE = 'node_modules/.cache/types';
execFileSync('npx', ['tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
const RUNNERS = ['vitest', 'jest', 'node-test'].map((name) => `testing/runners/${name}.d.ts`);
const files = new Set(['index.d.ts', ...RUNNERS]);
for (const file of files) {
  const text = readFileSync(join(MADE, file), 'utf8');
  for (const [, path] of text.matchAll(/from '(\.[^']+)\.ts'/g)) files.add(`${join(dirname(file), path)}.d.ts`);
  // Vitest is a module, and so is what imports it; the rest of dist/ is CommonJS.
  const target = join(values.outdir, file.replace(/vitest\.d\.ts$/, 'vitest.d.mts'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text.replaceAll(".ts'", ".js'"));
}
