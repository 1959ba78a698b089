import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, expect, inject, test } from 'vitest';
import { ApiClient } from './support/api-client.ts';
import { freePorts } from './support/free-ports.ts';
import { KUBECTL, TOKENS_FILE } from './support/paths.ts';
import { temporaryFolder } from './support/server.ts';

/* The folder of `binnacle envtest`, whose programs are started and stopped as controller-runtime's envtest does it (pkg/internal/testing/controlplane). */

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

const makeFolder = async (...flags: string[]): Promise<string> => {
  const folder = join(temporaryFolder(), "a folder with a space and a '");
  const { stdout } = await promisify(execFile)(process.execPath, [join(inject('distDir'), 'binnacle.js'), 'envtest', `--dir=${folder}`, ...flags]);
  expect(stdout).toBe(`${folder}\n`);
  return folder;
};

interface Program {
  child: ChildProcess;
  ended: Promise<number | NodeJS.Signals | null>;
  /** The first line of standard error that matches. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
}

function start(path: string, args: readonly string[]): Program {
  const child = spawn(path, [...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stderr! });
  reader.on('line', (line) => lines.push(line));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  const line = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = lines.map((said) => pattern.exec(said)).find((found) => found !== null);
        if (match) resolve(match);
      };
      reader.on('line', look);
      void ended.then((code) => reject(new Error(`ended with ${code}: ${lines.join('\n')}`)));
      look();
    });
  return { child, ended, line };
}

/** As envtest polls. */
async function untilHealthy(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return answer.text();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface Plane {
  etcd: Program;
  etcdPort: number;
  certDir: string;
  startApiServer(flags?: readonly string[]): Program;
}

async function startEtcd(folder: string): Promise<Plane> {
  const [etcdPort, peerPort] = await freePorts(2);
  const url = `http://127.0.0.1:${etcdPort}`;
  const etcd = start(join(folder, 'etcd'), [
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    `--data-dir=${temporaryFolder()}`,
    `--advertise-client-urls=${url}`,
    `--listen-client-urls=${url}`,
  ]);
  expect(JSON.parse(await untilHealthy(`${url}/health`))).toEqual({ health: 'true', reason: '' });
  const certDir = temporaryFolder();
  const startApiServer = (flags: readonly string[] = []): Program =>
    start(join(folder, 'kube-apiserver'), [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      `--cert-dir=${certDir}`,
      '--disable-admission-plugins=ServiceAccount',
      `--etcd-servers=${url}`,
      '--secure-port=0',
      '--service-cluster-ip-range=10.0.0.0/24',
      `--token-auth-file=${TOKENS_FILE}`,
      ...flags,
    ]);
  return { etcd, etcdPort: etcdPort!, certDir, startApiServer };
}

async function clientOf(server: Program, certDir: string): Promise<ApiClient> {
  const [, port] = await server.line(/Serving url="https:\/\/127\.0\.0\.1:(\d+)".* storage="memory"/);
  return new ApiClient({ port: Number(port), ca: readFileSync(join(certDir, 'apiserver.crt'), 'utf8'), token: 'admin-token' });
}

test('etcd and kube-apiserver start, serve from memory and stop as envtest has it', async () => {
  const folder = await makeFolder();
  const plane = await startEtcd(folder);
  const server = plane.startApiServer();
  const client = await clientOf(server, plane.certDir);
  expect((await client.send({ path: '/healthz' })).text).toBe('ok');
  const created = await client.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'one' } } });
  expect(created.status).toBe(201);
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  const second = plane.startApiServer();
  await second.line(/^warning: an API server has run on this etcd before/);
  const secondClient = await clientOf(second, plane.certDir);
  expect((await secondClient.send({ path: '/api/v1/namespaces/one' })).status).toBe(404);
  second.child.kill('SIGTERM');
  plane.etcd.child.kill('SIGTERM');
  expect(await Promise.all([second.ended, plane.etcd.ended])).toEqual([0, 0]);
});

test('envtest reads the flags that there are from --help', async () => {
  const folder = await makeFolder();
  const help = async (program: string): Promise<string> => (await promisify(execFile)(join(folder, program), ['--help'])).stdout;
  expect(await help('kube-apiserver')).toMatch(/^\s*--secure-port\b/m);
  expect(await help('kube-apiserver')).not.toMatch(/^\s*--insecure-port\b/m);
  expect(await help('etcd')).toMatch(/^\s*--listen-client-urls\b/m);
});

test('both programs end when the one that started them is killed', async () => {
  const folder = await makeFolder();
  const plane = await startEtcd(folder);
  const [port] = await freePorts(1);
  const pidFile = join(temporaryFolder(), 'pid');
  const shell = `"$0" --listen-client-urls=http://127.0.0.1:${port} & echo $! > "$1"; wait`;
  const parent = spawn('sh', ['-c', shell, join(folder, 'etcd'), pidFile], { stdio: 'ignore' });
  await untilHealthy(`http://127.0.0.1:${port}/health`);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  parent.kill('SIGKILL');
  await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
  plane.etcd.child.kill('SIGTERM');
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that nobody has waited for is still listed.
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('the API server runs its controllers where the folder was made so', async () => {
  const folder = await makeFolder('--controllers');
  const plane = await startEtcd(folder);
  const server = plane.startApiServer();
  const client = await clientOf(server, plane.certDir);
  await client.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'one' } } });
  await client.send({ method: 'DELETE', path: '/api/v1/namespaces/one' });
  await expect.poll(async () => (await client.send({ path: '/api/v1/namespaces/one' })).status, { timeout: 20_000 }).toBe(404);
  server.child.kill('SIGTERM');
  plane.etcd.child.kill('SIGTERM');
});

test('kubectl is the one that was named, or says that there is none', async () => {
  const named = await makeFolder(`--kubectl=${KUBECTL}`);
  const { stdout } = await promisify(execFile)(join(named, 'kubectl'), ['version', '--client']);
  expect(stdout).toContain('Client Version');
  const empty = temporaryFolder();
  mkdirSync(join(empty, 'bin'));
  const folder = join(empty, 'assets');
  const command = [join(inject('distDir'), 'binnacle.js'), 'envtest', '--dir', folder, '-p', 'env'];
  const made = await promisify(execFile)(process.execPath, command, { env: { ...process.env, PATH: join(empty, 'bin') } });
  expect(made.stdout).toBe(`export KUBEBUILDER_ASSETS=${folder}\n`);
  expect(readdirSync(folder).sort()).toEqual(['etcd', 'kube-apiserver', 'kubectl']);
  await expect(promisify(execFile)(join(folder, 'kubectl'), ['version'])).rejects.toMatchObject({
    code: 127,
    stderr: expect.stringMatching(/^error: there was no kubectl on the PATH .*\n$/),
  });
});

test.each([
  [['one'], '"binnacle envtest" takes flags only, got "one"'],
  [['--print=json'], '--print takes path or env, not "json"'],
  [['--dir=/dev/null/x'], 'cannot write /dev/null/x: ENOTDIR; choose another folder with --dir'],
  [
    ['etcd', '--listen-client-urls=https://127.0.0.1:1'],
    '--listen-client-urls takes http URLs with ports, not "https://127.0.0.1:1": the etcd of binnacle envtest serves no TLS',
  ],
])('%j is refused in a line', async (args, message) => {
  await expect(promisify(execFile)(process.execPath, [join(inject('distDir'), 'binnacle.js'), 'envtest', ...args])).rejects.toMatchObject({
    code: 1,
    stderr: `error: ${message}\n`,
  });
});
