import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TLSSocket, connect } from 'node:tls';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { caBundle, eventually, proxyCertificate, register, startBackend, startFront, waitForAvailability } from './support/aggregation.ts';
import { Clients } from './support/kubectl.ts';
import { OUTER_HOST } from './support/outer-host.ts';
import { type ServerProcess, temporaryFolder } from './support/server.ts';

/* Aggregated servers of a few lines each: a metrics API for kubectl top, and servers that misbehave. */

let front: ServerProcess;
beforeAll(async () => {
  front = await startFront();
});
afterAll(async () => {
  await front?.stop();
});

const json = (response: ServerResponse, body: object, status = 200): void => {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
};

const resourceList = (groupVersion: string, ...resources: object[]): object => ({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources });

describe('a metrics API', () => {
  const GV = 'metrics.k8s.io/v1beta1';
  const nodes = { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] };
  const pods = { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] };
  const times = { timestamp: '2026-01-01T00:00:00Z', window: '10s' };
  const usage = { cpu: '250m', memory: '64Mi' };
  const list = (kind: string, items: object[]): object => ({ kind: `${kind}List`, apiVersion: GV, metadata: {}, items });

  /** As servers of old: of discovery only the legacy form, of OpenAPI only v2. */
  function serveMetrics({ url }: IncomingMessage, response: ServerResponse): void {
    const [path] = url!.split('?');
    if (path === `/apis/${GV}`) return json(response, resourceList(GV, nodes, pods));
    if (path === `/apis/${GV}/nodes`) return json(response, list('NodeMetrics', [{ metadata: { name: 'node-1' }, ...times, usage }]));
    if (path === `/apis/${GV}/namespaces/default/pods`)
      return json(response, list('PodMetrics', [{ metadata: { name: 'pod-1', namespace: 'default' }, ...times, containers: [{ name: 'c', usage }] }]));
    if (path === '/openapi/v2') {
      const kind = { group: 'metrics.k8s.io', version: 'v1beta1', kind: 'NodeMetrics' };
      return json(response, {
        swagger: '2.0',
        info: { title: 'metrics', version: '1' },
        paths: {
          [`/apis/${GV}/nodes`]: {
            get: {
              'x-kubernetes-action': 'list',
              'x-kubernetes-group-version-kind': kind,
              responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/NodeMetrics' } } },
            },
          },
          '/version': {},
        },
        definitions: {
          NodeMetrics: {
            type: 'object',
            description: 'What a node uses.',
            'x-kubernetes-group-version-kind': [kind],
          },
        },
      });
    }
    json(response, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }, 404);
  }

  test('kubectl top shows what it measures', async () => {
    const { port } = await startBackend('metrics', serveMetrics);
    await front.client().create('/api/v1/nodes', { metadata: { name: 'node-1' } });
    const node = await front.client().get('/api/v1/nodes/node-1');
    await front
      .client()
      .update('/api/v1/nodes/node-1/status', { ...node, status: { capacity: { cpu: '1', memory: '1Gi' }, allocatable: { cpu: '1', memory: '1Gi' } } });
    await register(front, 'metrics.k8s.io', 'v1beta1', 'metrics', port);
    await waitForAvailability(front, 'v1beta1.metrics.k8s.io', 'Passed');
    const kubectl = new Clients(front);
    await eventually(async () =>
      expect(await kubectl.kubectl('api-resources --api-group=metrics.k8s.io -o name')).toBe('nodes.metrics.k8s.io\npods.metrics.k8s.io\n'),
    );
    expect(await kubectl.kubectl('top node')).toMatch(/node-1\s+250m\s+25%\s+64Mi\s+6%/);
    expect(await kubectl.kubectl('top pod')).toMatch(/pod-1\s+250m\s+64Mi/);
    await eventually(async () => {
      const { paths, definitions } = await front.client().get<{ paths: object; definitions: object }>('/openapi/v2');
      expect(paths).toHaveProperty([`/apis/${GV}/nodes`]);
      expect(definitions).toHaveProperty(['NodeMetrics', 'description'], 'What a node uses.');
    });
    // The server has no OpenAPI v3: ours is made from its v2.
    expect(await kubectl.kubectl('explain nodes --api-version=metrics.k8s.io/v1beta1')).toContain('What a node uses.');
  });
});

