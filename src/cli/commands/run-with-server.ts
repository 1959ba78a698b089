import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { CommandError } from '../../options/command-error.ts';
import { startTestServer } from '../../testing/test-server.ts';
import type { Output } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import { takeUpFlags } from '../instances/up-flags.ts';

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

/** `binnacle run -- <command>`: a server in memory for as long as the command runs, which finds it by KUBECONFIG. */
export async function runWithServer(args: readonly string[], output: Output): Promise<void> {
  const { flags, command } = splitArguments(args);
  if (flags.includes('--help') || flags.includes('-h')) return output.stdout(runHelp('binnacle run'));
  const [file, ...commandArgs] = command;
  if (file === undefined) throw new CommandError('"binnacle run" takes the command to run after "--": binnacle run -- npm test');
  // Signals that come while the server starts end this process as they always do: there is no command yet to hand them to.
  const { flags: own, serverArgs } = takeUpFlags(flags);
  if (own.detach || own.watch || own.name !== undefined)
    throw new CommandError('"binnacle run" has a server of its own: --detach, --watch and --name are for binnacle up');
  const { crds, apply } = own;
  const server = await startTestServer({ flags: serverArgs, ...(crds.length > 0 && { crds }), ...(apply.length > 0 && { objects: apply }) });
  const ending = await runToEnd(file, commandArgs, { ...process.env, KUBECONFIG: server.kubeconfigFile }, output).finally(() => server.stop());
  endLike(ending);
}

function splitArguments(args: readonly string[]): { flags: readonly string[]; command: readonly string[] } {
  const separator = args.indexOf('--');
  return separator < 0 ? { flags: args, command: [] } : { flags: args.slice(0, separator), command: args.slice(separator + 1) };
}

/** Runs the command on this process' own input and output; signals are forwarded to it meanwhile. */
function runToEnd(file: string, args: readonly string[], env: NodeJS.ProcessEnv, output: Output): Promise<Ending> {
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
function endLike({ code, signal }: Ending): void {
  if (signal !== null) {
    if (process.platform !== 'win32' && REPEATED_SIGNALS.includes(signal)) process.kill(process.pid, signal);
    throw new ExitCode(128 + constants.signals[signal]);
  }
  if (code !== 0 && code !== null) throw new ExitCode(code);
}

export const runHelp = (program: string): string => `Starts a server in memory on a free port, runs a command with KUBECONFIG set to it, and stops the server
when the command ends. The exit code is the command's; signals are forwarded to it.

Usage:
  ${program} [flags] -- <command> [arguments]

Flags:
      --crds string     CustomResourceDefinitions to begin with: a folder, file or glob; may be given
                        several times
      --apply string    manifests to apply once they are there, in the same forms

It takes the flags of \`binnacle serve\` (see \`binnacle help serve\`), with RBAC and the controllers of
\`binnacle up\`. Examples:

  binnacle run -- kubectl get namespaces
  binnacle run -- go test ./...
  binnacle run --feature-gates=AllAlpha=true -- pytest
`;
