import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { TestKonnectivity } from '../../src/server/egress/test-konnectivity.ts';
import { Clients } from '../support/kubectl.ts';
import { KUBECTL } from '../support/paths.ts';
import { type ServerProcess, temporaryFolder } from '../support/server.ts';
import { POD_PATH, TestCluster } from './cluster.ts';
import type { TestKubelet } from './kubelet.ts';

/* All that goes into the cluster, through a konnectivity proxy: gRPC on a socket in the file system, and over TLS with certificates of both ends. */

/** `KONNECTIVITY_MEGABYTES=1000` is a gigabyte each, which takes minutes. */
const MEGABYTES = Number(process.env['KONNECTIVITY_MEGABYTES'] ?? 64);
const SIZE_BYTES = MEGABYTES * 1_000_000;
const GROWTH_MAX_BYTES = 96 * 1024 * 1024;
const TIMEOUT = { timeout: 60_000 + MEGABYTES * 1000 };

const folder = temporaryFolder();
const write = (name: string, content: string | object): string => {
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return join(folder, name);
};
const egressFlag = (name: string, transport: object): string =>
  `--egress-selector-config-file=${write(name, {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'GRPC', transport } }],
  })}`;

describe('on a socket in the file system', () => {
  const socketPath = join(folder, 'konnectivity.sock');
  let proxy = new TestKonnectivity();
  let server: ServerProcess;
  let cluster: TestCluster;
  let kubelet: TestKubelet;
  let node: string;
  let pod: string;
  let kubectl: Clients;

  beforeAll(async () => {
    await proxy.listen(socketPath);
    ({ cluster, server } = await TestCluster.start([egressFlag('uds.json', { uds: { udsName: socketPath } })]));
    ({ kubelet, name: node } = await cluster.node());
    pod = await cluster.pod(node);
    kubectl = new Clients(server);
  });
  afterAll(() => proxy.close());

  test('logs, commands and ports', async () => {
    kubelet.log(`default/${pod}/main`).append('line');
    expect(await kubectl.kubectl(`logs ${pod}`)).toBe('line\n');
    expect(proxy.targets[0]).toBe(`127.0.0.1:${kubelet.port}`);
    expect(await kubectl.kubectl(`exec ${pod} -- echo hello`)).toBe('hello\n');
    expect((await kubectl.tryKubectl(['exec', '-i', pod, '--', 'cat'], 'x'.repeat(500_000))).stdout).toHaveLength(500_000);
    await forwarding(
      (socket) => socket.end('from the pod'),
      async (local) => {
        const socket = connect(local, '127.0.0.1');
        expect(String((await once(socket, 'data'))[0])).toBe('from the pod');
        socket.destroy();
      },
    );
  });

  test('a pod behind its proxy, without TLS, at an address that leads nowhere from here', async () => {
    const backend = createHttpServer((request, response) => response.end(`here is ${request.url}`)).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    proxy.places.set('10.9.8.7:8080', { host: '127.0.0.1', port: (backend.address() as AddressInfo).port });
    const far = await cluster.pod(node);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = { status: { podIP: '10.9.8.7', podIPs: [{ ip: '10.9.8.7' }] } };
    await cluster.client.expect(200, { method: 'PATCH', path: `${POD_PATH}/${far}/status`, headers, body });
    expect((await cluster.client.send({ path: `${POD_PATH}/${far}:8080/proxy/x` })).text).toBe('here is /x');
    backend.close().closeAllConnections();
  });

  test('nothing stays behind', async () => {
    const { text } = await cluster.client.send({ path: '/metrics' });
    expect(text).toMatch(/^apiserver_egress_dialer_dial_start_total\{protocol="grpc",transport="uds"\} [1-9]/m);
    expect(text).toMatch(/^apiserver_egress_dialer_dial_duration_seconds_count\{protocol="grpc",transport="uds"\} [1-9]/m);
    expect(text).toMatch(/^konnectivity_network_proxy_client_client_connections\{status="dialing"\} 0$/m);
    expect(text).toMatch(/^konnectivity_network_proxy_client_stream_packets_total\{packet_type="DIAL_REQ",segment="from_client"\} [1-9]/m);
    expect(text).toMatch(/^konnectivity_network_proxy_client_stream_packets_total\{packet_type="DATA",segment="to_client"\} [1-9]/m);
  });

  test('what the proxy says of a kubelet that is not there is told', async () => {
    proxy.answer = (stream, random) => stream.sendDialResponse(random, 'dial tcp 10.1.1.1:10250: connect: no route to host');
    const far = await cluster.pod(await cluster.nodeAt('10.1.1.1', 10250));
    const answer = await cluster.client.send({ path: `${POD_PATH}/${far}/log` });
    proxy.answer = undefined;
    expect(answer.status).toBe(500);
    expect((JSON.parse(answer.text) as { message: string }).message).toBe(
      `Get "https://10.1.1.1:10250/containerLogs/default/${far}/main": dial tcp 10.1.1.1:10250: connect: no route to host`,
    );
    const { text } = await cluster.client.send({ path: '/metrics' });
    expect(text).toMatch(/^konnectivity_network_proxy_client_dial_failure_total\{reason="endpoint"\} 1$/m);
    expect(text).toMatch(/^apiserver_egress_dialer_dial_failure_count\{protocol="grpc",stage="proxy",transport="uds"\} 1$/m);
  });

  test('a proxy that dies ends what goes through it, and one that is started again is used', async () => {
    const log = kubelet.log(`default/${pod}/main`);
    const following = await cluster.client.open({ path: `${POD_PATH}/${pod}/log?follow=true` });
    await once(following, 'data');
    const ended = once(following, 'close');
    following.on('error', () => undefined).resume();
    proxy.close();
    await ended;
    const waiting = cluster.client.send({ path: `${POD_PATH}/${pod}/log?tailLines=1` });
    log.append('last');
    proxy = await new TestKonnectivity().listen(socketPath);
    expect((await waiting).text).toBe('last\n');
  });

  const memoryBytes = (): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1]) * 1024;

  /** How much the server's memory grew at most. */
  async function growthDuring(use: (look: () => void) => Promise<void>): Promise<number> {
    const before = memoryBytes();
    let most = before;
    await use(() => (most = Math.max(most, memoryBytes())));
    const growth = most - before;
    console.log(`${MEGABYTES} MB: memory grew by ${Math.round(growth / 1e6)} MB at most`);
    return growth;
  }

  async function forwarding(serve: Parameters<typeof createServer>[1] & object, use: (localPort: number) => Promise<void>): Promise<void> {
    const listener = createServer(serve).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const forward = kubectl.startKubectl(`port-forward pod/${pod} :${(listener.address() as AddressInfo).port}`);
    const [, local] = /127\.0\.0\.1:(\d+) ->/.exec(await forward.next())!;
    await use(Number(local));
    await forward.stop();
    listener.close();
  }

  /** Reads all of it, and says how much it was. */
  async function count(readable: NodeJS.ReadableStream, look: () => void): Promise<number> {
    let [received, chunks] = [0, 0];
    for await (const chunk of readable) {
      received += (chunk as Buffer).length;
      if (chunks++ % 100 === 0) look();
    }
    return received;
  }

  test('a lot of a log', TIMEOUT, async () => {
    // The kubelet makes one string of a log, which has a limit.
    const parts = Math.ceil(MEGABYTES / 200);
    const lines = MEGABYTES / parts;
    const long = await cluster.pod(node, ['long']);
    for (let i = 0; i < lines; i++) kubelet.log(`default/${long}/long`).append('x'.repeat(999_999));
    let received = 0;
    const growth = await growthDuring(async (look) => {
      for (let part = 0; part < parts; part++) received += await count(await cluster.client.open({ path: `${POD_PATH}/${long}/log` }), look);
    });
    expect(received).toBe(SIZE_BYTES);
    expect(growth).toBeLessThan(GROWTH_MAX_BYTES);
  });

  test('a lot of what a command prints', TIMEOUT, async () => {
    let received = 0;
    const growth = await growthDuring(async (look) => {
      const env = { PATH: process.env.PATH, HOME: kubectl.home, KUBECONFIG: join(kubectl.home, 'kubeconfig') };
      const child = spawn(KUBECTL, ['exec', pod, '--', 'head', '-c', String(SIZE_BYTES), '/dev/zero'], { env });
      received = await count(child.stdout, look);
    });
    expect(received).toBe(SIZE_BYTES);
    expect(growth).toBeLessThan(GROWTH_MAX_BYTES);
  });

  test('a lot through a port, both ways', TIMEOUT, async () => {
    let received = 0;
    const growth = await growthDuring((look) =>
      forwarding(
        (socket) => socket.on('error', () => undefined).pipe(socket),
        async (local) => {
          const socket = connect(local, '127.0.0.1');
          const chunk = Buffer.alloc(250_000, 'x');
          let sent = 0;
          const pump = (): void => {
            while (sent < SIZE_BYTES) {
              sent += chunk.length;
              if (!socket.write(chunk)) return void socket.once('drain', pump);
            }
          };
          pump();
          for await (const piece of socket) {
            received += (piece as Buffer).length;
            if (received % 8 === 0) look();
            if (received >= SIZE_BYTES) break;
          }
        },
      ),
    );
    expect(received).toBe(SIZE_BYTES);
    expect(growth).toBeLessThan(GROWTH_MAX_BYTES);
  });
});