describe('requests are sent on as Go writes them', () => {
  const GROUP = 'wire.example.com';
  const AT = `/apis/${GROUP}/v1`;
  let backendPort: number;

  /** Shows what it was asked, or answers with a page, a redirect or packed text. */
  function serve({ url, headers }: IncomingMessage, response: ServerResponse): void {
    const path = url!.split('?')[0]!;
    if (path === AT) return json(response, resourceList(`${GROUP}/v1`));
    if (path === `${AT}/page`)
      return void response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' })
        .end(gzipSync(`<a href="/x?a=1&amp;b=2">x</a><img src="http://localhost:${backendPort}/i"><a href="y">y</a><a href="https://e.com/">e</a>`));
    if (path === `${AT}/elsewhere`) return void response.writeHead(201, { location: '/apis/x' }).end('made');
    json(response, { url, acceptEncoding: headers['accept-encoding'], uri: headers['x-forwarded-uri'] });
  }

  beforeAll(async () => {
    ({ port: backendPort } = await startBackend('wire', serve));
    await register(front, GROUP, 'v1', 'wire', backendPort);
    await waitForAvailability(front, `v1.${GROUP}`, 'Passed');
  });

  test.each([
    ['/things?b=1&a=2&c&d=%zz&e=x+y', '/things?a=2&b=1&c=&e=x+y', '/things'],
    ['/a%2Fb/c%20d/', '/a/b/c%20d/', '/a/b/c%20d/'],
    ['//a/../b', '//a/../b', '/b'],
  ])('%s', async (asked, sent, uri) => {
    const answer = await front.client().send({ path: AT + asked });
    expect(answer.json()).toEqual({ url: AT + sent, acceptEncoding: 'gzip', uri: AT + uri });
  });

  test('what the client says of encodings is sent as it is', async () => {
    const answer = await front.client().send({ path: `${AT}/things`, headers: { 'accept-encoding': 'br' } });
    expect(answer.json()).toMatchObject({ acceptEncoding: 'br' });
  });

  test('packed pages come unpacked, with the links to the same host rewritten', async () => {
    const origin = `https://localhost:${backendPort}`;
    const page = await front.client().send({ path: `${AT}/page` });
    expect(page.headers['content-encoding']).toBeUndefined();
    expect(page.text).toBe(`<a href="${origin}/x?a=1&amp;b=2">x</a><img src="${origin}/i"><a href="y">y</a><a href="https://e.com/">e</a>`);
    const packed = await front.client().send({ path: `${AT}/page`, headers: { 'accept-encoding': 'gzip' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.body).toString()).toBe(page.text);
    expect((await front.client().send({ path: `${AT}/elsewhere` })).headers.location).toBe(`${origin}/apis/x`);
  });
});

describe('a server that knows its callers', () => {
  const GROUP = 'who.example.com';
  const path = `/apis/${GROUP}/v1/things`;

  test('is told who asks, over a connection that proves who tells it', async () => {
    const backend = await startBackend('who', (request, response) => {
      const { headers } = request;
      json(response, request.url === path ? headers : resourceList(`${GROUP}/v1`));
    });
    await register(front, GROUP, 'v1', 'who', backend.port);
    await waitForAvailability(front, `v1.${GROUP}`, 'Passed');
    const client = front.client();
    const user = Buffer.from('jürgen').toString('latin1');
    const headers = {
      'impersonate-user': user,
      'impersonate-group': 'system:masters',
      'impersonate-uid': '7',
      'impersonate-extra-acme.com%2Fx': 'y',
      'x-remote-user': 'root',
    };
    const answer = await client.expect(200, { path, headers });
    const told = answer.json<Record<string, string>>();
    expect(told).toMatchObject({
      'x-remote-user': user,
      'x-remote-group': 'system:masters, system:authenticated',
      'x-remote-uid': '7',
      'x-remote-extra-acme.com%2fx': 'y',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-uri': path,
      'x-forwarded-host': `localhost:${backend.port}`,
      'x-forwarded-proto': 'https',
      'audit-id': answer.headers['audit-id'],
      host: `localhost:${backend.port}`,
    });
    for (const name of ['authorization', 'impersonate-user', 'impersonate-group']) expect(told[name]).toBeUndefined();
    const socket = backend.requests.at(-1)!.socket as unknown as { authorized: boolean; getPeerCertificate(): { subject: { CN: string } } };
    expect([socket.authorized, socket.getPeerCertificate().subject.CN]).toEqual([true, 'front-proxy-client']);
  });

  test('its upgrades pass, and refused ones end both connections', async () => {
    const refused = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno';
    const backend = await startBackend('stream', (_request, response) => json(response, resourceList('stream.example.com/v1')));
    backend.server.on('upgrade', (request: IncomingMessage, socket) => {
      if (request.url!.endsWith('/refused')) return void socket.write(refused);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-User: ${String(request.headers['x-remote-user'])}\r\n\r\n`);
      socket.on('data', (chunk: Buffer) => socket.write(chunk));
      socket.on('error', () => socket.destroy());
    });
    await register(front, 'stream.example.com', 'v1', 'stream', backend.port);
    await waitForAvailability(front, 'v1.stream.example.com', 'Passed');
    const open = (resource: string): Promise<{ socket: ReturnType<typeof connect>; text: string }> =>
      new Promise((resolve) => {
        const socket = connect({ port: front.port, host: '127.0.0.1', ca: front.ca });
        let text = '';
        socket.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (text.includes('\r\n\r\n')) resolve({ socket, text });
        });
        socket.on('error', () => {});
        const target = `/apis/stream.example.com/v1/${resource}`;
        socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
      });
    const { socket, text } = await open('good');
    expect(text).toContain('101 Switching Protocols');
    expect(text).toContain('X-User: admin');
    socket.write('ping');
    expect(await new Promise((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())))).toBe('ping');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (const other of backend.sockets) other.destroy();
    await closed;
    const second = await open('refused');
    expect(second.text).toContain('403 Forbidden');
    second.socket.write('GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => second.socket.once('close', resolve));
    expect(backend.requests.map(({ url }) => url)).not.toContain('/api/v1/secrets');
  });
});

describe('servers that misbehave', () => {
  const discovery = (group: string): object =>
    resourceList(`${group}/v1`, { name: 'things', singularName: '', namespaced: false, kind: 'Thing', verbs: ['get'] });
  const quick = async (): Promise<number> => {
    const startedMs = performance.now();
    await front.client().get('/api/v1/namespaces/default');
    return performance.now() - startedMs;
  };

  test('one that redirects is not followed, and neither is its client sent there', async () => {
    const group = 'redirect.example.com';
    const backend = await startBackend('redirect', ({ url }, response) =>
      url === `/apis/${group}/v1` ? json(response, discovery(group)) : response.writeHead(302, { location: 'https://elsewhere.example.com/' }).end(),
    );
    await register(front, group, 'v1', 'redirect', backend.port);
    await waitForAvailability(front, `v1.${group}`, 'Passed');
    const { status, text, headers } = await front.client().send({ path: `/apis/${group}/v1/things` });
    expect([status, text, headers.location]).toEqual([502, 'the backend attempted to redirect this request, which is not permitted', undefined]);
  });

  test('one that answers with what it likes is unavailable, and its words go no further', async () => {
    const group = 'garbage.example.com';
    const backend = await startBackend('garbage', ({ url }, response) => {
      if (url === `/apis/${group}/v1`) return json(response, { kind: 'Nonsense', resources: [1, { name: 7 }, null] });
      if (url === '/apis')
        return void response.writeHead(200, { 'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }).end('{"items": "no');
      if (url!.startsWith('/openapi')) return void response.writeHead(200, { 'content-type': 'application/json' }).end('[{"__proto__":{"a":1}}]');
      response.socket!.end('this is no HTTP\r\n\r\n');
    });
    await register(front, group, 'v1', 'garbage', backend.port);
    await waitForAvailability(front, `v1.${group}`, 'Passed');
    const { status, text } = await front.client().send({ path: `/apis/${group}/v1/things` });
    expect([status, text]).toEqual([503, expect.stringMatching(/^error trying to reach service: /)]);
    expect((await front.client().send({ path: '/openapi/v2' })).status).toBe(200);
    const { groups } = await front.client().get<{ groups: { name: string }[] }>('/apis');
    expect(groups.map(({ name }) => name)).toContain(group);
  });

  test('one that never answers is found out, and holds up nobody', async () => {
    const group = 'silent.example.com';
    const backend = await startBackend('silent', () => {});
    await register(front, group, 'v1', 'silent', backend.port);
    expect(await quick()).toBeLessThan(500);
    const { message } = await waitForAvailability(front, `v1.${group}`, 'FailedDiscoveryCheck');
    expect(message).toContain('context deadline exceeded');
    expect((await front.client().send({ path: `/apis/${group}/v1/things` })).text).toBe('service unavailable\n');
    expect((await front.client().send({ path: '/apis' })).status).toBe(200);
  });

  test('one that is not who it should be gets no request', async () => {
    const group = 'other.example.com';
    const backend = await startBackend('someone-else', (_request, response) => json(response, discovery(group)));
    await register(front, group, 'v1', 'other', backend.port);
    const { message } = await waitForAvailability(front, `v1.${group}`, 'FailedDiscoveryCheck');
    expect(message).toContain('x509: certificate is valid for someone-else.default.svc, localhost, not other.default.svc');
    expect(backend.requests).toEqual([]);
  });

  test('one without a service, and one whose certificate nobody asks for', async () => {
    const group = 'none.example.com';
    const spec = { group, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service: { namespace: 'default', name: 'none' } };
    await front.client().create('/apis/apiregistration.k8s.io/v1/apiservices', { metadata: { name: `v1.${group}` }, spec });
    expect(await waitForAvailability(front, `v1.${group}`, 'ServiceNotFound')).toMatchObject({
      status: 'False',
      message: 'service/none in "default" is not present',
    });
    const backend = await startBackend('unverified', (_request, response) => json(response, discovery('unverified.example.com')));
    await register(front, 'unverified.example.com', 'v1', 'any-name', backend.port, { insecureSkipTLSVerify: true });
    await waitForAvailability(front, 'v1.unverified.example.com', 'Passed');
  });

  test('metrics tell which are unavailable', async () => {
    const { text } = await front.client().send({ path: '/metrics' });
    expect(text).toContain('aggregator_unavailable_apiservice{name="v1.none.example.com"} 1');
    expect(text).toContain('aggregator_unavailable_apiservice{name="v1.apps"} 0');
  });

  test('one that is gone leaves nothing', async () => {
    await front.client().delete('/apis/apiregistration.k8s.io/v1/apiservices/v1.redirect.example.com');
    expect((await front.client().send({ path: '/apis/redirect.example.com/v1/things' })).status).toBe(404);
    const { groups } = await front.client().get<{ groups: { name: string }[] }>('/apis');
    expect(groups.map(({ name }) => name)).not.toContain('redirect.example.com');
  });
});

describe('a front of its own', () => {
  test('routes to the endpoints of a service, where that is asked for', async () => {
    const routing = await startFront(['--enable-aggregator-routing=true']);
    const client = routing.client();
    const GV = 'ends.example.com/v1';
    const backend = await startBackend('ends', (_request, response) => json(response, resourceList(GV)), OUTER_HOST);
    await client.create('/api/v1/namespaces/default/services', { metadata: { name: 'ends' }, spec: { ports: [{ port: 443, name: 'https' }] } });
    const spec = { group: 'ends.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10, caBundle };
    await client.create('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v1.ends.example.com' },
      spec: { ...spec, service: { namespace: 'default', name: 'ends' } },
    });
    await waitForAvailability(routing, 'v1.ends.example.com', 'EndpointsNotFound');
    const slice = (name: string, address: string, ready: boolean): object => ({
      metadata: { name, labels: { 'kubernetes.io/service-name': 'ends' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready } }],
      ports: [{ name: 'https', port: backend.port }],
    });
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    await client.create(slices, slice('away', '192.0.2.254', false));
    await client.create(slices, slice('here', OUTER_HOST, true));
    await waitForAvailability(routing, 'v1.ends.example.com', 'Passed');
    for (let asked = 0; asked < 5; asked++) expect((await client.send({ path: `/apis/${GV}` })).json()).toEqual(resourceList(GV));
    await routing.stop();
  });

  test('shows a renewed certificate from the next connection on, and lets what is under way end', async () => {
    const folder = temporaryFolder();
    const [certFile, keyFile] = [join(folder, 'proxy.crt'), join(folder, 'proxy.key')];
    const renew = (commonName: string): void => {
      const { certPem, keyPem } = proxyCertificate(commonName);
      writeFileSync(keyFile, keyPem, { mode: 0o600 });
      writeFileSync(certFile, certPem);
    };
    renew('first');
    const renewing = await startFront([`--proxy-client-cert-file=${certFile}`, `--proxy-client-key-file=${keyFile}`]);
    const names: string[] = [];
    const path = '/apis/new.example.com/v1/things';
    const { port } = await startBackend('new', (request, response) => {
      names.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
      if (request.url === `${path}?watch=1`) return void response.writeHead(200, { 'content-type': 'application/json' }).write('{"type":"BOOKMARK"}\n');
      json(response, resourceList('new.example.com/v1'));
    });
    await register(renewing, 'new.example.com', 'v1', 'new', port);
    await waitForAvailability(renewing, 'v1.new.example.com', 'Passed');
    const client = renewing.client();
    const watch = await client.watch(`${path}?watch=1`);
    expect(await watch.next()).toMatchObject({ type: 'BOOKMARK' });
    expect(new Set(names)).toEqual(new Set(['first']));
    renew('second');
    await eventually(async () => {
      await client.send({ path });
      expect(names.at(-1)).toBe('second');
    });
    expect(watch.response.closed).toBe(false);
    watch.stop();
    await renewing.stop();
  });
});
