import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY_BYTES = 32;

/** By which values of Secrets are hashed (--history-secrets=hashed): made with the history, for its owner only. */
export function hashKeyIn(folder: string): Buffer {
  const path = join(folder, 'hash.key');
  try {
    writeFileSync(path, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path);
}

/** Of a history that is gone with the process. */
export const passingHashKey = (): Buffer => randomBytes(KEY_BYTES);
