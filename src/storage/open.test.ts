import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEngine } from './open.ts';

test('the embedded store keeps what it was given, the memory store does not', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-open-'));
  try {
    for (const backend of ['embedded', 'memory'] as const) {
      const first = await openEngine({ backend, dataDir });
      await first.commit({ type: 'put', key: `/${backend}`, value: Buffer.from('x'), expected: 0 });
      await first.close();
      const second = await openEngine({ backend, dataDir });
      expect(await second.get(`/${backend}`)).toEqual(
        backend === 'embedded' ? { key: '/embedded', value: Buffer.from('x'), revision: 2, createdRevision: 2, version: 1 } : undefined,
      );
      await second.close();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
