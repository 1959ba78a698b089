import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createAuthority } from '../src/serving/certificates/create.ts';
import { TestProxy, proxyAuthority, proxyClient } from '../src/serving/egress/test-proxy.ts';
import { RemoteServer } from './auth/remote-server.ts';
import { POD_PATH, TestCluster } from './kubelet/cluster.ts';
import { spdy } from './kubelet/raw-client.ts';
import { caBundle, startBackend, waitForAvailability } from './support/aggregation.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { CommandProcess, type ServerProcess, temporaryFolder } from './support/server.ts';
import { CA_BUNDLE, WebhookServer } from './support/webhook-server.ts';

/* All that the server calls, behind proxies: the cluster's is reached by TLS with a client certificate, the control plane's on a socket in the file system. */

const folder = temporaryFolder();
const write = (name: string, content: string | object): string => {
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return join(folder, name);
};
const configuration = (...egressSelections: object[]): object => ({
  apiVersion: 'apiserver.k8s.io/v1beta1',
  kind: 'EgressSelectorConfiguration',
  egressSelections,
});
const byUnixSocket = (name: string, udsName: string): object => ({
  name,
  connection: { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName } } },
});

const clusterProxy = new TestProxy({ hasTls: true });
const controlProxy = new TestProxy();
const controlPath = join(folder, 'control.sock');
/** Answers everything with nothing; only that it was asked counts. */
const sink = new RemoteServer(createAuthority({ commonName: 'sink-ca' }), () => ({ body: {} }));

/** Names that only the proxy knows. */
const kubeconfig = (host: string): string =>
  write(`${host}.json`, {
    clusters: [{ name: 'c', cluster: { server: `https://${host}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
const REMOTE = ['tokens.example.invalid', 'access.example.invalid', 'audit.example.invalid'] as const;

let cluster: TestCluster;
let server: ServerProcess;

beforeAll(async () => {
  await Promise.all([clusterProxy.listen(), controlProxy.listen(controlPath), sink.listen()]);
  for (const host of REMOTE) controlProxy.places.set(`${host}:443`, { host: '127.0.0.1', port: Number(new URL(sink.url).port) });
  const tlsConfig = {
    caBundle: write('ca.crt', proxyAuthority.certPem),
    clientCert: write('client.crt', proxyClient.certPem),
    clientKey: write('client.key', proxyClient.keyPem),
    tlsServerName: 'egress.example.com',
  };
  const tcp = { url: `https://127.0.0.1:${clusterProxy.port}`, tlsConfig };
  const throughTls = { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { tcp } } };
  const [tokens, access, audit] = REMOTE.map(kubeconfig);
  ({ cluster, server } = await TestCluster.start([
    `--egress-selector-config-file=${write('egress.json', configuration(throughTls, byUnixSocket('controlplane', controlPath)))}`,
    `--authentication-token-webhook-config-file=${tokens}`,
    '--authorization-mode=Webhook',
    `--authorization-webhook-config-file=${access}`,
    `--audit-webhook-config-file=${audit}`,
    `--audit-policy-file=${write('policy.json', { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] })}`,
    '--audit-webhook-mode=blocking',
  ]));
});
afterAll(async () => {
  await server?.stop();
  clusterProxy.close();
  controlProxy.close();
  await sink.close();
});

describe('into the cluster', () => {
  test('logs and commands of pods', async () => {
    const { kubelet, name: node } = await cluster.node();
    const pod = await cluster.pod(node);
    kubelet.log(`default/${pod}/main`).append('line');
    expect((await cluster.client.send({ path: `${POD_PATH}/${pod}/log` })).text).toBe('line\n');
    expect(clusterProxy.targets).toEqual([`127.0.0.1:${kubelet.port}`]);
    const command = cluster.open('POST', `${POD_PATH}/${pod}/exec?command=true&stdout=1`, spdy('v4.channel.k8s.io'));
    await command.until('\r\n\r\n');
    expect([command.status, clusterProxy.targets.length]).toEqual([101, 2]);
    command.socket.destroy();
  });

  test('a pod behind its proxy, at an address that leads nowhere from here', async () => {
    const backend = createServer((request, response) => response.end(`here is ${request.url}`)).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    afterAll(() => void backend.close().closeAllConnections());
    clusterProxy.places.set('10.9.8.7:8080', { host: '127.0.0.1', port: (backend.address() as AddressInfo).port });
    const pod = await cluster.pod(await cluster.nodeAt('10.9.8.1', 10250));
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = { status: { podIP: '10.9.8.7', podIPs: [{ ip: '10.9.8.7' }] } };
    await cluster.client.expect(200, { method: 'PATCH', path: `${POD_PATH}/${pod}/status`, headers, body });
    expect((await cluster.client.send({ path: `${POD_PATH}/${pod}:8080/proxy/x` })).text).toBe('here is /x');
  });

  test('aggregated servers', async () => {
    const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'far.example.com/v1', resources: [] };
    const { port } = await startBackend('far', (_request, response) => void response.setHeader('content-type', 'application/json').end(JSON.stringify(list)));
    clusterProxy.places.set('far.example.invalid:443', { host: 'localhost', port });
    await cluster.client.create('/api/v1/namespaces/default/services', {
      metadata: { name: 'far' },
      spec: { type: 'ExternalName', externalName: 'far.example.invalid' },
    });
    await cluster.client.create('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v1.far.example.com' },
      spec: {
        group: 'far.example.com',
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { namespace: 'default', name: 'far' },
        caBundle,
      },
    });
    await waitForAvailability(server, 'v1.far.example.com', 'Passed');
    expect((await cluster.client.send({ path: '/apis/far.example.com/v1' })).json()).toEqual(list);
  });

  test('webhooks that are services', async () => {
    const webhook = await new WebhookServer(() => ({ allowed: false })).listen();
    await cluster.client.create('/api/v1/namespaces', { metadata: { name: 'web' } });
    const spec = { clusterIP: '10.0.0.77', ports: [{ port: 443 }] };
    await cluster.client.create('/api/v1/namespaces/web/services', { metadata: { name: 'hook' }, spec });
    clusterProxy.places.set('10.0.0.77:443', { host: '127.0.0.1', port: webhook.port });
    await registerWebhook('service', { service: { namespace: 'web', name: 'hook', path: '/review' }, caBundle: CA_BUNDLE });
    expect((await createSecret('service')).status).toBe(400);
    expect(webhook.requests).toHaveLength(1);
    expect(clusterProxy.targets).toContain('10.0.0.77:443');
  });
});

