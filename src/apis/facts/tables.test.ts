import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../../scripts/facts/current.ts';
import { generate } from '../../../scripts/facts/generate.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('the committed tables are what `npm run facts` makes', () => {
  const files = generate(join(ROOT, CURRENT_FACTS));
  const isStale = ([path, text]: [string, string]): boolean => readFileSync(join(ROOT, path), 'utf8') !== text;
  expect([...files].filter(isStale).map(([path]) => path)).toEqual([]);
  const types = readdirSync(join(ROOT, 'src/apis/facts/types')).map((file) => `src/apis/facts/types/${file}`);
  expect(types.filter((path) => !files.has(path))).toEqual([]);
});
