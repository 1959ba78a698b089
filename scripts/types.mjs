// Puts the declarations of the embeddable server beside its bundle in dist/: the package's interface, and nothing that it stands on.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MADE = 'node_modules/.cache/types';
execFileSync('npx', ['tsc', '-p', 'tsconfig.types.json'], { stdio: 'inherit' });
for (const file of ['index.d.ts', 'compose/started-server.d.ts']) {
  const target = join('dist', file);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, readFileSync(join(MADE, file), 'utf8').replaceAll(".ts'", ".js'"));
}
