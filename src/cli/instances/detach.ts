import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../../options/command-error.ts';
import { type Instance, isReady, readInstance, removeInstance, runningInstance } from './instance.ts';

/** Built beside this bundle. */
const COMMAND_FILE = join(dirname(fileURLToPath(import.meta.url)), 'binnacle.js');
const POLL_MS = 20;

/** Starts `binnacle up` with these arguments as a process of its own, which goes on when this one and its terminal are gone; settles when it is ready. */
export async function startDetached(args: readonly string[], folder: string): Promise<Instance> {
  const running = runningInstance(folder);
  if (running && (await isReady(running))) throw new CommandError(`a server runs in ${folder} already, at ${running.url}`);
  // Of one that was killed.
  removeInstance(folder, readInstance(folder)?.pid);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'w', 0o600);
  const child = spawn(process.execPath, [COMMAND_FILE, 'up', ...args], { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  let isOver = false;
  child.once('exit', () => (isOver = true));
  child.once('error', () => (isOver = true));
  for (;;) {
    const instance = readInstance(folder);
    if (instance) {
      child.unref();
      return instance;
    }
    if (isOver) throw new CommandError(`the server has ended; ${logFile} says: ${lastError(logFile)}`);
    await delay(POLL_MS);
  }
}

const lastError = (logFile: string): string => {
  const lines = readFileSync(logFile, 'utf8').trim().split('\n');
  return (lines.findLast((line) => line.startsWith('error: ')) ?? lines.at(-1) ?? '').replace(/^error: /, '');
};
