import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** The ends of a command's streams that lead to the client. */
export interface ProcessStreams {
  stdin?: Readable | undefined;
  stdout?: Writable | undefined;
  stderr?: Writable | undefined;
  error: Writable;
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Runs a command for real. `script` gives it a terminal. */
export function runProcess(command: readonly string[], isTty: boolean, streams: ProcessStreams): ChildProcess {
  const [file, ...args] = isTty ? ['script', '-qefc', command.map(quoted).join(' '), '/dev/null'] : command;
  const child = spawn(file!, args, { stdio: 'pipe' });
  child.stdin.on('error', () => {});
  streams.stdin?.on('error', () => child.stdin.destroy());
  if (streams.stdin) streams.stdin.pipe(child.stdin);
  else child.stdin.end();
  const outputs = [
    [child.stdout, streams.stdout],
    [child.stderr, streams.stderr],
  ] as const;
  for (const [from, to] of outputs) {
    if (to) from.pipe(to);
    else from.resume();
  }
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure = error;
    for (const [, to] of outputs) to?.end();
  });
  child.on('close', (code, signal) => void finish(streams, failure ? internal(failure.message) : statusOf(code ?? 128 + (signal ? 9 : 0))));
  // A client that goes takes its command along.
  streams.error.on('close', () => child.kill('SIGKILL'));
  return child;
}

/** The streams end before it is said how it went. */
async function finish({ stdout, stderr, error }: ProcessStreams, status: object): Promise<void> {
  await Promise.allSettled([stdout, stderr].filter((stream) => stream !== undefined).map((stream) => finished(stream, { readable: false })));
  if (!error.destroyed) error.end(JSON.stringify(status));
}

const internal = (message: string): object => ({ metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 });

const statusOf = (code: number): object =>
  code === 0
    ? { metadata: {}, status: 'Success' }
    : {
        metadata: {},
        status: 'Failure',
        reason: 'NonZeroExitCode',
        message: `command terminated with non-zero exit code: error executing command, exit code ${code}`,
        details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
      };
