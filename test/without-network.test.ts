import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { NetworkNamespace, whyNoNamespaces } from './support/network-namespace.ts';
import { KUBECTL, TOKENS_FILE } from './support/paths.ts';
import { CommandProcess, temporaryFolder } from './support/server.ts';

const reason = whyNoNamespaces();

const namespaces: NetworkNamespace[] = [];
afterAll(() => namespaces.forEach((namespace) => namespace.close()));

async function newNamespace(): Promise<NetworkNamespace> {
  const namespace = await NetworkNamespace.create();
  namespaces.push(namespace);
  return namespace;
}

/** What kubectl inside the namespace prints, with the kubeconfig that the server has written. */
const kubectl = (namespace: NetworkNamespace, kubeconfig: string, ...args: string[]): Promise<string> =>
  namespace.run(KUBECTL, [`--kubeconfig=${kubeconfig}`, ...args], { PATH: process.env.PATH, HOME: temporaryFolder() });

const ADDRESSES = ['--output=jsonpath={.items[*].subsets[*].addresses[*].ip}', '--namespace=default'];

/** The addresses that come to be in the endpoints of `kubernetes`; the server looks for one every second. */
async function addressesThatAppear(namespace: NetworkNamespace, kubeconfig: string): Promise<string> {
  const addresses = (): Promise<string> => kubectl(namespace, kubeconfig, 'get', 'endpoints', ...ADDRESSES);
  await expect.poll(addresses, { timeout: 30_000 }).not.toBe('');
  return addresses();
}

describe.skipIf(reason !== undefined)(`a machine whose only interface is the loopback${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('`binnacle up` is ready, and the service gets its endpoints when an address appears', async () => {
    const namespace = await newNamespace();
    const dataDir = temporaryFolder();
    const kubeconfig = join(dataDir, 'kubeconfig');
    const server = new CommandProcess(['up', `--data-dir=${dataDir}`, '--secure-port=0'], { prefix: namespace.prefix });
    // It is written when the server is ready.
    await expect.poll(() => existsSync(kubeconfig), { timeout: 30_000 }).toBe(true);
    expect(await kubectl(namespace, kubeconfig, 'get', '--raw', '/readyz')).toBe('ok');
    expect(await kubectl(namespace, kubeconfig, 'get', 'service', 'kubernetes', '--output=name')).toBe('service/kubernetes\n');
    expect(await kubectl(namespace, kubeconfig, 'get', 'endpoints', ...ADDRESSES)).toBe('');

    namespace.addAddress('192.0.2.77/24');
    expect(await addressesThatAppear(namespace, kubeconfig)).toBe('192.0.2.77');
    const slices = kubectl(namespace, kubeconfig, 'get', 'endpointslices', '--namespace=default', '--output=jsonpath={.items[*].endpoints[*].addresses[*]}');
    expect(await slices).toBe('192.0.2.77');
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(server.lines.filter((line) => /^[EW]/.test(line))).toEqual([]);
  });

  test('startServer() starts, is reconciled, and stops', async () => {
    const namespace = await newNamespace();
    const [enter, ...rest] = namespace.prefix;
    const program = `
      const { startServer } = await import(${JSON.stringify(join(inject('distDir'), 'index.js'))});
      const server = await startServer();
      console.log(server.kubeconfigFile);
      process.stdin.once('end', () => server.stop()).resume();`;
    const child = spawn(enter, [...rest, process.execPath, '--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [kubeconfig] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(await kubectl(namespace, kubeconfig, 'get', 'endpoints', ...ADDRESSES)).toBe('');
    namespace.addAddress('192.0.2.78/24');
    expect(await addressesThatAppear(namespace, kubeconfig)).toBe('192.0.2.78');
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('`serve --advertise-address=127.0.0.1` says once what is wrong with that address, and serves', async () => {
    const namespace = await newNamespace();
    const flags = ['--storage-backend=memory', `--data-dir=${temporaryFolder()}`, `--token-auth-file=${TOKENS_FILE}`, '--authorization-mode=RBAC'];
    const server = new CommandProcess(['serve', ...flags, '--secure-port=0', '--advertise-address=127.0.0.1'], { prefix: namespace.prefix });
    const [, url] = await server.line(/Serving url="([^"]+)"/);
    const ask = (...args: string[]): Promise<string> =>
      kubectl(namespace, '/dev/null', `--server=${url}`, '--token=admin-token', '--insecure-skip-tls-verify', ...args);
    await server.line(/Endpoints .* is invalid: .*may not be in the loopback range/);
    // The next attempts come after one second and after three.
    await ask('wait', 'service/kubernetes', '--for=delete', '--timeout=4s').catch(() => undefined);
    expect(await ask('get', '--raw', '/readyz')).toBe('ok');
    expect(server.lines.filter((line) => line.includes('loopback range'))).toHaveLength(1);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});
