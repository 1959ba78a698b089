import { expect, test } from 'vitest';
import { FakeClient } from '../../client/fake-client.ts';
import type { Event } from '../../apis/facts/types/core-v1.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { MetricRegistry } from '../../metrics/registry.ts';
import { AllocationMetrics } from './allocation-metrics.ts';
import { type IpAddressObject, ipAddressOf } from './ip-address.ts';
import { RepairEvents } from './repair-events.ts';
import { repairClusterIps } from './repair-cluster-ips.ts';

const NOW = new Date('2026-11-15T12:00:00Z');
const secondsAgo = (seconds: number): string => new Date(NOW.getTime() - seconds * 1000).toISOString();

async function clusterWith(services: Record<string, string>, addresses: { ip: string; service: string; ageSeconds: number }[]): Promise<FakeClient> {
  const client = new FakeClient();
  for (const [name, ip] of Object.entries(services)) {
    const service = { kind: 'Service', apiVersion: 'v1', metadata: { name }, spec: { type: 'ClusterIP', clusterIPs: [ip] } };
    await client.resource('', 'services').create('default', service as ApiObject);
  }
  for (const { ip, service, ageSeconds } of addresses) {
    const address = ipAddressOf('IPv4', ip, { namespace: 'default', name: service });
    address.metadata.creationTimestamp = secondsAgo(ageSeconds);
    await client.resource<IpAddressObject>('networking.k8s.io', 'ipaddresses').create('', address);
  }
  return client;
}

const eventsIn = (client: FakeClient): string[] =>
  client
    .resource<Event>('', 'events')
    .informer.list('')
    .map(({ involvedObject, reason, action, message }) => `${involvedObject.kind} ${involvedObject.name} ${reason} ${action}: ${message}`);

const ownersIn = (client: FakeClient): Record<string, string> =>
  Object.fromEntries(
    client
      .resource<IpAddressObject>('networking.k8s.io', 'ipaddresses')
      .informer.list('')
      .map(({ metadata, spec }) => [metadata.name, spec.parentRef.name]),
  );

test('every address of a service is its own, and those of none go once they are old', async () => {
  const client = await clusterWith({ a: '10.0.0.5', b: '10.0.0.6', c: '10.0.0.7' }, [
    { ip: '10.0.0.5', service: 'a', ageSeconds: 600 },
    { ip: '10.0.0.7', service: 'gone', ageSeconds: 600 },
    { ip: '10.0.0.8', service: 'on-its-way', ageSeconds: 5 },
    { ip: '10.0.0.9', service: 'gone', ageSeconds: 61 },
    { ip: '10.0.0.10', service: 'a', ageSeconds: 2 },
    { ip: '10.0.0.11', service: 'a', ageSeconds: 6 },
  ]);
  const reports: string[] = [];
  const options = { client, report: ({ message }: Error) => void reports.push(message), now: () => NOW };
  const events = new RepairEvents(client, 'ipallocator-repair-controller', options);
  const registry = new MetricRegistry();
  await repairClusterIps({ ...options, events, metrics: new AllocationMetrics(registry) });
  await events.written;
  expect(ownersIn(client)).toEqual({ '10.0.0.5': 'a', '10.0.0.6': 'b', '10.0.0.7': 'c', '10.0.0.8': 'on-its-way', '10.0.0.10': 'a' });
  expect(registry.print()).toContain(
    'apiserver_clusterip_repair_ip_errors_total{type="leak"} 2\napiserver_clusterip_repair_ip_errors_total{type="repair"} 2\n',
  );
  expect(reports).toEqual([
    'the ClusterIP [IPv4]: 10.0.0.6 for Service default/b is not allocated; repairing',
    'IPAddress: 10.0.0.9 for Service default/gone appears to have leaked: cleaning up',
    'IPAddress: 10.0.0.11 for Service default/a has a wrong reference; cleaning up',
  ]);
  expect(eventsIn(client)).toEqual([
    'Service b ClusterIPNotAllocated ClusterIPAllocation: Cluster IP [IPv4]: 10.0.0.6 is not allocated; repairing',
    'Service c ClusterIPNotAllocated ClusterIPAllocation: the ClusterIP [IPv4]: 10.0.0.7 for Service default/c has a wrong reference; repairing',
    'IPAddress 10.0.0.9 IPAddressNotAllocated IPAddressAllocation: IPAddress: 10.0.0.9 for Service default/gone appears to have leaked: cleaning up',
    'IPAddress 10.0.0.11 IPAddressWrongReference IPAddressAllocation: IPAddress: 10.0.0.11 for Service default/a has a wrong reference; cleaning up',
  ]);
});

test('an address that two services have stays with the one that it names', async () => {
  const client = await clusterWith({ a: '10.0.0.5', b: '10.0.0.5' }, [{ ip: '10.0.0.5', service: 'a', ageSeconds: 600 }]);
  const reports: string[] = [];
  const options = { client, report: ({ message }: Error) => void reports.push(message), now: () => NOW };
  const events = new RepairEvents(client, 'ipallocator-repair-controller', options);
  const registry = new MetricRegistry();
  await repairClusterIps({ ...options, events, metrics: new AllocationMetrics(registry) });
  await events.written;
  expect(ownersIn(client)).toEqual({ '10.0.0.5': 'a' });
  expect(registry.print()).toContain('apiserver_clusterip_repair_ip_errors_total{type="duplicate"} 1\n');
  expect(reports).toEqual(['the cluster IP [IPv4]:10.0.0.5 for service default/b was assigned to other services default/a; please recreate']);
});

test('a finding that comes again is counted, and another one is an event of its own', async () => {
  const client = await clusterWith({ a: '10.0.0.5', b: '10.0.0.5' }, [{ ip: '10.0.0.5', service: 'a', ageSeconds: 600 }]);
  let nowMs = NOW.getTime();
  const options = { client, report() {}, now: () => new Date(nowMs) };
  const events = new RepairEvents(client, 'ipallocator-repair-controller', options);
  const seen: (number | undefined)[][] = [];
  for (const passedMs of [0, 60_000, 60_000, 400_000]) {
    nowMs += passedMs;
    await repairClusterIps({ ...options, events });
    await events.written;
    seen.push(
      client
        .resource<Event>('', 'events')
        .informer.list('')
        .map(({ series }) => series?.count),
    );
  }
  expect(seen).toEqual([[undefined], [2], [3], [3, undefined]]);
});
