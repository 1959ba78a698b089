import { join, resolve } from 'node:path';
import { writeBackup } from '../../storage/backup/write.ts';
import { HISTORY_FOLDER } from '../../history/kept/history-folder.ts';
import type { Output } from '../command.ts';
import { onlyArgument, readOwnFlags } from './own-flags.ts';
import { progressLine } from './progress-line.ts';

/** `binnacle backup <file>`: the embedded store as it is now, whether or not a server is writing to it. */
export async function backup(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, {
    'data-dir': { type: 'string', default: '.binnacle' },
    'with-history': { type: 'boolean', default: false },
  });
  const dataDir = resolve(String(values['data-dir']));
  const file = resolve(onlyArgument('binnacle backup', 'file to write', positionals));
  const progress = progressLine('Backing up', output);
  try {
    const historyFolder = values['with-history'] === true ? join(dataDir, HISTORY_FOLDER) : undefined;
    const { count, revision } = await writeBackup(join(dataDir, 'store'), file, progress.update, historyFolder);
    progress.end();
    output.stdout(`${count} objects as of version ${revision} are in ${file}\n`);
  } finally {
    progress.end();
  }
}

export const backupHelp = (program: string): string => `Writes the objects of an embedded store to a file, as they are at one moment. A server may be
running on the store: it is not held up, and everything that it has acknowledged by now is in
the file. The file appears when it is whole and on disk; one of the same name is replaced.

The keys and certificates that lie beside the store are not in it. Objects that are stored
encrypted are encrypted in it too.

Usage:
  ${program} <file> [flags]

Flags:
      --data-dir .binnacle         where the store is
      --with-history               the history that the server keeps (--history) goes along
`;
