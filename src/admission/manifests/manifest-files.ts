import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** One document of one file. */
export interface ManifestDocument {
  path: string;
  text: string;
}

export interface ManifestFiles {
  documents: readonly ManifestDocument[];
  /** Of all that was read; '' where that is nothing. */
  hash: string;
}

const EXTENSIONS = new Set(['.yaml', '.yml', '.json']);
/** Between two documents of a file of YAML; what stands behind it on its line belongs to neither. */
const SEPARATOR = /^---.*$/m;

/** The YAML and JSON of a folder, in the order of the files' names; folders in it are passed over. Throws an Error in upstream's words. */
export async function readManifestFiles(folder: string): Promise<ManifestFiles> {
  const names = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    throw new Error(`failed to read manifest directory ${JSON.stringify(folder)}: ${error.message}`);
  });
  const documents: ManifestDocument[] = [];
  const hash = createHash('sha256');
  let isEmpty = true;
  for (const entry of names.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isDirectory() || !EXTENSIONS.has(extname(entry.name).toLowerCase())) continue;
    const path = join(folder, entry.name);
    const content = await readFile(path).catch((error: Error) => {
      throw new Error(`failed to read file ${JSON.stringify(path)}: ${error.message}`);
    });
    if (content.length === 0) continue;
    isEmpty = false;
    hash.update(content).update('\0');
    for (const text of content.toString().split(SEPARATOR)) if (text.trim() !== '') documents.push({ path, text: text.trim() });
  }
  return { documents, hash: isEmpty ? '' : `sha256:${hash.digest('hex')}` };
}
