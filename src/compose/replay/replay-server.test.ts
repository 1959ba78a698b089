import { afterEach, expect, test } from 'vitest';
import { loadUserKubeconfig } from '../../client/kubeconfig.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { ClusterClient, ClusterError } from '../../history/cluster-client.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import type { Timeline, TimelineChange } from '../../history/history-source.ts';
import { recordedObject } from '../../history/resource-choice.ts';
import { recordedResource as resource } from '../../history/testing/recorded-state.ts';
import { type ReplayServer, startReplay } from './replay-server.ts';

const AT_MS = Date.parse('2026-01-31T10:00:00Z');
const CONFIG_MAPS = resource('', 'v1', 'configmaps', 'ConfigMap');
const HPAS = resource('autoscaling', 'v1', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler');
const CRDS = { ...resource('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition'), namespaced: false };
const SHIPS = resource('sea.example.com', 'v2', 'ships', 'Ship');
const METRICS = resource('metrics.example.com', 'v1beta1', 'samples', 'Sample');
/** A version that this release no longer serves. */
const FLOWS = { ...resource('flowcontrol.apiserver.k8s.io', 'v1beta2', 'flowschemas', 'FlowSchema'), namespaced: false };

function objectOf({ group, version, kind, namespaced }: RecordedResource, name: string, revision: number | string, more: JsonObject = {}): JsonObject {
  const metadata = {
    name,
    ...(namespaced && { namespace: 'shop' }),
    uid: `uid-${name}`,
    resourceVersion: String(revision),
    creationTimestamp: '2026-01-31T09:00:00Z',
  };
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata, ...more };
}

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const names = { plural: 'ships', singular: 'ship', kind: 'Ship', listKind: 'ShipList' };
const definition = objectOf(CRDS, 'ships.sea.example.com', 30, {
  spec: {
    group: 'sea.example.com',
    scope: 'Namespaced',
    names,
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v2', served: true, storage: false, schema },
    ],
    conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://127.0.0.1:1/convert' }, conversionReviewVersions: ['v1'] } },
  },
  status: {
    acceptedNames: names,
    storedVersions: ['v1'],
    conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True', reason: 'x', message: '' })),
  },
});

interface Put {
  resource: RecordedResource;
  object: JsonObject;
  revision: number;
}

function timelineOf(puts: Put[], changes: TimelineChange[] = []): Timeline {
  return {
    cluster: { server: 'https://prod', gitVersion: 'v1.30.4-eks-1' },
    atMs: AT_MS,
    resources: [CONFIG_MAPS, HPAS, CRDS, SHIPS, METRICS, FLOWS],
    leftOut: [],
    objects: puts.map((put) => ({ ...recordedObject(put.resource, put.object), revision: put.revision })),
    revisionOf: (of) => (of === METRICS ? 7 : 100),
    isApart: (of) => of === METRICS,
    async *changes() {
      yield* changes;
    },
    close: async () => undefined,
  };
}

let server: ReplayServer | undefined;
let client: ClusterClient | undefined;
afterEach(async () => {
  client?.close();
  await server?.stop();
});

async function serve(timeline: Timeline, speed = 0): Promise<ClusterClient> {
  server = await startReplay(timeline, { port: 0, speed });
  return (client = new ClusterClient(await loadUserKubeconfig(server.kubeconfigFile), 'test'));
}

const put = (of: RecordedResource, name: string, revision: number, more?: JsonObject): Put => ({
  resource: of,
  object: objectOf(of, name, revision, more),
  revision,
});
const listed = (list: JsonObject): JsonObject[] => (list['items'] as JsonObject[]).map(({ apiVersion: _version, kind: _kind, ...item }) => item);
const plain = ({ object: { apiVersion: _version, kind: _kind, ...object } }: Put): JsonObject => object;

