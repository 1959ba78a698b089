import { expect, test, vi } from 'vitest';
import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { Service } from '../apis/facts/types/core-v1.ts';
import type { EndpointSlice } from '../apis/facts/types/discovery-v1.ts';
import { FakeClient } from '../client/fake-client.ts';
import { keepRemoteAvailability, obstacle } from './remote-availability.ts';

const service = (more: object = {}): Service =>
  ({
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'ext', namespace: 'ns' },
    spec: { type: 'ClusterIP', ports: [{ name: 'https', port: 443 }], ...more },
    status: {},
  }) as unknown as Service;
const slice = (ready: boolean, port = 'https'): EndpointSlice =>
  ({
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: 's', namespace: 'ns', labels: { 'kubernetes.io/service-name': 'ext' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
    ports: [{ name: port, port: 443 }],
  }) as unknown as EndpointSlice;

test.each([
  [undefined, [], 'ServiceNotFound', 'service/ext in "ns" is not present'],
  [service({ ports: [] }), [], 'ServicePortError', 'service/ext in "ns" is not listening on port 443'],
  [service(), [], 'EndpointsNotFound', 'cannot find endpointslices for service/ext in "ns"'],
  [service(), [slice(false)], 'MissingEndpoints', 'endpointslices for service/ext in "ns" have no addresses with port name "https"'],
  [service(), [slice(true)], undefined, undefined],
  [service({ type: 'ExternalName', ports: [] }), [], undefined, undefined],
])('%#', (found, slices, reason, message) => {
  const result = obstacle({ namespace: 'ns', name: 'ext', port: 443 }, found, slices);
  expect([result?.reason, result?.message]).toEqual([reason, message]);
});

test('it follows the service', async () => {
  const client = new FakeClient();
  const apiServices = client.resource<APIService>('apiregistration.k8s.io', 'apiservices');
  const spec = { group: 'g', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service: { namespace: 'ns', name: 'ext', port: 443 } };
  await apiServices.create('', { kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1', metadata: { name: 'v1.g' }, spec, status: {} });
  const stop = new AbortController();
  let answers = true;
  const reach = async (): Promise<void> => {
    if (!answers) throw new Error('failing or missing response');
  };
  await keepRemoteAvailability(client, { signal: stop.signal, report: vi.fn<(error: Error) => void>(), now: () => new Date('2026-01-01T00:00:00Z'), reach });
  const reason = (): string | undefined => apiServices.informer.get('', 'v1.g')?.status.conditions?.[0]?.reason;
  await vi.waitFor(() => expect(reason()).toBe('ServiceNotFound'));
  await client.resource('', 'services').create('ns', service());
  await vi.waitFor(() => expect(reason()).toBe('EndpointsNotFound'));
  await client.resource('discovery.k8s.io', 'endpointslices').create('ns', slice(true));
  await vi.waitFor(() => expect(reason()).toBe('Passed'));
  answers = false;
  await apiServices.update('', 'v1.g', ({ metadata }) => void (metadata.labels = { a: 'b' }));
  await vi.waitFor(() => expect(reason()).toBe('FailedDiscoveryCheck'));
  await apiServices.update('', 'v1.g', (found) => void delete found.spec.service);
  await vi.waitFor(() => expect(reason()).toBe('Local'));
  stop.abort();
});
