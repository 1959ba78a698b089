import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from '../options/command-error.ts';

/** Undefined when there is no such file; a CommandError when there is one that cannot be read. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CommandError(`cannot read ${path}: ${reason(code)}; choose another folder with --data-dir or --cert-dir`);
  }
}

/** Writes a file whole or not at all, readable by its owner only, in a folder that is made where it is missing. */
export function writePrivately(path: string, content: string): void {
  const written = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(written, content, { mode: 0o600 });
    chmodSync(written, 0o600);
    renameSync(written, path);
  } catch (error) {
    throw new CommandError(`cannot write ${path}: ${reason((error as NodeJS.ErrnoException).code)}; choose another folder with --data-dir or --cert-dir`);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a part of the path is a file',
  EISDIR: 'it is a folder',
};
const reason = (code: string | undefined): string => reasons[code ?? ''] ?? code ?? 'unknown reason';
