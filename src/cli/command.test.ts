import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from './command.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { KUBERNETES_VERSION } from '../options/version.ts';
import type { ServerFactory } from '../compose/start.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Result {
  code: number;
  stdout: string;
  stderr: string;
  /** What the server was started with; empty when it was not. */
  started: CompletedOptions[];
  stops: number;
}

/** Runs a command line against a server that is ready at once, and told to stop as soon as the command has seen that. */
async function run(args: readonly string[], { program = 'binnacle', fail }: { program?: string; fail?: Error } = {}): Promise<Result> {
  const result: Result = { code: 0, stdout: '', stderr: '', started: [], stops: 0 };
  const stopping = new AbortController();
  const factory: ServerFactory = async (options) => {
    if (fail) throw fail;
    result.started.push(options);
    const ready = Promise.resolve();
    void ready.then(() => setImmediate(() => stopping.abort()));
    return { url: `https://127.0.0.1:${options.securePort || 41_234}`, ready, stop: async () => void result.stops++ };
  };
  const output = { stdout: (text: string) => void (result.stdout += text), stderr: (text: string) => void (result.stderr += text), columns: 0 };
  result.code = await runCommand(['node', `/usr/bin/${program}`, ...args], output, { factory, stopSignal: stopping.signal });
  return result;
}

describe('the program', () => {
  test.each([[[]], [['help']], [['--help']]])('%j shows the commands', async (args) => {
    const { code, stdout } = await run(args);
    expect(code).toBe(0);
    expect(stdout).toContain('Servers:\n  up ');
  });

  test.each([[['help', 'serve']], [['serve', '--help']], [['serve', '-h']]])('%j shows the flags', async (args) => {
    const { code, stdout } = await run(args);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage:\n  binnacle serve [flags]\n\nGeneric flags:\n\n      --advertise-address ip');
  });

  test('help up', async () => {
    expect((await run(['help', 'up'])).stdout).toContain('Usage:\n  binnacle up [flags]');
  });

  test('as kube-apiserver it serves with no command', async () => {
    expect((await run(['--help'], { program: 'kube-apiserver' })).stdout).toContain('Usage:\n  kube-apiserver [flags]');
    expect((await run(['--version'], { program: 'kube-apiserver' })).stdout).toBe(`Kubernetes ${KUBERNETES_VERSION}\n`);
    expect((await run(['--data-dir', folder], { program: 'kube-apiserver' })).started).toHaveLength(1);
  });

  test('versions', async () => {
    expect((await run(['serve', '--version'])).stdout).toBe(`Kubernetes ${KUBERNETES_VERSION}\n`);
    expect((await run(['--version'])).stdout).toMatch(/^binnacle \d+\.\d+\.\d+ \(Kubernetes v1\.36\.4\)\n$/);
  });

  test.each<[string[], string]>([
    [
      ['serv'],
      'error: unknown command "serv"; the commands are up, status, down, console, kubeconfig, serve, run, envtest, store, backup, restore, migrate, record, log, diff, blame, why, undo, at, replay, completion and help\n',
    ],
    [['--secure-port=1'], 'error: flags come after a command: binnacle serve --secure-port=1\n'],
    [['serve', 'now'], 'error: "binnacle serve" does not take any arguments, got ["now"]\n'],
    [['serve', '--secure-prot=1'], 'error: unknown flag: --secure-prot; did you mean --secure-port?\n'],
    [
      ['serve', '--goaway-chance=1', '--max-requests-inflight=-1'],
      'error: --max-requests-inflight can not be negative value\nerror: --goaway-chance can not be less than 0 or greater than 0.02\n',
    ],
  ])('%j is refused in a line', async (args, stderr) => {
    expect(await run(args)).toMatchObject({ code: 1, stdout: '', stderr, started: [] });
  });
});

