import { expect, test } from 'vitest';
import { flagsDocument } from './document.ts';

test('docs/flags.md is what the tables say', async () => {
  await expect(flagsDocument()).toMatchFileSnapshot('../../../docs/flags.md');
});
