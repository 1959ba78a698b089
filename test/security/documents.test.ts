import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT_DIR } from '../support/paths.ts';

/* The pages that say what is defended name the tests that show it: those must exist, and have what is said of them. */

const PAGES = ['docs/security.md', 'docs/security-cases.md', 'docs/supervision.md'];

interface Named {
  path: string;
  /** Parts of the titles that are named behind it, in brackets. */
  titles: string[];
}

/** `path/of.test.ts` or a folder, and behind it, in brackets, titles that are separated by semicolons; an ellipsis stands for some of one. */
const NAMED = /`((?:src|test|fuzz|bench)\/[^`\s]*(?:\.ts|\.mjs|\/))`(?: \(([^)]*(?:\([^)]*\)[^)]*)*)\))?/g;

const namedIn = (page: string): Named[] =>
  [...readFileSync(join(PROJECT_DIR, page), 'utf8').matchAll(NAMED)].map(([, path, titles]) => ({
    path: path!,
    titles: titles === undefined || !path!.endsWith('.test.ts') ? [] : titles.split(/[;…]/).map((title) => title.trim().replaceAll(/\s+/g, ' ')),
  }));

describe.each(PAGES)('%s', (page) => {
  const named = namedIn(page);

  test.runIf(named.length > 0).each(named)('$path', ({ path, titles }) => {
    const file = join(PROJECT_DIR, path);
    expect(existsSync(file)).toBe(true);
    if (statSync(file).isDirectory()) return;
    const text = readFileSync(file, 'utf8').replaceAll(/\\(['"`])/g, '$1');
    for (const title of titles) expect(text).toContain(title);
  });
});

test('docs/security.md names a test for every row of attacks on availability, and for every known fault of others', () => {
  const rows = readFileSync(join(PROJECT_DIR, PAGES[0]!), 'utf8')
    .split('\n')
    .filter((line) => /^\| (\d+|CVE-)/.test(line));
  expect(rows.filter((row) => /^\| \d+ /.test(row)).map((row) => Number(row.split('|')[1]))).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(rows.filter((row) => row.startsWith('| CVE-')).length).toBeGreaterThanOrEqual(20);
  for (const row of rows) expect(row).toMatch(/`(?:src|test)\/[^`]+`/);
});
