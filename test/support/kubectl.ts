import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { HELM, KUBECTL } from './paths.ts';
import { type ServerProcess, temporaryFolder } from './server.ts';
import { writeFileSync } from 'node:fs';

export interface CommandResult {
  exit: number;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  stdin?: string | undefined;
  env?: Record<string, string> | undefined;
}

const COMMAND_TIMEOUT_MS = 60_000;

/** The real clients with one user's kubeconfig, in a home of their own: what they cache is gone when the test file ends. */
export class Clients {
  readonly home = temporaryFolder();
  readonly #env: NodeJS.ProcessEnv;

  constructor(server: ServerProcess, user = 'admin') {
    const kubeconfig = join(this.home, 'kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(server, user)), { mode: 0o600 });
    this.#env = { PATH: process.env.PATH, HOME: this.home, KUBECONFIG: kubeconfig };
  }

  /** Runs kubectl; fails the test when it fails. */
  async kubectl(args: string, stdin?: string): Promise<string> {
    return succeed(`kubectl ${args}`, await this.tryKubectl(args, stdin));
  }

  tryKubectl(args: string | readonly string[], stdin?: string, env?: Record<string, string>): Promise<CommandResult> {
    return this.#run(KUBECTL, typeof args === 'string' ? words(args) : args, { stdin, env });
  }

  async helm(args: string): Promise<string> {
    return succeed(`helm ${args}`, await this.tryHelm(args));
  }

  tryHelm(args: string): Promise<CommandResult> {
    return this.#run(HELM, words(args), {});
  }

  /** A kubectl that goes on until it is stopped. */
  startKubectl(args: string, env?: Record<string, string>): LineReader {
    return new LineReader(spawn(KUBECTL, words(args), { env: { ...this.#env, ...env } }));
  }

  #run(binary: string, args: readonly string[], { stdin, env }: RunOptions): Promise<CommandResult> {
    return new Promise((resolve) => {
      const child = execFile(binary, args, { env: { ...this.#env, ...env }, timeout: COMMAND_TIMEOUT_MS, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        resolve({ exit: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr });
      });
      child.stdin!.on('error', () => {});
      child.stdin!.end(stdin ?? '');
    });
  }
}

/** As a shell parts them; only single quotes are known. */
const words = (line: string): string[] => (line.match(/'[^']*'|[^\s']+(?:'[^']*')?/g) ?? []).map((word) => word.replaceAll("'", ''));

function succeed(command: string, { exit, stdout, stderr }: CommandResult): string {
  if (exit !== 0) throw new Error(`${command} ended with ${exit}:\n${stderr}${stdout}`);
  return stdout;
}

const kubeconfigOf = (server: ServerProcess, user: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'test', cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') } }],
  users: [{ name: user, user: { token: `${user}-token` } }],
  contexts: [{ name: 'test', context: { cluster: 'test', user } }],
  'current-context': 'test',
});

/** What a running command prints, line by line. */
export class LineReader {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterableIterator<string>;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async next(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the command ended');
    return value;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGTERM');
    await closed;
  }
}
