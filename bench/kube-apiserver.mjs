// A kube-apiserver on a store, for measurements of the store.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drive } from './drive.mjs';
import { configMap } from './objects.mjs';
import { freePort, isReady } from './server.mjs';

const TOKEN = 'bench-token';
const VALUE_BYTES = 550;
const START_LIMIT_MS = 120_000;

/** Resolves when it is ready. `create(prefix, count)` makes configmaps, 64 at a time, and answers with the seconds that it took. */
export async function startKubeApiserver(binary, storeUrl) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-kas-'));
  const key = join(folder, 'sa.key');
  writeFileSync(key, generateKeyPairSync('rsa', { modulusLength: 2048, privateKeyEncoding: { type: 'pkcs1', format: 'pem' } }).privateKey);
  writeFileSync(join(folder, 'tokens.csv'), `${TOKEN},bench,u-bench,"system:masters"\n`);
  const port = await freePort();
  const flags = [
    `--etcd-servers=${storeUrl}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--cert-dir=${join(folder, 'certs')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${key}`,
    `--service-account-key-file=${key}`,
    '--endpoint-reconciler-type=none',
  ];
  const child = spawn(binary, flags, { stdio: 'ignore' });
  const gone = new Promise((resolve) => child.on('exit', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const limitMs = performance.now() + START_LIMIT_MS;
  while (!(await isReady(port))) {
    if (child.exitCode === null && performance.now() < limitMs) continue;
    await stop();
    throw new Error('kube-apiserver does not become ready');
  }
  return { stop, create: (prefix, count) => create(port, prefix, count) };
}

async function create(port, prefix, count) {
  const sessions = Array.from({ length: 4 }, () => http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }));
  const post = (i) =>
    new Promise((resolve, reject) => {
      const stream = sessions[i % sessions.length].request({
        ':method': 'POST',
        ':path': '/api/v1/namespaces/default/configmaps',
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
      });
      stream.on('response', ({ ':status': status }) => status !== 201 && reject(new Error(`a create was answered ${status}`)));
      stream
        .on('data', () => {})
        .on('end', resolve)
        .on('error', reject);
      stream.end(configMap(`${prefix}${i}`, VALUE_BYTES));
    });
  const startMs = performance.now();
  await drive({ count, inFlight: 64 }, post);
  const seconds = (performance.now() - startMs) / 1000;
  sessions.forEach((session) => session.destroy());
  return seconds;
}
