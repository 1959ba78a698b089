import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Output } from '../command.ts';
import { ExitCode } from '../exit-code.ts';

/** What a shell answers for a command that is not there, and for one that may not be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** The signals that end a process when nothing handles them and leave no core dump: how the command ended is shown by ending in the same way. */
const REPEATED_SIGNALS: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGPIPE', 'SIGTERM', 'SIGUSR2'];
const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR2'];

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** What stands before `--`, and what behind it. */
export function splitArguments(args: readonly string[]): { flags: readonly string[]; command: readonly string[] } {
  const separator = args.indexOf('--');
  return separator < 0 ? { flags: args, command: [] } : { flags: args.slice(0, separator), command: args.slice(separator + 1) };
}

/** Runs the command on this process' own input and output; signals are forwarded to it meanwhile. */
export function runToEnd(file: string, args: readonly string[], env: NodeJS.ProcessEnv, output: Output): Promise<Ending> {
  // Before the command runs: it may be ready, and be seen to be, before this process goes on. Handlers are not called before there is a child.
  const stopForwarding = forwardSignals(() => child);
  // On Windows, npm and most tools are scripts, which only a shell runs.
  const isWindows = process.platform === 'win32';
  const child = isWindows
    ? spawn([file, ...args].map(windowsQuoted).join(' '), { stdio: 'inherit', env, shell: true })
    : spawn(file, [...args], { stdio: 'inherit', env });
  return new Promise<Ending>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      output.stderr(
        `error: cannot run ${JSON.stringify(file)}: ${isMissing ? 'no such command' : error.code === 'EACCES' ? 'permission denied' : error.message}\n`,
      );
      resolve({ code: isMissing ? NOT_FOUND : NOT_EXECUTABLE, signal: null });
    });
    child.once('close', (code, signal) => resolve({ code, signal }));
  }).finally(stopForwarding);
}

const windowsQuoted = (argument: string): string => (/^[\w@%+=:,./\\-]+$/.test(argument) ? argument : `"${argument.replaceAll('"', '""')}"`);

function forwardSignals(childOf: () => ChildProcess): () => void {
  const handlers = FORWARDED_SIGNALS.map((signal) => ({
    signal,
    // A terminal sends Ctrl-C to the command too: it must not get the signal twice.
    handler: () => void (signal === 'SIGINT' && process.stdin.isTTY ? undefined : childOf().kill(signal)),
  }));
  for (const { signal, handler } of handlers) process.on(signal, handler);
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
}

/** Returns for the exit code 0. For a signal, this process sends the same to itself; whoever waits for it sees what became of the command. */
export function endLike({ code, signal }: Ending): void {
  if (signal !== null) {
    if (process.platform !== 'win32' && REPEATED_SIGNALS.includes(signal)) process.kill(process.pid, signal);
    throw new ExitCode(128 + constants.signals[signal]);
  }
  if (code !== 0 && code !== null) throw new ExitCode(code);
}
