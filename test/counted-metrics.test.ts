import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodePem } from '../src/serving/certificates/pem.ts';
import { makeCertificates } from '../src/serving/certificates/test-certificates.ts';
import type { ApiClient } from './support/api-client.ts';
import { decodeFamilies } from './support/metric-families.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* What a whole server counts where upstream does: each test makes it happen, and looks how the count has changed. */

let front: ServerProcess;
let api: ApiClient;
const servers: Server[] = [];

beforeAll(async () => {
  front = await startServer({ storage: 'embedded' });
  api = front.client();
});
afterAll(async () => {
  for (const server of servers) server.close();
  await front.stop();
});

/** The value of a series; 0 where it is not shown. */
async function valueOf(series: string): Promise<number> {
  const { text } = await api.send({ path: '/metrics' });
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}

/** By how much the values have grown when `act` is done. */
async function growth(series: readonly string[], act: () => Promise<unknown>): Promise<number[]> {
  const before = await Promise.all(series.map(valueOf));
  await act();
  const after = await Promise.all(series.map(valueOf));
  return after.map((value, i) => value - before[i]!);
}

const definition = (kind: string, rule?: string): object => {
  const plural = `${kind.toLowerCase()}s`;
  const rules = rule === undefined ? {} : { 'x-kubernetes-validations': [{ rule }] };
  const spec = { type: 'object', ...rules, properties: { size: { type: 'integer', maximum: 5 } } };
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  };
};

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

test('aggregated discovery is counted when it is made anew, and when it is asked for without peers', async () => {
  const series = ['aggregator_discovery_aggregation_count_total', 'aggregator_discovery_nopeer_requests_total'];
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const ask = (more = ''): Promise<unknown> => api.expect(200, { path: '/apis', headers: { accept: accept + more } });
  await ask();
  expect(await growth(series, () => ask())).toEqual([0, 0]);
  expect(await growth(series, () => ask(';profile=nopeer'))).toEqual([0, 1]);
  const define = async (): Promise<void> => {
    await api.create(DEFINITIONS, definition('Discovered'));
    await expect.poll(async () => (await api.send({ path: '/apis/example.com/v1/discovereds' })).status).toBe(200);
    await ask();
  };
  expect((await growth(series, define))[0]).toBeGreaterThanOrEqual(1);
});

test('rules of a definition are counted as they are compiled and evaluated, and updates as they are compared', async () => {
  const [compiled, evaluated, ratcheted] = [
    'apiserver_cel_compilation_duration_seconds_count',
    'apiserver_cel_evaluation_duration_seconds_count',
    'apiextensions_apiserver_validation_ratcheting_seconds_count',
  ];
  const path = '/apis/example.com/v1/ruleds';
  expect(await growth([compiled!], () => api.create(DEFINITIONS, definition('Ruled', 'self.size >= 1')))).toEqual([1]);
  await expect.poll(async () => (await api.send({ path })).status).toBe(200);
  const object = { apiVersion: 'example.com/v1', kind: 'Ruled', metadata: { name: 'x' }, spec: { size: 1 } };
  expect(await growth([evaluated!, ratcheted!], () => api.create(path, object))).toEqual([1, 0]);
  const { metadata } = await api.get(`${path}/x`);
  expect(await growth([evaluated!, ratcheted!], () => api.update(`${path}/x`, { ...object, metadata, spec: { size: 2 } }))).toEqual([1, 1]);
});

test('a webhook whose certificate has no alternative name is counted', async () => {
  const leaf = makeCertificates({ leaf: { subject: 'localhost', usages: ['server'] } }, new Date()).get('leaf')!;
  const cert = encodePem('CERTIFICATE', leaf.der);
  const hook = createServer({ cert, key: leaf.key!.export({ type: 'pkcs8', format: 'pem' }) });
  servers.push(hook);
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const clientConfig = { url: `https://localhost:${(hook.address() as AddressInfo).port}/`, caBundle: Buffer.from(cert).toString('base64') };
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  await api.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'nameless' },
    webhooks: [
      {
        name: 'hook.example.com',
        rules: [rule],
        clientConfig,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
      },
    ],
  });
  const refused = async (): Promise<void> => {
    const create = () => api.send({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: { metadata: { generateName: 'x' } } });
    await expect.poll(async () => (await create()).text).toContain('certificate relies on legacy Common Name field');
  };
  expect((await growth(['apiserver_webhooks_x509_missing_san_total'], refused))[0]).toBeGreaterThanOrEqual(1);
});

test.each(['/metrics', '/metrics/slis'])('%s in protobuf has what the page of text has', async (path) => {
  const accept = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.9,text/plain;q=0.5';
  const { headers, body } = await api.expect(200, { path, headers: { accept } });
  expect(headers['content-type']).toBe('application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=underscores');
  const families = await decodeFamilies(body);
  const { text } = await api.expect(200, { path });
  expect(families.map(({ name, type }) => `# TYPE ${name} ${type.toLowerCase()}`)).toEqual(text.match(/^# TYPE .*$/gm));
  expect(families.every(({ metric }) => metric.length > 0)).toBe(true);
});

test('pages are compressed for who accepts gzip, and tell when the process started', async () => {
  const { headers, body } = await api.expect(200, { path: '/metrics', headers: { 'accept-encoding': 'gzip' } });
  expect(headers['content-encoding']).toBe('gzip');
  const text = gunzipSync(body).toString();
  expect(text.match(/^# TYPE .*$/gm)).toEqual((await api.expect(200, { path: '/metrics' })).text.match(/^# TYPE .*$/gm));
  expect(headers['process-start-time-unix']).toBe(String(Math.floor(Number(/^process_start_time_seconds (.*)$/m.exec(text)![1]))));
  const indicators = await api.expect(200, { path: '/metrics/slis', headers: { 'accept-encoding': 'gzip, identity' } });
  expect(indicators.headers).not.toHaveProperty('content-encoding');
  expect(indicators.headers).not.toHaveProperty('process-start-time-unix');
});

test('the file of the embedded store is told in pages, as it grows', async () => {
  const series = [
    'binnacle_storage_pages',
    'binnacle_storage_free_pages',
    'binnacle_storage_free_bytes',
    'apiserver_storage_size_bytes{storage_cluster_id="embedded"}',
  ];
  const write = async (): Promise<void> => {
    for (let i = 0; i < 20; i++)
      await api.create('/api/v1/namespaces/kube-system/configmaps', { metadata: { generateName: 'page-' }, data: { much: 'x'.repeat(500_000) } });
  };
  const [pages, , , bytes] = await growth(series, write);
  expect(pages! * 4096).toBeGreaterThanOrEqual(20 * 500_000 * 0.9);
  expect(bytes).toBeGreaterThan(0);
  const freePages = await valueOf(series[1]!);
  expect(freePages).toBeLessThan(await valueOf(series[0]!));
  expect(await valueOf(series[2]!)).toBeGreaterThanOrEqual(freePages);
});

test('the event loop, garbage collections and memory are told of a whole server', async () => {
  const { text } = await api.send({ path: '/metrics' });
  for (const series of [
    'binnacle_event_loop_delay_seconds_count',
    'binnacle_event_loop_delay_max_seconds',
    'binnacle_gc_pause_seconds_count{kind="minor"}',
    'binnacle_heap_bytes{state="used"}',
    'binnacle_heap_limit_bytes',
    'binnacle_external_memory_bytes',
    'binnacle_open_handles{kind="TCPServerWrap"}',
  ])
    expect(text.split('\n').find((line) => line.startsWith(`${series} `))).toMatch(/ [\d.e+-]+$/);
});