describe('serve', () => {
  test('makes what it was not given, in the data folder, and keeps it', async () => {
    const first = await run(['serve', '--data-dir', folder]);
    expect(first).toMatchObject({ code: 0, stops: 1 });
    const [options] = first.started;
    const files = [options!.tlsCertFile, options!.tlsPrivateKeyFile];
    const contents = files.map((file) => readFileSync(file, 'utf8'));
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    const certificate = new X509Certificate(contents[0]!);
    expect(certificate.checkHost('kubernetes.default.svc')).toBeDefined();
    expect(certificate.checkIP('10.0.0.1')).toBeDefined();
    await run(['serve', '--data-dir', folder]);
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(contents);
  });

  test('says at start what does nothing', async () => {
    const { stderr } = await run(['serve', '--data-dir', folder, '--contention-profiling', '--logging-format=json']);
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ v: 0, msg: `Version: ${KUBERNETES_VERSION}` });
    expect(lines[1]).toMatchObject({ level: 'warning', msg: '--contention-profiling has no effect here: JavaScript has no locks to profile' });
    expect(lines.at(-3)).toMatchObject({ v: 0, msg: 'Serving', url: 'https://127.0.0.1:6443' });
  });

  test('half a pair of certificate and key is refused', async () => {
    writeFileSync(join(folder, 'apiserver.key'), '');
    const { code, stderr } = await run(['serve', '--data-dir', folder, '--cert-dir', folder]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\nerror: .*apiserver.crt and .*apiserver.key must be there as a pair/);
  });

  test.each<[NodeJS.ErrnoException, string]>([
    [
      Object.assign(new Error('x'), { code: 'EADDRINUSE' }),
      'error: port 6443 on 0.0.0.0 is taken: stop what listens there, or choose another with --secure-port (0 for any free one)\n',
    ],
    [
      Object.assign(new Error('x'), { code: 'EACCES', port: 6443 }),
      'error: not allowed to listen on port 6443 of 0.0.0.0: choose a port above 1023 with --secure-port\n',
    ],
    [new Error('the store is locked by process 7'), 'error: the store is locked by process 7\n'],
  ])('%j is explained, without a stack', async (fail, stderr) => {
    const result = await run(['serve', '--data-dir', folder], { fail });
    expect(result.code).toBe(1);
    expect(result.stderr.split('\n').slice(2).join('\n')).toBe(stderr);
  });

  test('from -v=4 on, errors come with their stacks', async () => {
    const { stderr } = await run(['serve', '--data-dir', folder, '-v=4'], { fail: new Error('broken') });
    expect(stderr).toMatch(/\nerror: broken\nError: broken\n {4}at /);
  });

  test('a data folder that cannot be written is named', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { stderr } = await run(['serve', '--data-dir', join(file, 'x')]);
    expect(stderr).toMatch(/error: cannot read .*: a part of the path is a file; choose another folder with --data-dir or --cert-dir\n$/);
  });
});

describe('up', () => {
  test('makes a cluster with an administrator in the data folder, and says how to use it', async () => {
    const dataDir = join(folder, 'with space');
    const { code, stdout, stderr, started } = await run(['up', '--data-dir', dataDir, '--secure-port=0']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const kubeconfigFile = join(dataDir, 'kubeconfig');
    expect(stdout).toContain(`export KUBECONFIG='${kubeconfigFile}'\n`);
    expect(stdout).toMatch(/Ready in \d+\.\d\d s/);
    expect(started[0]).toMatchObject({
      authorizationMode: ['RBAC'],
      anonymousAuth: true,
      bindAddress: '127.0.0.1',
      clientCaFile: join(dataDir, 'certificates', 'ca.crt'),
    });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    for (const file of ['kubeconfig', 'certificates/ca.key', 'certificates/server.key', 'certificates/admin.key']) {
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    }
    const config = new KubeConfig();
    config.loadFromFile(kubeconfigFile);
    expect(config.getCurrentCluster()?.server).toBe('https://127.0.0.1:41234');
    const admin = new X509Certificate(Buffer.from(config.getCurrentUser()!.certData!, 'base64'));
    const authority = new X509Certificate(Buffer.from(config.getCurrentCluster()!.caData!, 'base64'));
    expect(admin.subject.split('\n').toSorted()).toEqual(['CN=admin', 'O=system:masters']);
    expect(admin.verify(authority.publicKey)).toBe(true);
    const serving = new X509Certificate(readFileSync(started[0]!.tlsCertFile));
    expect(serving.verify(authority.publicKey)).toBe(true);
    expect([serving.checkIP('127.0.0.1'), serving.checkHost('localhost')]).toEqual(['127.0.0.1', 'localhost']);
  });

  test('keeps its certificates over restarts, and makes the serving one anew when an address is missing', async () => {
    const files = ['ca', 'server', 'admin'].map((name) => join(folder, 'certificates', `${name}.crt`));
    const read = (): string[] => files.map((file) => readFileSync(file, 'utf8'));
    await run(['up', '--data-dir', folder]);
    const first = read();
    await run(['up', '--data-dir', folder]);
    expect(read()).toEqual(first);
    await run(['up', '--data-dir', folder, '--advertise-address=203.0.113.9']);
    const [ca, server, admin] = read();
    expect([ca, admin]).toEqual([first[0], first[2]]);
    expect(new X509Certificate(server!).checkIP('203.0.113.9')).toBe('203.0.113.9');
  });

  test('takes any free port when 6443 is taken', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => {
      // Where 6443 is taken already, that serves as well.
      blocker.once('error', () => resolve());
      blocker.listen(6443, '127.0.0.1', resolve);
    });
    const { started } = await run(['up', '--data-dir', folder]);
    if ((blocker.address() as AddressInfo | null) !== null) await new Promise((resolve) => blocker.close(resolve));
    expect(started[0]!.securePort).toBe(0);
  });

  test('flags of serve override its defaults', async () => {
    const { started, stderr } = await run([
      'up',
      '--data-dir',
      folder,
      '--authorization-mode=AlwaysDeny',
      '--bind-address=0.0.0.0',
      '--storage-backend=memory',
    ]);
    expect(stderr).toBe('');
    expect(started[0]).toMatchObject({ authorizationMode: ['AlwaysDeny'], bindAddress: '0.0.0.0', storageBackend: 'memory' });
  });
});
