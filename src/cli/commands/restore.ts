import { join, resolve } from 'node:path';
import { restoreBackup } from '../../storage/backup/restore.ts';
import { HISTORY_FOLDER } from '../../history/kept/history-folder.ts';
import type { Output } from '../command.ts';
import { onlyArgument, readOwnFlags } from './own-flags.ts';
import { progressLine } from './progress-line.ts';

/** `binnacle restore <file>`: makes an embedded store of a backup. */
export async function restore(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, {
    'data-dir': { type: 'string', default: '.binnacle' },
    force: { type: 'boolean', default: false },
  });
  const file = resolve(onlyArgument('binnacle restore', 'file to read', positionals));
  const dataDir = resolve(String(values['data-dir']));
  const folder = join(dataDir, 'store');
  const progress = progressLine('Restoring', output);
  try {
    const { count, revision } = await restoreBackup({
      file,
      folder,
      historyFolder: join(dataDir, HISTORY_FOLDER),
      force: values['force'] === true,
      onProgress: progress.update,
    });
    progress.end();
    output.stdout(`${count} objects are in ${folder}, which goes on from version ${revision}\n`);
  } finally {
    progress.end();
  }
}

export const restoreHelp = (program: string): string => `Makes an embedded store of a file that \`binnacle backup\` wrote. The file is checked from its
first to its last byte before the store appears; if it is damaged, nothing is changed.

Objects keep their names, uids and versions. New versions begin far beyond those of the backup,
so that none that the lost store gave out is ever given again; clients that watch from such a
version are told to list anew. The history is there again where the file has it.

Usage:
  ${program} <file> [flags]

Flags:
      --data-dir .binnacle         where the store is to be
      --force                      replace a store that is there
`;
