import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestCluster } from './kubelet/cluster.ts';
import { Clients } from './support/kubectl.ts';
import { OUTER_HOST as HOST } from './support/outer-host.ts';
import type { ServerProcess } from './support/server.ts';

/* pods, services and nodes, proxied to over real connections. */

const PAGE = '<html><a href="/next">next</a><img src="http://elsewhere.example/x.png"></html>';
const seen: IncomingMessage[] = [];

function answer(request: IncomingMessage, response: ServerResponse): void {
  seen.push(request);
  switch (request.url!.split('?')[0]) {
    case '/page':
      return void response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE);
    case '/zipped':
      return void response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(gzipSync(PAGE));
    case '/kept':
      return void response.writeHead(200, { 'cache-control': 'max-age=5, public', 'audit-id': 'mine' }).end();
    case '/away':
      return void response.writeHead(302, { location: '/page' }).end();
    case '/echo':
      return void request.pipe(response.writeHead(201, { 'x-echo': request.method!, 'access-control-allow-origin': '*' }));
    default:
      response.setHeader('content-type', 'text/plain').end(`here is ${request.url}`);
  }
}

let cluster: TestCluster;
let server: ServerProcess;
let backend: Server;
let port: number;

beforeAll(async () => {
  ({ cluster, server } = await TestCluster.start());
  backend = createServer(answer).listen(0, HOST);
  backend.on('upgrade', (request, socket) => {
    seen.push(request);
    socket.on('error', () => {});
    if (request.url === '/refuses') return socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno');
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n');
    return socket.pipe(socket);
  });
  await once(backend, 'listening');
  ({ port } = backend.address() as AddressInfo);
  const node = await cluster.nodeAt(HOST, port);
  for (const [name, podIP] of [
    ['web', HOST],
    ['inside', '127.0.0.1'],
    ['linked', '169.254.169.254'],
  ]) {
    const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }];
    await cluster.client.create('/api/v1/namespaces/default/pods', { metadata: { name }, spec: { nodeName: node, containers } });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = { status: { podIP, podIPs: [{ ip: podIP }] } };
    await cluster.client.expect(200, { method: 'PATCH', path: `/api/v1/namespaces/default/pods/${name}/status`, headers, body });
  }
});

afterAll(() => backend.close().closeAllConnections());

const POD = '/api/v1/namespaces/default/pods/web/proxy';

describe('a pod', () => {
  test('is reached with path, query and method; who the client is stays here', async () => {
    const got = await cluster.client.send({ path: `${POD}/some%20where/?q=1&r=%2F` });
    expect([got.status, got.text]).toEqual([200, 'here is /some%20where/?q=1&r=%2F']);
    const { headers } = seen.at(-1)!;
    expect(headers).toMatchObject({ 'x-forwarded-uri': `${POD}/some%20where/`, 'x-forwarded-for': '127.0.0.1' });
    expect(headers.authorization).toBeUndefined();
    const posted = await cluster.client.send({ method: 'POST', path: `${POD}/echo`, body: 'x'.repeat(200_000) });
    expect([posted.status, posted.text.length, posted.headers['x-echo'], posted.headers['access-control-allow-origin']]).toEqual([
      201,
      200_000,
      'POST',
      undefined,
    ]);
  });

  test('nobody climbs out of its root, and what is on every answer stays on it', async () => {
    expect((await cluster.client.send({ path: `${POD}/a/%2e%2e/%2e%2e/%2e%2e/b//c/` })).text).toBe('here is /b/c/');
    const kept = await cluster.client.send({ path: `${POD}/kept` });
    expect(kept.headers['cache-control']).toBe('no-cache, private, max-age=5, public');
    expect(kept.headers['audit-id']).toMatch(/^[-0-9a-f]{36}$/);
    const head = await cluster.client.send({ method: 'HEAD', path: `${POD}/page` });
    expect([head.status, head.headers['content-length']]).toEqual([200, undefined]);
  });

  test('its pages and redirects lead through the proxy', async () => {
    const wanted = PAGE.replace('/next', `${POD}/next`);
    expect((await cluster.client.send({ path: `${POD}/page` })).text).toBe(wanted);
    expect(gunzipSync((await cluster.client.send({ path: `${POD}/zipped`, headers: { 'accept-encoding': 'gzip' } })).body).toString()).toBe(wanted);
    const away = await cluster.client.send({ path: `${POD}/away` });
    expect([away.status, away.headers.location]).toEqual([302, `${POD}/page`]);
    const root = await cluster.client.send({ path: `${POD}?q=1` });
    expect([root.status, root.headers.location]).toEqual([301, `${POD}/?q=1`]);
  });

  test('by scheme and port; a port where nobody listens is a 503', async () => {
    expect((await cluster.client.send({ path: `/api/v1/namespaces/default/pods/http:web:${port}/proxy/x` })).text).toBe('here is /x');
    const closed = await cluster.client.send({ path: `/api/v1/namespaces/default/pods/web:1/proxy/x` });
    expect([closed.status, closed.json<{ message: string }>().message]).toEqual([
      503,
      `error trying to reach service: dial tcp ${HOST}:1: connect: connection refused`,
    ]);
  });

  test.each(['inside', 'linked'])('at an address that is ours alone (%s) is refused', async (name) => {
    const refused = await cluster.client.send({ path: `/api/v1/namespaces/default/pods/${name}/proxy/x` });
    expect([refused.status, refused.json<{ message: string }>().message]).toEqual([400, 'address not allowed']);
  });

  test('takes another protocol; a refusal ends both connections', async () => {
    const open = cluster.open('GET', `${POD}/socket`, { connection: 'Upgrade', upgrade: 'echo' });
    await open.until('\r\n\r\n');
    expect(open.status).toBe(101);
    open.socket.write('hello');
    await open.until('hello');
    open.socket.destroy();
    const refused = cluster.open('GET', `${POD}/refuses`, { connection: 'Upgrade', upgrade: 'echo' });
    expect(await refused.ended).toMatch(/^HTTP\/1.1 403 /);
    const closed = cluster.open('GET', '/api/v1/namespaces/default/pods/web:1/proxy/x', { connection: 'Upgrade', upgrade: 'echo' });
    expect(await closed.ended).toContain(`"message":"error dialing backend: dial tcp ${HOST}:1: connect: connection refused","code":500`);
  });
});

