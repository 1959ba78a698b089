import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { Clients } from '../support/kubectl.ts';
import { KUBECTL } from '../support/paths.ts';
import { TestCluster } from './cluster.ts';
import type { TestKubelet } from './kubelet.ts';

/* kubectl v1.36 itself, through the server to a kubelet that runs real commands. */

/** Of util-linux: gives commands a terminal. */
const SCRIPT = '/usr/bin/script';

let cluster: TestCluster;
let kubectl: Clients;
let kubelet: TestKubelet;
let node: string;

beforeAll(async () => {
  const started = await TestCluster.start();
  cluster = started.cluster;
  kubectl = new Clients(started.server);
  ({ kubelet, name: node } = await cluster.node());
});

describe('logs', () => {
  test('whole, their tail, since, with times, with a limit', async () => {
    const pod = await cluster.pod(node);
    const log = kubelet.log(`default/${pod}/main`);
    log.append('old', new Date(Date.now() - 3_600_000));
    log.append('new', new Date('2126-01-01T00:00:00Z'));
    expect(await kubectl.kubectl(`logs ${pod}`)).toBe('old\nnew\n');
    expect(await kubectl.kubectl(`logs ${pod} --tail=1`)).toBe('new\n');
    expect(await kubectl.kubectl(`logs ${pod} --since=10m`)).toBe('new\n');
    expect(await kubectl.kubectl(`logs ${pod} --tail=1 --timestamps`)).toBe('2126-01-01T00:00:00.000Z new\n');
    expect(await kubectl.kubectl(`logs ${pod} --limit-bytes=2`)).toBe('ol');
    expect(await kubectl.kubectl(`logs ${pod} --insecure-skip-tls-verify-backend`)).toBe('old\nnew\n');
    expect(kubelet.requests.at(-1)).toMatchObject({ method: 'GET', clientName: 'kube-apiserver-kubelet-client', url: `/containerLogs/default/${pod}/main` });
    expect((await kubectl.tryKubectl(`logs ${pod} --previous`)).stderr).toContain('previous terminated container "main"');
  });

  test('followed, line by line', async () => {
    const pod = await cluster.pod(node);
    const log = kubelet.log(`default/${pod}/main`);
    log.append('one');
    const follower = kubectl.startKubectl(`logs -f ${pod}`);
    expect(await follower.next()).toBe('one');
    log.append('two');
    expect(await follower.next()).toBe('two');
    await follower.stop();
  });
});

for (const [transport, env] of [
  ['WebSocket', {}],
  ['SPDY', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
] as const)
  describe(`over ${transport}`, () => {
    const run = (args: readonly string[], stdin?: string) => kubectl.tryKubectl(args, stdin, env);

    test('exec runs a command and gives its exit code', async () => {
      const pod = await cluster.pod(node);
      expect(await run(['exec', pod, '--', 'echo', 'hello world'])).toEqual({ exit: 0, stdout: 'hello world\n', stderr: '' });
      expect(await run(['exec', pod, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])).toEqual({
        exit: 7,
        stdout: 'out\n',
        stderr: 'err\ncommand terminated with exit code 7\n',
      });
      const { exit, stderr } = await run(['exec', pod, '--', '/no/such/command']);
      expect([exit, stderr]).toEqual([1, expect.stringContaining('spawn /no/such/command ENOENT')]);
    });

    test('exec passes stdin, to its end', async () => {
      const pod = await cluster.pod(node);
      const text = 'x'.repeat(1_000_000);
      expect((await run(['exec', '-i', pod, '--', 'wc', '-c'], text)).stdout.trim()).toBe('1000000');
      expect((await run(['exec', '-i', pod, '--', 'cat'], text)).stdout).toBe(text);
    });

    test('attach speaks with what runs', async () => {
      const pod = await cluster.pod(node);
      expect((await run(['attach', '-i', pod], 'hello\nyou\n')).stdout).toBe('got hello\ngot you\n');
    });

    test('cp brings files there and back', async () => {
      const pod = await cluster.pod(node);
      const folder = join(kubectl.home, `cp-${transport}`);
      mkdirSync(folder);
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index & 0xff));
      writeFileSync(join(folder, 'there'), content);
      expect(await run(['cp', join(folder, 'there'), `${pod}:${join(folder, 'remote')}`])).toMatchObject({ exit: 0 });
      expect(readFileSync(join(folder, 'remote')).equals(content)).toBe(true);
      expect(await run(['cp', `${pod}:${join(folder, 'remote')}`, join(folder, 'back')])).toMatchObject({ exit: 0 });
      expect(readFileSync(join(folder, 'back')).equals(content)).toBe(true);
    });

    test.skipIf(!existsSync(SCRIPT))('exec has a terminal where both sides have', async () => {
      const pod = await cluster.pod(node);
      // `script` is the terminal on this side.
      const child = spawn(SCRIPT, ['-qefc', `${KUBECTL} exec -it ${pod} -- sh -c 'test -t 0 && test -t 1 && echo is a terminal; exit 3'`, '/dev/null'], {
        env: { ...process.env, KUBECONFIG: join(kubectl.home, 'kubeconfig'), HOME: kubectl.home, ...env },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const exited = new Promise((resolve) => child.once('exit', resolve));
      expect((await buffer(child.stdout)).toString()).toContain('is a terminal');
      expect(await exited).toBe(3);
    });

    test('port-forward carries connections both ways', async () => {
      const pod = await cluster.pod(node);
      const echo = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket)).listen(0, '127.0.0.1');
      await once(echo, 'listening');
      const { port } = echo.address() as AddressInfo;
      const forward = kubectl.startKubectl(`port-forward pod/${pod} :${port}`, env);
      const [, local] = /127\.0\.0\.1:(\d+) ->/.exec(await forward.next())!;
      const echoed = async (text: string): Promise<string> => {
        const socket = connect({ port: Number(local), host: '127.0.0.1', allowHalfOpen: true });
        socket.end(text);
        return (await buffer(socket)).toString();
      };
      expect(await Promise.all(['one', 'two', 'z'.repeat(500_000)].map(echoed))).toEqual(['one', 'two', 'z'.repeat(500_000)]);
      await forward.stop();
      echo.close();
    });
  });
