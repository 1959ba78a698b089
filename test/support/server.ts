import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, inject } from 'vitest';
import { ApiClient } from './api-client.ts';
import { TOKENS_FILE } from './paths.ts';

export interface ServerOptions {
  /** Default: memory. */
  storage?: 'memory' | 'embedded';
  /** Default: a temporary one, removed when the test file ends. */
  dataDir?: string;
  /** Default: any free one. */
  port?: number;
  /** Beside the ones that every test server has; a later one wins. */
  flags?: readonly string[];
  /** Default: true. Not beside --authorization-config, which takes the mode's place. */
  hasAuthorizationMode?: boolean;
  /** Beside the test's own. */
  environment?: Readonly<Record<string, string>>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const started = new Set<ChildProcess>();
const folders: string[] = [];

afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone when the test file ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-test-'));
  folders.push(folder);
  return folder;
}

/** The built command as a process of its own, and what it says. */
export class CommandProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  /** What it wrote to its standard error, line by line. */
  readonly lines: string[] = [];
  readonly #listeners = new Set<() => void>();

  /** `prefix`: a command that runs another, which is named by its last arguments. */
  constructor(args: readonly string[], { prefix = [], ...options }: { cwd?: string; uid?: number; env?: NodeJS.ProcessEnv; prefix?: readonly string[] } = {}) {
    const [command, ...rest] = [...prefix, process.execPath, join(inject('distDir'), 'binnacle.js'), ...args];
    const child = spawn(command!, rest, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
    this.child = child;
    started.add(child);
    const reader = createInterface({ input: child.stderr });
    reader.on('line', (line) => {
      this.lines.push(line);
      this.#notify();
    });
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        started.delete(child);
        resolve({ code, signal });
        this.#notify();
      });
    });
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The first line that matches; rejects when the process ends without one. */
  line(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = this.lines.map((line) => pattern.exec(line)).find((found) => found !== null);
        if (match === undefined && started.has(this.child)) return;
        this.#listeners.delete(look);
        if (match) resolve(match);
        else reject(new Error(`the server ended before it said ${pattern}:\n${this.lines.join('\n')}`));
      };
      this.#listeners.add(look);
      look();
    });
  }

  /** Settles when so many lines match. */
  async lineCount(pattern: RegExp, count: number): Promise<void> {
    while (this.lines.filter((line) => pattern.test(line)).length < count) {
      if (!started.has(this.child)) throw new Error(`the server ended before it said ${pattern} ${count} times:\n${this.lines.join('\n')}`);
      await this.#nextLine();
    }
  }

  #nextLine(): Promise<void> {
    return new Promise((resolve) => {
      const listener = (): void => {
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
    });
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** SIGTERM, and how it ended. */
  stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited;
  }

  /** SIGKILL: nothing is flushed, nothing is said. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }
}

/** A server that is ready, with the oracle's users: admin, alice, bob and mallory. */
export class ServerProcess extends CommandProcess {
  readonly dataDir: string;
  #port = 0;

  constructor({ storage = 'memory', dataDir = temporaryFolder(), port = 0, flags = [], hasAuthorizationMode = true, environment = {} }: ServerOptions) {
    super(
      [
        'serve',
        `--storage-backend=${storage}`,
        `--data-dir=${dataDir}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        `--token-auth-file=${TOKENS_FILE}`,
        ...(hasAuthorizationMode ? ['--authorization-mode=Node,RBAC'] : []),
        '--service-cluster-ip-range=10.0.0.0/16',
        '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
        '--endpoint-reconciler-type=none',
        '--advertise-address=127.0.0.1',
        ...(inject('workers') > 0 ? [`--workers=${inject('workers')}`] : []),
        ...flags,
      ],
      { env: { ...process.env, ...environment } },
    );
    this.dataDir = dataDir;
    this.#port = port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** What clients trust: the certificate that the server made for itself. */
  get ca(): string {
    return readFileSync(join(this.dataDir, 'certificates', 'apiserver.crt'), 'utf8');
  }

  client(user: 'admin' | 'alice' | 'bob' | 'mallory' | '' = 'admin'): ApiClient {
    return new ApiClient({ port: this.#port, ca: this.ca, ...(user !== '' && { token: `${user}-token` }) });
  }

  /** Settles when a server with a port that was chosen for it and `--v=1` takes connections, which it does before it is ready. */
  async listening(): Promise<this> {
    await this.line(/Start-up phase is over phase="listener"/);
    return this;
  }

  /** The server says so itself when it is ready. */
  async ready(): Promise<this> {
    const [, port] = await this.line(/Serving url="https:\/\/127\.0\.0\.1:(\d+)"/);
    this.#port = Number(port);
    return this;
  }
}

export const startServer = (options: ServerOptions = {}): Promise<ServerProcess> => new ServerProcess(options).ready();
