import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connect, type Connection } from './connection.ts';

/** The programs of a reference that this process starts itself. */
export interface Programs {
  readonly apiserver: string;
  readonly etcd: string;
}

export interface Reference extends AsyncDisposable {
  readonly url: string;
  readonly connection: Connection;
}

/** A user of test/oracle/tokens.csv, which compare/reference.sh hands to the server; in system:masters. */
export const REFERENCE_TOKEN = 'admin-token';
const READY_TIMEOUT_MS = 120_000;
const POLL_MS = 500;
const ATTEMPTS = 3;

/** Starts kube-apiserver on an etcd of its own (compare/reference.sh) and waits until it is ready. Run from the project's root. */
export async function startReference(programs: Programs, flags: readonly string[]): Promise<Reference> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const reference = await tryToStart(programs, flags);
    if (reference) return reference;
  }
  throw new Error(`${programs.apiserver} ${flags.join(' ')} did not become ready`);
}

/** Undefined where it ends, or is not ready in time: somebody else may have taken one of its ports meanwhile. */
async function tryToStart({ apiserver, etcd }: Programs, flags: readonly string[]): Promise<Reference | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'facts-'));
  const port = await freePort();
  const child = spawn(join('compare', 'reference.sh'), [apiserver, etcd, join(folder, 'run'), String(port), ...flags], { stdio: 'ignore', detached: true });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  // A server whose etcd ends with it takes a minute to end by itself, and nothing of either is kept.
  const kill = (): void => void (child.exitCode === null && child.signalCode === null && process.kill(-child.pid!, 'SIGKILL'));
  const interrupt = (): void => process.exit(1);
  process.once('exit', kill).once('SIGINT', interrupt);
  const stop = async (): Promise<void> => {
    kill();
    await ended;
    process.off('exit', kill).off('SIGINT', interrupt);
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `https://127.0.0.1:${port}`;
  const connection = connect(url, REFERENCE_TOKEN);
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (child.exitCode === null && Date.now() < deadline) {
    if (await isReady(connection)) return { url, connection, [Symbol.asyncDispose]: stop };
    await setTimeout(POLL_MS);
  }
  await stop();
  return undefined;
}

const isReady = (connection: Connection): Promise<boolean> =>
  connection.text('/readyz', '*/*').then(
    (text) => text === 'ok',
    () => false,
  );

/** The two ports behind it, which etcd takes, are free as a rule. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
