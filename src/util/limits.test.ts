import { expect, test } from 'vitest';
import { limitsDocument } from './limits.ts';

test('docs/limits.md is what the table says', async () => {
  await expect(limitsDocument()).toMatchFileSnapshot('../../docs/limits.md');
});
