// Starts the built server as its users do, and reads what it costs from the kernel's books.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TOKEN = 'bench-token';
const COMMAND = new URL('../dist/binnacle.js', import.meta.url).pathname;

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Resolves when /readyz says ok; `readyMs` is counted from before the process was started. */
export async function startServer({ backend, node = process.execPath }) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'));
  writeFileSync(join(folder, 'tokens.csv'), `${TOKEN},bench,u-bench,"system:masters"\n`);
  const port = await freePort();
  const flags = [`--storage-backend=${backend}`, `--data-dir=${join(folder, 'data')}`, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--token-auth-file=${join(folder, 'tokens.csv')}`, '--authorization-mode=RBAC'];
  const startedAtMs = performance.now();
  const child = spawn(node, [COMMAND, 'serve', ...flags], { stdio: 'ignore' });
  child.on('exit', (code) => code && process.exitCode === undefined && console.error(`the server exited with ${code}`));
  while (!(await isReady(port))) await new Promise((resolve) => setTimeout(resolve, 2));
  const readyMs = performance.now() - startedAtMs;
  return {
    port,
    token: TOKEN,
    readyMs,
    cpuMs: () => cpuMs(child.pid),
    memoryMiB: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024,
    async stop() {
      const gone = new Promise((resolve) => child.on('exit', resolve));
      child.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const isReady = (port) =>
  new Promise((resolve) => {
    https.get({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false }, (response) => resolve(response.resume().statusCode === 200)).on('error', () => resolve(false));
  });

/** User and system time of all threads, which the kernel counts in nanoseconds. */
function cpuMs(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}
