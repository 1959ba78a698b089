import { type AddressInfo, type Server, createServer } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { signCertificate, createAuthority } from '../../src/serving/certificates/create.ts';
import type { ServerProcess } from '../support/server.ts';
import { POD_PATH, TestCluster } from './cluster.ts';
import { TestKubelet } from './kubelet.ts';
import { spdy, webSocket } from './raw-client.ts';

/* The wire between a client, the server and a kubelet, byte by byte. What is expected was seen of kube-apiserver v1.36.4 with the same kubelet. */

let cluster: TestCluster;
let server: ServerProcess;
let kubelet: TestKubelet;
let node: string;

beforeAll(async () => {
  ({ cluster, server } = await TestCluster.start());
  ({ kubelet, name: node } = await cluster.node());
});

const V5 = webSocket('v5.channel.k8s.io');
const FORWARD = webSocket('SPDY/3.1+portforward.k8s.io');
const exec = (pod: string, ...command: string[]): string =>
  `${POD_PATH}/${pod}/exec?${command.map((word) => `command=${encodeURIComponent(word)}`).join('&')}&stdin=1&stdout=1&stderr=1`;
const SUCCESS = '2:\u0003{"metadata":{},"status":"Success"}';
const CLOSED = '8:\u0003\u00e8';
const internal = (message: string): string =>
  `2:\u0003${JSON.stringify({ metadata: {}, status: 'Failure', message: `Internal error occurred: ${message}`, reason: 'InternalError', details: { causes: [{ message }] }, code: 500 })}`;

/** A server on a free port that ends with the test file. */
async function listening(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  afterAll(() => void listener.close());
  return (listener.address() as AddressInfo).port;
}

describe('a command over WebSocket', () => {
  test('says that it is connected, what comes, and how it ended', async () => {
    const pod = await cluster.pod(node);
    const client = cluster.open('GET', exec(pod, 'sh', '-c', 'echo out; exit 4'), V5);
    await client.ended;
    const exit = {
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: command terminated with exit code 4',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '4' }] },
    };
    expect(client.messages).toEqual(['2:\u0001', '2:\u0001out\n', `2:\u0003${JSON.stringify(exit)}`, CLOSED]);
    expect(kubelet.requests.at(-1)).toMatchObject({
      method: 'POST',
      url: `/exec/default/${pod}/main?command=sh&command=-c&command=echo+out%3B+exit+4&error=1&input=1&output=1`,
    });
  });

  test('takes the end of stdin, and no nonsense', async () => {
    const pod = await cluster.pod(node);
    const client = cluster.open('GET', exec(pod, 'cat'), V5);
    client.send(Buffer.from('\0hello'));
    client.send(Buffer.from('\u0007nobody'));
    client.send(Buffer.from([255, 0]));
    await client.ended;
    expect(client.messages).toEqual(['2:\u0001', '2:\u0001hello', SUCCESS, CLOSED]);
    for (const nonsense of [[255], [255, 9], [255, 0, 0]]) {
      const other = cluster.open('GET', exec(pod, 'cat'), V5);
      other.send(Buffer.from(nonsense));
      await other.ended;
      expect(other.messages).toEqual(['2:\u0001', CLOSED]);
    }
  });

  test('is refused where the handshake is none', async () => {
    const pod = await cluster.pod(node);
    const answer = async (method: string, headers: Record<string, string>): Promise<[number, string]> => {
      const client = cluster.open(method, exec(pod, 'true'), headers);
      return [Number((await client.ended).slice(9, 12)), client.received.toString().split('\r\n\r\n')[1]!];
    };
    expect(await answer('GET', { ...V5, 'sec-websocket-version': '8' })).toEqual([400, 'missing or bad WebSocket Version']);
    expect(await answer('GET', { ...V5, 'sec-websocket-key': '' })).toEqual([400, 'mismatch challenge/response']);
    expect(await answer('POST', V5)).toEqual([405, 'bad method']);
  });

  test('goes to a kubelet that speaks it, where the kubelet says so', async () => {
    const { name } = await cluster.node(['ExtendWebSocketsToKubelet']);
    const client = cluster.open('GET', exec(await cluster.pod(name), 'echo', 'hello'), V5);
    await client.ended;
    expect(client.messages).toEqual(['2:\u0001hello\n', SUCCESS, CLOSED]);
    expect((await server.client().send({ path: '/metrics' })).text).toMatch(
      /^apiserver_websocket_streaming_requests_total\{.*proxy_type="proxied_to_kubelet".*\} 1$/m,
    );
  });
});

