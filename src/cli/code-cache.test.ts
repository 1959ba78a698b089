import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadBundle } from './code-cache.ts';

interface Exports {
  greet(name: string): string;
  folder: string;
}

const folder = mkdtempSync(join(tmpdir(), 'binnacle-code-cache-'));
const path = join(folder, 'bundle.cjs');
writeFileSync(
  path,
  "(function (exports, require, module, __filename, __dirname) {\nconst { dirname } = require('node:path');\nexports.greet = (name) => `hello ${name}`;\nexports.folder = dirname(__filename);\n})",
);
afterAll(() => rmSync(folder, { recursive: true }));

describe('a bundle', () => {
  test('runs without a cache, from one, and past one that does not fit', () => {
    const first = loadBundle<Exports>(path);
    expect(first.exports.greet('you')).toBe('hello you');
    expect(first.exports.folder).toBe(folder);
    expect(existsSync(`${path}.cache`)).toBe(false);

    first.writeCache();
    expect(existsSync(`${path}.cache`)).toBe(true);
    expect(loadBundle<Exports>(path).exports.greet('again')).toBe('hello again');

    writeFileSync(`${path}.cache`, 'of another Node');
    expect(loadBundle<Exports>(path).exports.greet('still')).toBe('hello still');
  });
});
