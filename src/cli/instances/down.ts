import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { noArguments, readOwnFlags } from '../commands/own-flags.ts';
import { folderOf, isReady, isRunning, runningInstance } from './instance.ts';

const FLAGS = { name: { type: 'string' }, 'data-dir': { type: 'string' } } as const;
const POLL_MS = 20;
const TIMEOUT_MS = 90_000;

/** `binnacle down`: stops a server and waits until it has; what it stored stays. */
export async function down(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, FLAGS);
  noArguments('binnacle down', positionals);
  const folder = folderOf(values);
  const instance = runningInstance(folder);
  if (!instance) throw new CommandError(`no server runs in ${folder}`);
  const { pid, url } = instance;
  // The number may be another process' by now.
  if (!(await isReady(instance)))
    throw new CommandError(`process ${pid} does not answer at ${url} as the server of ${folder}: look at it, and end it with kill ${pid}`);
  process.kill(pid, 'SIGTERM');
  const deadlineMs = performance.now() + TIMEOUT_MS;
  while (isRunning(pid)) {
    if (performance.now() > deadlineMs) throw new CommandError(`process ${pid} has not ended after ${TIMEOUT_MS / 1000} s`);
    await delay(POLL_MS);
  }
  output.stdout(`Stopped ${url}\n`);
}

export const downHelp = (program: string): string => `Stops a server that \`binnacle up\` has started. What it stored stays in its folder.

Usage:
  ${program} [flags]

Flags:
      --name string       the instance of this name
      --data-dir string   the one in this folder (default ".binnacle")
`;