async function registerWebhook(name: string, clientConfig: object): Promise<void> {
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }];
  const objectSelector = { matchLabels: { case: name } };
  const webhook = { name: `${name}.example.com`, clientConfig, rules, objectSelector, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  await cluster.client.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', { metadata: { name }, webhooks: [webhook] });
}

const createSecret = (name: string) =>
  cluster.client.send({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: { metadata: { name, labels: { case: name } } } });

test('into the control plane: webhooks by URL, and those that authenticate, authorize and keep records', async () => {
  const webhook = await new WebhookServer(() => ({ allowed: false })).listen();
  await registerWebhook('url', webhook.clientConfig);
  expect((await createSecret('url')).status).toBe(400);
  await cluster.client.send({ path: '/api', headers: { authorization: 'Bearer nobody-knows' } });
  await server.client('mallory').send({ path: '/api/v1/secrets' });
  await vi.waitFor(() => expect(new Set(controlProxy.targets)).toEqual(new Set([`127.0.0.1:${webhook.port}`, ...REMOTE.map((host) => `${host}:443`)])));
});

test('a proxy that says no is named to whoever asked', async () => {
  const pod = await cluster.pod(await cluster.nodeAt('10.9.8.2', 10250));
  clusterProxy.answer = (client) => client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  const answer = await cluster.client.send({ path: `${POD_PATH}/${pod}/log` });
  clusterProxy.answer = undefined;
  expect([answer.status, answer.json<{ message: string }>().message]).toEqual([
    500,
    `Get "https://10.9.8.2:10250/containerLogs/default/${pod}/main": proxy error from 127.0.0.1:${clusterProxy.port} while dialing 10.9.8.2:10250, code 403: 403 Forbidden`,
  ]);
  const { text } = await cluster.client.send({ path: '/metrics' });
  expect(text).toContain('apiserver_egress_dialer_dial_failure_count{protocol="http_connect",stage="proxy",transport="tcp"} 1\n');
  expect(text).toMatch(/apiserver_egress_dialer_dial_start_total\{protocol="http_connect",transport="uds"\} [1-9]/);
  expect(text).toMatch(/apiserver_egress_dialer_dial_duration_seconds_count\{protocol="http_connect",transport="tcp"\} [1-9]/);
});

test.runIf(hasEtcd())('to etcd', async () => {
  const etcd = await startEtcd();
  const proxy = await new TestProxy().listen(join(folder, 'etcd.sock'));
  afterAll(() => proxy.close());
  const { hostname: host, port } = new URL(etcd.endpoints[0]!);
  proxy.places.set('etcd.example.invalid:2379', { host, port: Number(port) });
  const file = write('etcd.json', configuration(byUnixSocket('etcd', join(folder, 'etcd.sock'))));
  const onEtcd = await startServerOnEtcd(['http://etcd.example.invalid:2379'], { flags: [`--egress-selector-config-file=${file}`] });
  await onEtcd.client().create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'far' } });
  expect((await onEtcd.client().get('/api/v1/namespaces/default/configmaps/far')).metadata.name).toBe('far');
  expect(new Set(proxy.targets)).toEqual(new Set(['etcd.example.invalid:2379']));
  await onEtcd.stop();
});

const refusal = async (...flags: string[]): Promise<string> => {
  const command = new CommandProcess(['serve', '--storage-backend=memory', `--data-dir=${temporaryFolder()}`, '--secure-port=0', ...flags]);
  expect((await command.exited).code).toBe(1);
  return command.lines.join('\n').replaceAll('\\"', '"');
};

test.each([
  [
    'konnectivity without a way to it',
    configuration({ name: 'cluster', connection: { proxyProtocol: 'GRPC', transport: {} } }),
    'failed to validate egress selector configuration: service.connection.uds: Required value: UDS must be set with GRPC',
  ],
  [
    'nonsense',
    configuration({ name: 'moon', connection: { proxyProtocol: 'Direct' } }),
    'failed to validate egress selector configuration: service.connection: Unsupported value: "moon": supported values: "cluster", "controlplane", "etcd"',
  ],
])('%s is refused at the start', async (what, content, message) => {
  expect(await refusal(`--egress-selector-config-file=${write(`${what}.json`, content)}`)).toContain(message);
});

test('an issuer that names a way that there is not is refused at the start', async () => {
  const issuer = { url: 'https://issuer.example.invalid', audiences: ['us'], egressSelectorType: 'cluster' };
  const authentication = write('authentication.json', {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [{ issuer, claimMappings: { username: { claim: 'sub', prefix: '' } } }],
  });
  const flag = `--authentication-config=${authentication}`;
  expect(await refusal(flag)).toContain('oidc: egress lookup required with egress selector type "cluster"');
  const file = write('direct.json', configuration({ name: 'etcd', connection: { proxyProtocol: 'Direct' } }));
  expect(await refusal(flag, `--egress-selector-config-file=${file}`)).toContain('oidc: egress lookup for "cluster" is not configured');
});