test('kubectl proxy: a browser gets the API, and pages of pods whose links work', async () => {
  const proxy = new Clients(server).startKubectl('proxy --port=0');
  const address = /Starting to serve on (\S+)/.exec(await proxy.next())![1];
  const get = async (path: string): Promise<Response> => fetch(`http://${address}${path}`);
  expect(await (await get('/api/v1/namespaces/default')).json()).toMatchObject({ kind: 'Namespace' });
  const page = await (await get(`${POD}/page`)).text();
  const [, link] = /href="([^"]+)"/.exec(page)!;
  expect(await (await get(link!)).text()).toBe('here is /next');
  expect(await (await get(POD)).text()).toBe('here is /');
  await proxy.stop();
});

test('a service leads to one of its pods, and to nothing that is none', async () => {
  await cluster.client.create('/api/v1/namespaces/default/services', { metadata: { name: 'web' }, spec: { ports: [{ port: 80, name: 'http' }] } });
  const path = '/api/v1/namespaces/default/services/web:http/proxy/x';
  const endpoints = (targetRef: object | undefined) => ({
    metadata: { name: 'web' },
    subsets: [{ addresses: [{ ip: HOST, ...(targetRef && { targetRef }) }], ports: [{ name: 'http', port }] }],
  });
  await cluster.client.create('/api/v1/namespaces/default/endpoints', endpoints(undefined));
  expect((await cluster.client.send({ path })).status).toBe(503);
  await cluster.client.update('/api/v1/namespaces/default/endpoints/web', endpoints({ kind: 'Pod', namespace: 'default', name: 'web' }));
  expect((await cluster.client.send({ path })).text).toBe('here is /x');
  expect((await cluster.client.send({ path: path.replace(':http', ':80') })).text).toBe('here is /x');
  expect((await cluster.client.send({ path: path.replace(':http', ':81') })).json<{ message: string }>().message).toBe(
    'no service port 81 found for service "web"',
  );
});

test('a node is reached at another port than its kubelet’s, and never at loopback', async () => {
  const name = await cluster.nodeAt(HOST, 10250);
  expect((await cluster.client.send({ path: `/api/v1/nodes/http:${name}:${port}/proxy/x` })).text).toBe('here is /x');
  const inside = await cluster.nodeAt('127.0.0.1', port);
  expect((await cluster.client.send({ path: `/api/v1/nodes/${inside}/proxy/x` })).json<{ message: string }>().message).toBe('address not allowed');
});
