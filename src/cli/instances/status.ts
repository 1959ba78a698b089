import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { ageSince } from '../../util/duration.ts';
import type { Output } from '../command.ts';
import { noArguments, readOwnFlags } from '../commands/own-flags.ts';
import { folderOf, type Instance, isReady, namedFolders, runningInstance } from './instance.ts';

const FLAGS = { name: { type: 'string' }, 'data-dir': { type: 'string' } } as const;

/** `binnacle status`: the servers that run, one line each. */
export async function status(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, FLAGS);
  noArguments('binnacle status', positionals);
  const isNamed = values['name'] !== undefined || values['data-dir'] !== undefined;
  const folders = isNamed ? [folderOf(values)] : [folderOf({}), ...namedFolders()];
  const running = folders.filter(existsSync).flatMap((folder) => runningInstance(folder) ?? []);
  const rows = await Promise.all(running.map(rowOf));
  output.stdout(rows.length === 0 ? 'No server runs here. Start one with: binnacle up\n' : table([['NAME', 'STATE', 'URL', 'AGE', 'PID', 'FOLDER'], ...rows]));
}

async function rowOf(instance: Instance): Promise<string[]> {
  const { folder, pid, url, startedAt } = instance;
  const name = namedFolders().includes(folder) ? basename(folder) : '-';
  return [name, (await isReady(instance)) ? 'ready' : 'not ready', url, ageSince(startedAt, new Date()), String(pid), folder];
}

/** As kubectl prints one: three spaces between the columns. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}

export const statusHelp = (
  program: string,
): string => `Shows the servers that \`binnacle up\` has started: the one of the current folder, and all that have a name.

Usage:
  ${program} [flags]

Flags:
      --name string       that instance alone
      --data-dir string   the one in this folder alone
`;