describe('a kubelet that', () => {
  const PATHS = { exec: (pod: string) => exec(pod, 'id'), portforward: (pod: string) => `${POD_PATH}/${pod}/portforward?ports=80` };
  /** What each way of speaking to it brings. */
  async function answers(pod: string): Promise<{ log: [number, string]; command: string[]; spdy: [number, string]; tunnel: [number, string] }> {
    const log = await cluster.client.send({ path: `${POD_PATH}/${pod}/log` });
    const command = cluster.open('GET', PATHS.exec(pod), V5);
    await command.ended;
    const upgraded = async (method: string, path: string, headers: Record<string, string>): Promise<[number, string]> => {
      const client = cluster.open(method, path, headers);
      await client.ended; // failed upgrades end the connection, whatever the client thinks
      return [client.status, messageOf(client.received.toString().split('\r\n\r\n').slice(1).join(''))];
    };
    return {
      log: [log.status, messageOf(log.text)],
      command: command.messages.slice(1, -1),
      spdy: await upgraded('POST', PATHS.exec(pod), spdy('v5.channel.k8s.io')),
      tunnel: await upgraded('GET', PATHS.portforward(pod), FORWARD),
    };
  }
  const messageOf = (text: string): string => (text.startsWith('{') ? (JSON.parse(text) as { message: string }).message : text);
  const at = (port: number, path: string, pod: string): string => `https://127.0.0.1:${port}/${path}/default/${pod}/main`;
  const QUERY = '?command=id&error=1&input=1&output=1';

  test('is not there', async () => {
    const listener = createServer();
    const port = await listening(listener);
    await new Promise((resolve) => listener.close(resolve));
    const pod = await cluster.pod(await cluster.nodeAt('127.0.0.1', port));
    const reason = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
    expect(await answers(pod)).toEqual({
      log: [500, `Get "${at(port, 'containerLogs', pod)}": ${reason}`],
      command: [internal(`error sending request: Post "${at(port, 'exec', pod)}${QUERY}": ${reason}`)],
      spdy: [500, `error dialing backend: ${reason}`],
      tunnel: [500, `error dialing backend: ${reason}`],
    });
  });

  test('is another than it says, unless that is not asked', async () => {
    const serving = signCertificate(createAuthority({ commonName: 'other' }), { commonName: 'x', usages: ['server'], ips: ['127.0.0.1'] });
    const stranger = await new TestKubelet({ ...cluster.certificates, serving }).listen();
    afterAll(() => stranger.stop());
    const pod = await cluster.pod(await cluster.nodeAt('127.0.0.1', stranger.port));
    const reason = 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    expect(await answers(pod)).toEqual({
      log: [500, `Get "${at(stranger.port, 'containerLogs', pod)}": ${reason}`],
      command: [internal(`error sending request: Post "${at(stranger.port, 'exec', pod)}${QUERY}": ${reason}`)],
      spdy: [500, `error dialing backend: ${reason}`],
      tunnel: [500, `error dialing backend: ${reason}`],
    });
    expect(stranger.requests).toEqual([]);
    stranger.log(`default/${pod}/main`).append('hello');
    expect((await cluster.client.send({ path: `${POD_PATH}/${pod}/log?insecureSkipTLSVerifyBackend=true` })).text).toBe('hello\n');
    expect((await server.client().send({ path: '/metrics' })).text).toMatch(/^kube_apiserver_pod_logs_backend_tls_failure_total 1$/m);
  });

  test('speaks no TLS', async () => {
    const port = await listening(createServer((socket) => void socket.on('error', () => {}).once('data', () => socket.end('SSH-2.0-garbage\r\n'))));
    const { log, spdy: upgraded } = await answers(await cluster.pod(await cluster.nodeAt('127.0.0.1', port)));
    expect(log[1]).toMatch(/: tls: first record does not look like a TLS handshake$/);
    expect(upgraded[1]).toBe('error dialing backend: tls: first record does not look like a TLS handshake');
  });

  test('refuses', async () => {
    const { kubelet: refusing, name } = await cluster.node();
    const pod = await cluster.pod(name);
    refusing.misbehave = (_request, socket) => {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nwhy?');
      return true;
    };
    expect(await answers(pod)).toEqual({
      log: [403, `why? ( pods/log ${pod})`],
      command: [internal('unable to upgrade connection: why?')],
      spdy: [403, 'why?'],
      tunnel: [403, 'why?'],
    });
  });

  test('redirects, and nobody follows (CVE-2020-8559)', async () => {
    let visits = 0;
    const port = await listening(createServer((socket) => void (visits++, socket.destroy())));
    const { kubelet: redirecting, name } = await cluster.node();
    const to = `http://127.0.0.1:${port}/elsewhere`;
    redirecting.misbehave = (_request, socket) => {
      socket.end(`HTTP/1.1 307 Temporary Redirect\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`);
      return true;
    };
    expect(await answers(await cluster.pod(name))).toEqual({
      log: [500, `Get "${to}": redirects forbidden`],
      command: [internal(`error sending request: Post "${to}": redirect not allowed`)],
      spdy: [500, 'invalid upgrade response: status code 307'],
      tunnel: [500, 'invalid upgrade response: status code 307'],
    });
    expect(visits).toBe(0);
  });

  test('hangs up', async () => {
    const { kubelet: dying, name } = await cluster.node();
    const pod = await cluster.pod(name);
    dying.misbehave = (_request, socket) => {
      socket.destroy();
      return true;
    };
    expect(await answers(pod)).toEqual({
      log: [500, `Get "${at(dying.port, 'containerLogs', pod)}": EOF`],
      command: [internal(`error sending request: Post "${at(dying.port, 'exec', pod)}${QUERY}": unexpected EOF`)],
      spdy: [500, 'unexpected EOF'],
      tunnel: [500, 'unexpected EOF'],
    });
  });

  test('upgrades to something else, or speaks garbage after it', async () => {
    const { kubelet: odd, name } = await cluster.node();
    const pod = await cluster.pod(name);
    const answer = (text: string) => {
      odd.misbehave = (_request, socket) => {
        socket.end(text);
        return true;
      };
      return answers(pod);
    };
    const wrong = await answer('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    expect(wrong.command).toEqual([internal('unable to upgrade connection: empty server response')]);
    expect(wrong.tunnel).toEqual([500, 'unable to upgrade: missing upgrade headers in response\n']);
    const garbage = await answer('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n\u0080this is no SPDY at all, is it?');
    expect(garbage.command).toEqual([internal('the SPDY connection is closed')]);
    expect(garbage.log[1]).toContain(`Get "${at(odd.port, 'containerLogs', pod)}": `);
  });

  test('dies in the middle', async () => {
    const { kubelet: dying, name } = await cluster.node();
    const pod = await cluster.pod(name);
    dying.log(`default/${pod}/main`).append('hello');
    const follower = cluster.open('GET', `${POD_PATH}/${pod}/log?follow=true`, { connection: 'close' });
    const command = cluster.open('GET', exec(pod, 'sh', '-c', 'echo started; exec sleep 1000'), V5);
    const tunnel = cluster.open('GET', `${POD_PATH}/${pod}/portforward`, FORWARD);
    await Promise.all([follower.until('hello'), command.until('started'), tunnel.until('101')]);
    dying.stop();
    await Promise.all([follower.ended, command.ended, tunnel.ended]);
    expect(follower.received.toString()).toMatch(/6\r\nhello\n\r\n0\r\n\r\n$/);
    expect(command.messages.at(-2)).toBe(internal('error reading from error stream: unexpected EOF'));
  });
});

/** alice may read these subresources of pods, and do no more. */
async function letReadersIn({ client }: TestCluster): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const rules = [{ apiGroups: [''], resources: ['pods/exec', 'pods/attach', 'pods/portforward'], verbs: ['get'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
  const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }];
  await client.create(`${rbac}/roles`, { metadata: { name: 'reader' }, rules });
  await client.create(`${rbac}/rolebindings`, { metadata: { name: 'reader' }, roleRef, subjects });
}

describe('what a client may not do', () => {
  test('ride on a connection whose upgrade has failed (CVE-2018-1002105)', async () => {
    const { kubelet: refusing, name } = await cluster.node();
    const pod = await cluster.pod(name);
    refusing.misbehave = (_request, socket) => {
      socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'); // and stays open
      return true;
    };
    for (const [method, path, headers] of [
      ['POST', exec(pod, 'id'), spdy('v5.channel.k8s.io')],
      ['GET', `${POD_PATH}/${pod}/portforward`, FORWARD],
    ] as const) {
      refusing.requests.length = 0;
      const client = cluster.open(method, path, headers);
      client.request('GET', '/pods');
      await client.ended;
      expect(client.received.toString()).toMatch(/^HTTP\/1\.1 403 [^]*\r\n\r\nno$/);
      expect(refusing.requests).toHaveLength(1);
    }
  });

  test('show its credentials to a kubelet', async () => {
    const pod = await cluster.pod(node);
    await cluster.open('POST', exec(pod, 'true'), { ...spdy('nonsense'), 'x-remote-user': 'root', cookie: 'a=b' }).ended;
    const { headers } = kubelet.requests.at(-1)!;
    expect(Object.keys(headers).filter((name) => /authorization|x-remote/.test(name))).toEqual([]);
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  test('open a WebSocket into a pod that it may only read', async () => {
    const pod = await cluster.pod(node);
    await letReadersIn(cluster);
    const asked = kubelet.requests.length;
    for (const [path, headers] of [
      [exec(pod, 'id'), V5],
      [`${POD_PATH}/${pod}/attach?stdout=1`, V5],
      [`${POD_PATH}/${pod}/portforward`, FORWARD],
    ] as const) {
      const client = cluster.open('GET', path, headers, 'alice-token');
      await client.ended;
      expect([client.status, client.received.toString()]).toEqual([403, expect.stringContaining(`pods \\"${pod}\\" is forbidden: `)]);
    }
    expect(kubelet.requests).toHaveLength(asked);
  });
});

test('a kubelet that speaks HTTP/2 serves all followers over a few connections, and commands beside them', async () => {
  const { kubelet: modern, name } = await cluster.node([], { http2: true });
  const pod = await cluster.pod(name);
  const log = modern.log(`default/${pod}/main`);
  log.append('one');
  const followers = Array.from({ length: 150 }, () => cluster.open('GET', `${POD_PATH}/${pod}/log?follow=true`, { connection: 'close' }));
  await Promise.all(followers.map((follower) => follower.until('one')));
  log.append('two');
  await Promise.all(followers.map((follower) => follower.until('two')));
  expect(modern.sockets.size).toBeLessThanOrEqual(3);
  const command = cluster.open('GET', exec(pod, 'echo', 'hello'), V5);
  await command.ended;
  expect(command.messages).toContain(SUCCESS);
  for (const follower of followers) follower.socket.destroy();
  await vi.waitFor(() => expect(log.followers).toBe(0), { timeout: 10_000 });
});

describe('over a WebSocket come', () => {
  test('logs, as they are or in base64', async () => {
    const pod = await cluster.pod(node);
    kubelet.log(`default/${pod}/main`).append('hello');
    const messages = async (protocol?: string): Promise<string[]> => {
      const client = cluster.open('GET', `${POD_PATH}/${pod}/log`, webSocket(protocol));
      await client.ended;
      return client.messages;
    };
    expect(await messages()).toEqual(['2:', '2:hello\n', CLOSED]);
    expect(await messages('base64.binary.k8s.io')).toEqual(['1:', '1:aGVsbG8K', CLOSED]);
    const refused = cluster.open('GET', `${POD_PATH}/${pod}/log`, webSocket('other'));
    await refused.ended;
    expect(refused.status).toBe(403);
  });

  test('watches, for those who say where they come from', async () => {
    const path = '/api/v1/nodes?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dnode-1';
    const from = { origin: 'http://example.com' };
    const open = async (headers: Record<string, string>) => {
      const client = cluster.open('GET', path, headers);
      await client.ended;
      return client;
    };
    const json = await open({ ...webSocket('one'), ...from });
    expect(json.received.toString()).toContain('Sec-WebSocket-Protocol: one\r\n');
    expect(json.messages).toEqual([expect.stringMatching(/^1:\{"type":"ADDED","object":\{"kind":"Node".*\}\}\n$/), CLOSED]);
    const protobuf = await open({ ...webSocket(), ...from, accept: 'application/vnd.kubernetes.protobuf' });
    expect(protobuf.messages).toEqual([expect.stringContaining('2:\n\u0005ADDED\u0012'), CLOSED]);
    expect((await open(webSocket())).status).toBe(403);
    expect((await open({ ...webSocket(), origin: 'null' })).status).toBe(403);
    expect((await open({ ...webSocket('one, two'), ...from })).status).toBe(400);
  });
});

test('gates that are turned leave WebSockets to kubelets, readers in, and choose between the streams of a log', async () => {
  const gates = { AuthorizePodWebsocketUpgradeCreatePermission: false, TranslateStreamCloseWebsocketRequests: false, PodLogsQuerySplitStreams: true };
  const { cluster: other } = await TestCluster.start([
    `--feature-gates=${Object.entries(gates)
      .map((gate) => gate.join('='))
      .join(',')}`,
  ]);
  const { kubelet: its, name } = await other.node();
  const pod = await other.pod(name);
  await letReadersIn(other);
  const client = other.open('GET', exec(pod, 'echo', 'hello'), V5, 'alice-token');
  await client.ended;
  expect(client.messages).toEqual(['2:\u0001hello\n', SUCCESS, CLOSED]);
  expect(its.requests.at(-1)).toMatchObject({ method: 'GET', headers: { upgrade: 'websocket' } });
  its.log(`default/${pod}/main`).append('hello');
  const log = (query: string) => other.client.send({ path: `${POD_PATH}/${pod}/log?${query}` });
  expect((await log('stream=Stderr')).status).toBe(200);
  expect(its.requests.at(-1)!.url).toBe(`/containerLogs/default/${pod}/main?stream=Stderr`);
  expect((await log('stream=Other')).text).toContain('Unsupported value: \\"Other\\": supported values: \\"All\\", \\"Stderr\\", \\"Stdout\\"');
  expect((await log('stream=Stdout&tailLines=1')).status).toBe(422);
  expect((await cluster.client.send({ path: `${POD_PATH}/${await cluster.pod(node)}/log?stream=All` })).status).toBe(422);
});

test('open streams do not keep a server that is told to stop', async () => {
  const { cluster: other, server: stopping } = await TestCluster.start(['--shutdown-delay-duration=0s']);
  const { kubelet: its, name } = await other.node();
  const pod = await other.pod(name);
  its.log(`default/${pod}/main`).append('hello');
  const follower = other.open('GET', `${POD_PATH}/${pod}/log?follow=true`);
  const command = other.open('GET', exec(pod, 'cat'), V5);
  await Promise.all([follower.until('hello'), command.until('\u0001')]);
  const begun = performance.now();
  expect(await stopping.stop()).toEqual({ code: 0, signal: null });
  expect(performance.now() - begun).toBeLessThan(5000);
  await Promise.all([follower.ended, command.ended]);
  await vi.waitFor(() => expect([its.sockets.size, its.children.size]).toEqual([0, 0]), { timeout: 10_000 });
});
