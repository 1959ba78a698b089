import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SlowInput } from './slow.ts';

/* `fuzz/corpus/<target>/`: the slowest inputs that were found, replayed by every run and by the tests. */

const MAX_FILE_BYTES = 64 * 1024;
const SAVED_PER_TARGET = 4;

/** In the order of their names, so that a run does not depend on the file system. */
export function readCorpus(folder: string, target: string): Buffer[] {
  const path = join(folder, target);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .toSorted()
    .map((file) => readFileSync(join(path, file)));
}

/** The slowest few, each half as long as, or longer than, those before it: near copies of one input say nothing more. */
export function saveCorpus(folder: string, target: string, slowest: readonly SlowInput[]): void {
  const path = join(folder, target);
  const saved: SlowInput[] = [];
  for (const candidate of slowest) {
    const { length } = candidate.input;
    if (length > MAX_FILE_BYTES || saved.length >= SAVED_PER_TARGET) continue;
    if (saved.some(({ input }) => length > input.length / 2 && length < input.length * 2)) continue;
    saved.push(candidate);
  }
  mkdirSync(path, { recursive: true });
  for (const { input } of saved) writeFileSync(join(path, createHash('sha256').update(input).digest('hex').slice(0, 16)), input);
}