test('all that was recorded is served as it was, and nothing else: also what only other servers have served', async () => {
  const settings = put(CONFIG_MAPS, 'settings', 20, { data: { a: '1' } });
  const scaler = put(HPAS, 'web', 40, {
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }, targetCPUUtilizationPercentage: 80 },
    status: { currentReplicas: 0, desiredReplicas: 0 },
  });
  const ship = put(SHIPS, 'argo', 50, { spec: { masts: 2 } });
  const sample = put(METRICS, 'cpu', 5, { usage: { cpu: '5m' } });
  const flow = put(FLOWS, 'all', 60, { spec: { matchingPrecedence: 1 } });
  const api = await serve(timelineOf([settings, scaler, ship, sample, flow, { resource: CRDS, object: definition, revision: 30 }]));
  const configMaps = await api.get('/api/v1/configmaps');
  expect(configMaps['metadata']).toEqual({ resourceVersion: '100' });
  expect(listed(configMaps)).toEqual([plain(settings)]);
  expect(listed(await api.get('/apis/autoscaling/v1/horizontalpodautoscalers'))).toEqual([plain(scaler)]);
  expect(await api.get('/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web')).toMatchObject({
    spec: { metrics: [{ resource: { name: 'cpu' } }] },
  });
  expect(listed(await api.get('/apis/sea.example.com/v2/ships'))).toEqual([plain(ship)]);
  // What only the webhook could convert is not served.
  await expect(api.get('/apis/sea.example.com/v1/ships')).rejects.toThrow(ClusterError);
  const samples = await api.get('/apis/metrics.example.com/v1beta1/samples');
  expect(samples['metadata']).toMatchObject({ resourceVersion: '7' });
  expect(listed(samples)).toEqual([plain(sample)]);
  expect(await api.get('/apis/flowcontrol.apiserver.k8s.io/v1beta2/flowschemas/all')).toMatchObject({ spec: { matchingPrecedence: 1 } });
  expect(listed(await api.get('/api/v1/namespaces'))).toEqual([]);
  expect(listed(await api.get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions'))).toHaveLength(1);
  expect(await api.get('/version')).toMatchObject({ gitVersion: 'v1.30.4-eks-1' });
  // The version that was recorded goes before those that are served of our own accord: kubectl asks for it.
  const { groups } = await api.get('/apis');
  const flowControl = (groups as { name: string; versions: { version: string }[] }[]).filter(({ name }) => name === 'flowcontrol.apiserver.k8s.io');
  expect(flowControl.map(({ versions }) => versions.map(({ version }) => version))).toEqual([['v1beta2', 'v1']]);
});

test('writes are refused in a line, and questions are answered', async () => {
  const api = await serve(timelineOf([put(CONFIG_MAPS, 'settings', 20)]));
  const refusal = 'this is https://prod as it was at 2026-01-31T10:00:00.000Z: a recording can be read, and nothing else';
  await expect(api.send('POST', '/api/v1/namespaces/shop/configmaps', { metadata: { name: 'x' } })).rejects.toThrow(refusal);
  await expect(api.send('DELETE', '/api/v1/namespaces/shop/configmaps/settings', {})).rejects.toMatchObject({ status: 405 });
  await expect(api.send('PATCH', '/api/v1/namespaces/shop/configmaps/settings', {}, 'application/merge-patch+json')).rejects.toThrow(refusal);
  await expect(api.get('/api/v1/namespaces/shop/pods/web/log')).rejects.toThrow(refusal);
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: { verb: 'list', resource: 'pods' } } };
  expect(await api.send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review)).toMatchObject({ status: { allowed: true } });
});

test('what was recorded later is seen by watches, each with its own version, as time passes', async () => {
  const next = (name: string, revision: number, afterMs: number, object = objectOf(CONFIG_MAPS, name, revision)): TimelineChange => ({
    timeMs: AT_MS + afterMs,
    resource: CONFIG_MAPS,
    key: `shop/${name}`,
    object,
    revision,
  });
  const changes = [next('a', 110, 10), next('b', 115, 20), { ...next('a', 120, 30), object: undefined }];
  const api = await serve(timelineOf([put(CONFIG_MAPS, 'settings', 20)], changes), 1);
  const seen: string[] = [];
  for await (const { type, object } of api.watch('/api/v1/configmaps?watch=true&resourceVersion=100', AbortSignal.timeout(20_000))) {
    const { name, resourceVersion } = object['metadata'] as { name: string; resourceVersion: string };
    seen.push(`${type} ${name} ${resourceVersion}`);
    if (seen.length === 3) break;
  }
  expect(seen).toEqual(['ADDED a 110', 'ADDED b 115', 'DELETED a 120']);
  await server!.played;
});
