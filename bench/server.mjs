// Starts the built server as its users do, and reads what it costs from the kernel's books.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { startEtcd } from './etcd.mjs';

const TOKEN = 'bench-token';
/** Of two users who queue like everyone, unlike the first; nobody has given them rights yet. */
const TOKENS = { quiet: 'quiet-token', loud: 'loud-token' };
const USERS = [`${TOKEN},bench,u-bench,"system:masters"`, ...Object.entries(TOKENS).map(([name, token]) => `${token},${name},u-${name},"both"`)];
const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 10_000;

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Where it is set, Node parses all of these certificates before it runs anything: 40 ms of a start that are not the server's. */
const { NODE_EXTRA_CA_CERTS: _extra, ...ownEnvironment } = process.env;

/**
 * Resolves when /readyz says ok; `readyMs` is counted from before the process was started. `dist` is the built server's folder. Without a `folder` of the
 * caller's, what it stores goes when it stops. `flags`: beside those that every measurement has.
 */
export async function startServer({ dist, store = 'embedded', folder: kept, flags: more = [] }) {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'binnacle-bench-'));
  writeFileSync(join(folder, 'tokens.csv'), `${USERS.join('\n')}\n`);
  const port = await freePort();
  const etcd = store === 'etcd' ? await startEtcd(freePort, kept && join(kept, 'etcd')) : undefined;
  const flags = [
    ...(etcd ? etcdFlags(etcd.url, folder) : [`--storage-backend=${store}`]),
    `--data-dir=${join(folder, 'data')}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    ...more,
  ];
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [join(absolute(dist), 'binnacle.js'), 'serve', ...flags], { stdio: 'ignore', env: ownEnvironment });
  const gone = new Promise((resolve) => child.on('exit', (code) => resolve(`the server ended by itself with code ${code}`)));
  const stop = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    child.kill('SIGTERM');
    await gone;
    clearTimeout(timer);
    await etcd?.stop();
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  };
  while (!(await isReady(port))) {
    const isLate = performance.now() - startedAtMs > START_LIMIT_MS;
    if (!isLate && child.exitCode === null) continue;
    await stop();
    throw new Error(isLate ? 'the server does not become ready' : await gone);
  }
  return {
    port,
    pid: child.pid,
    isReady: () => isReady(port),
    token: TOKEN,
    tokens: TOKENS,
    readyMs: performance.now() - startedAtMs,
    cpuMs: () => sumOf(processesOf(child.pid), cpuMs),
    memoryMiB: () => sumOf(processesOf(child.pid), memoryMiB),
    gone,
    stop,
  };
}

/** The server and its workers, where it has some. */
const processesOf = (pid) => [pid, ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)];
const sumOf = (pids, measure) => pids.reduce((sum, pid) => sum + measure(pid), 0);

/** Pages that several processes map count for each of them in part. */
const memoryMiB = (pid) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]) / 1024;

/** On etcd, keys of service accounts must be given. */
function etcdFlags(url, folder) {
  const key = join(folder, 'service-account.key');
  writeFileSync(key, generateKeyPairSync('rsa', { modulusLength: 2048, privateKeyEncoding: { type: 'pkcs1', format: 'pem' } }).privateKey);
  return [
    `--etcd-servers=${url}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${key}`,
    `--service-account-key-file=${key}`,
  ];
}

/** Asks again after a moment, so that asking takes little of the CPU that the server starts on. */
export const isReady = async (port) => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  return new Promise((resolve) => {
    https
      .get({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false }, (response) => resolve(response.resume().statusCode === 200))
      .on('error', () => resolve(false));
  });
};

/** Time on a CPU of all the process' threads; the scheduler counts it in nanoseconds, where /proc/<pid>/stat has ticks of 10 ms. */
export function cpuMs(pid) {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).reduce((sumMs, thread) => sumMs + Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);
}
