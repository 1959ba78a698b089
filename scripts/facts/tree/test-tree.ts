import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A tree of sources in a folder of its own, which goes with the process: path → text. */
export function testTree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'facts-tree-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
