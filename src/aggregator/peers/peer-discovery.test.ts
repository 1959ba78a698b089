import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CustomResourceDefinition } from '../../apis/facts/types/apiextensions-v1.ts';
import type { APIService } from '../../apis/facts/types/apiregistration-v1.ts';
import type { Lease } from '../../apis/facts/types/coordination-v1.ts';
import { FakeClient } from '../../client/fake-client.ts';
import type { RequestInfo } from '../../endpoints/request.ts';
import { ExcludedVersions } from './excluded-versions.ts';
import { PeerDiscovery } from './peer-discovery.ts';

const stop = new AbortController();

const lease = (name: string, holderIdentity: string, component = 'kube-apiserver'): Lease => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name, namespace: 'kube-system', labels: { 'apiserver.kubernetes.io/identity': component } },
  spec: { holderIdentity },
});

const resources = (...names: string[]) => names.map((resource) => ({ resource, responseKind: { kind: 'X' }, scope: 'Cluster', verbs: ['get'] }));
const list = (items: object[]): object => ({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items });
const CORE = list([{ versions: [{ version: 'v1', resources: resources('pods') }] }]);
const GROUPS = list([{ metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources: resources('toys', 'games'), freshness: 'Current' }] }]);

const info = (apiGroup: string, apiVersion: string, resource: string): RequestInfo => ({ apiGroup, apiVersion, resource }) as RequestInfo;

let client: FakeClient;
let answers: Record<string, { status: number; document: object; text?: string }>;
let addresses: Map<string, { host: string; port: number }>;
let asked: string[];
let errors: string[];
let excluded: ExcludedVersions;
let peers: PeerDiscovery;

beforeEach(() => {
  client = new FakeClient();
  answers = { '/api': { status: 200, document: CORE }, '/apis': { status: 200, document: GROUPS } };
  addresses = new Map([['b', { host: '192.0.2.2', port: 6443 }]]);
  [asked, errors] = [[], []];
  excluded = new ExcludedVersions(() => peers.invalidate());
  peers = new PeerDiscovery({
    identity: 'a',
    excluded,
    addressOf: async (identity) => addresses.get(identity),
    async fetch({ host }, path) {
      asked.push(`${host}${path}`);
      const { status, document, text = JSON.stringify(document) } = answers[path]!;
      return { status, headers: {}, body: Buffer.from(text) };
    },
    onError: (type) => void errors.push(type),
    signal: stop.signal,
    report: () => undefined,
  });
});

afterEach(() => vi.useRealTimers());

const leases = () => client.resource<Lease>('coordination.k8s.io', 'leases');

test('a peer is asked when its lease comes, and when it has started anew; not this server, nor others', async () => {
  await leases().create('kube-system', lease('a', 'a_1'));
  await leases().create('kube-system', lease('c', 'c_1', 'somebody-else'));
  peers.start(leases().informer);
  await leases().create('kube-system', lease('b', 'b_1'));
  await vi.waitFor(() => expect(peers.serving(info('example.com', 'v1', 'toys'))).toEqual(['b']));
  expect(peers.serving(info('', 'v1', 'pods'))).toEqual(['b']);
  expect([...peers.groups().values()].flat().map(({ metadata }) => metadata.name)).toEqual(['example.com']);
  await leases().update('kube-system', 'b', ({ metadata }) => void (metadata.annotations = { renewed: 'true' }));
  expect(asked).toEqual(['192.0.2.2/api', '192.0.2.2/apis']);
  answers['/apis'] = { status: 200, document: list([]) };
  await leases().update('kube-system', 'b', ({ spec }) => void (spec.holderIdentity = 'b_2'));
  await vi.waitFor(() => expect(peers.serving(info('example.com', 'v1', 'toys'))).toEqual([]));
  await leases().delete('kube-system', 'b');
  await vi.waitFor(() => expect(peers.isEmpty).toBe(true));
  expect(errors).toEqual([]);
});

test('a peer that does not say where it is, or what it has, is asked again', async () => {
  addresses.clear();
  peers.start(leases().informer);
  await leases().create('kube-system', lease('b', 'b_1'));
  await vi.waitFor(() => expect(errors).toContain('hostport_resolution'));
  answers['/apis'] = { status: 503, document: {} };
  addresses.set('b', { host: '192.0.2.2', port: 6443 });
  await vi.waitFor(() => expect(errors).toContain('fetch_discovery'));
  // The half that came counts.
  expect(peers.serving(info('', 'v1', 'pods'))).toEqual(['b']);
  answers['/apis'] = { status: 200, document: { kind: 'APIGroupList' } };
  const failures = errors.length;
  await vi.waitFor(() => expect(errors.length).toBeGreaterThan(failures));
  answers['/apis'] = { status: 200, document: GROUPS };
  await vi.waitFor(() => expect(peers.serving(info('example.com', 'v1', 'games'))).toEqual(['b']));
});

test.each<[string, string]>([
  ['no JSON', '<html>'],
  ['a list of nothing known', '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[null,7,"x",[]]}'],
  ['no list at all', '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":{"length":3}}'],
  ['versions of another type', '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"a"},"versions":3}]}'],
  [
    'resources of another type',
    '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":7},"versions":[null,{"version":{},"resources":[null,{"resource":null}]},{"version":"v1","resources":5}]}]}',
  ],
  ['no metadata', '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"versions":[{"version":"v1","resources":null}]}]}'],
])('a peer that answers with %s does no harm, and the half that is right counts', async (_title, text) => {
  answers['/apis'] = { status: 200, document: {}, text };
  peers.start(leases().informer);
  await leases().create('kube-system', lease('b', 'b_1'));
  await vi.waitFor(() => expect(peers.serving(info('', 'v1', 'pods'))).toEqual(['b']));
  expect([...peers.groups().values()].flat().flatMap(({ versions }) => versions.flatMap(({ resources: all }) => all ?? []))).toEqual([]);
});

test('what definitions and APIServices have is never a peer’s, nor for five minutes after', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const definitions = client.resource<CustomResourceDefinition>('apiextensions.k8s.io', 'customresourcedefinitions');
  const apiServices = client.resource<APIService>('apiregistration.k8s.io', 'apiservices');
  const stopFollowing = await excluded.follow(definitions.informer, apiServices.informer);
  const definition = (name: string) =>
    ({ kind: 'CustomResourceDefinition', metadata: { name }, spec: { group: 'example.com', versions: [{ name: 'v1' }] } }) as CustomResourceDefinition;
  await definitions.create('', definition('toys.example.com'));
  await definitions.create('', definition('games.example.com'));
  peers.start(leases().informer);
  await leases().create('kube-system', lease('b', 'b_1'));
  await vi.waitFor(() => expect(peers.serving(info('', 'v1', 'pods'))).toEqual(['b']));
  expect([peers.serving(info('example.com', 'v1', 'toys')), peers.groups().get('b')]).toEqual([[], []]);
  for (const name of ['toys.example.com', 'games.example.com']) await definitions.delete('', name);
  vi.advanceTimersByTime(5 * 60_000 - 1);
  expect(peers.serving(info('example.com', 'v1', 'toys'))).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(peers.serving(info('example.com', 'v1', 'toys'))).toEqual(['b']);
  const service = { namespace: 'default', name: 'x' };
  await apiServices.create('', {
    kind: 'APIService',
    metadata: { name: 'v1.example.com' },
    spec: { group: 'example.com', version: 'v1', service },
  } as APIService);
  expect(peers.serving(info('example.com', 'v1', 'toys'))).toEqual([]);
  stopFollowing();
});
