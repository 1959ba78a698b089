// One member of etcd for a measurement.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the tests look too: test/support/etcd.ts. */
const CACHED = fileURLToPath(new URL('../node_modules/.cache/etcd/usr/bin/etcd', import.meta.url));

/** Resolves when it listens; `url` is its address. What it stores goes when it stops, unless it has a folder of the caller's. */
export async function startEtcd(freePort, kept) {
  const binary = process.env.BINNACLE_ETCD ?? (existsSync(CACHED) ? CACHED : 'etcd');
  const [version] = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.split('\n');
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'binnacle-bench-etcd-'));
  const [url, peerUrl] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const child = spawn(
    binary,
    [
      `--data-dir=${folder}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      '--log-level=error',
    ],
    { stdio: 'ignore' },
  );
  const gone = new Promise((resolve) => child.on('exit', resolve));
  while (child.exitCode === null && !(await isHealthy(url))) await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    url,
    pid: child.pid,
    version,
    async stop() {
      child.kill('SIGKILL');
      await gone;
      if (kept === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const isHealthy = (url) =>
  fetch(`${url}/health`)
    .then(({ ok }) => ok)
    .catch(() => false);