describe('over TLS', () => {
  const authority = createAuthority({ commonName: 'konnectivity-ca' });
  const { certPem, keyPem } = signCertificate(authority, { commonName: 'proxy', usages: ['server'], hosts: ['konnectivity.example.com'] });
  const proxy = new TestKonnectivity({ certPem, keyPem, caPem: authority.certPem });
  const tlsConfig = (by: typeof authority, name: string): object => {
    const client = signCertificate(by, { commonName: 'kube-apiserver', usages: ['client'] });
    return {
      caBundle: write(`${name}-ca.crt`, authority.certPem),
      clientCert: write(`${name}.crt`, client.certPem),
      clientKey: write(`${name}.key`, client.keyPem),
      tlsServerName: 'konnectivity.example.com',
    };
  };
  beforeAll(() => proxy.listen().then(() => undefined));
  afterAll(() => proxy.close());

  const logOf = async (config: object): Promise<{ status: number; text: string }> => {
    const tcp = { url: `https://127.0.0.1:${proxy.port}`, tlsConfig: config };
    const { cluster, server } = await TestCluster.start([egressFlag('tls.json', { tcp })]);
    const { kubelet, name } = await cluster.node();
    const pod = await cluster.pod(name);
    kubelet.log(`default/${pod}/main`).append('line');
    const answer = await cluster.client.send({ path: `${POD_PATH}/${pod}/log` });
    await server.stop();
    return answer;
  };

  test('with certificates of both ends', async () => {
    expect((await logOf(tlsConfig(authority, 'good'))).text).toBe('line\n');
    expect(proxy.targets).toHaveLength(1);
  });

  test('not with one of another authority', async () => {
    const { status, text } = await logOf(tlsConfig(createAuthority({ commonName: 'stranger' }), 'bad'));
    expect(status).toBe(500);
    expect(text).toContain('tunnel closed');
    const wrongName = { ...tlsConfig(authority, 'name'), tlsServerName: 'other.example.com' };
    expect((await logOf(wrongName)).text).toContain('certificate is valid for konnectivity.example.com, not other.example.com');
    expect(proxy.targets).toHaveLength(1);
  });
});
