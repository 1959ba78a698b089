import { describe, expect, test } from 'vitest';
import { schemaOfKind } from '../../apis/facts/schemas.ts';
import type { RangeAllocation, Service } from '../../apis/facts/types/core-v1.ts';
import { FakeClient } from '../../client/fake-client.ts';
import { unservedCodec } from '../../registry/stored-codec.ts';
import { StoredObjects } from '../../registry/stored-objects.ts';
import { openEngine } from '../../storage/open.ts';
import { parseYaml, toYaml } from '../../encoding/yaml.ts';
import { MetricRegistry } from '../../metrics/registry.ts';
import { AllocationMetrics } from './allocation-metrics.ts';
import { NODE_PORTS, NodePorts } from './node-ports.ts';
import { PortSet, type PortRange } from './port-range.ts';
import { RepairEvents } from './repair-events.ts';
import { NodePortRepair } from './repair-node-ports.ts';

const RANGE: PortRange = { first: 30000, last: 32767 };
const ENCODING = { mediaType: 'application/vnd.kubernetes.protobuf', yaml: { parseYaml, toYaml } } as const;

async function openRanges(): Promise<StoredObjects<RangeAllocation>> {
  const engine = await openEngine({ backend: 'memory' });
  return new StoredObjects(engine, unservedCodec(schemaOfKind('', 'v1', 'RangeAllocation'), ENCODING), '/registry/ranges/');
}

function repairOf(
  ranges: StoredObjects<RangeAllocation>,
  client = new FakeClient(),
  range = RANGE,
): { repair: NodePortRepair; reports: string[]; registry: MetricRegistry } {
  const reports: string[] = [];
  const report = ({ message }: Error): void => void reports.push(message);
  const events = new RepairEvents(client, 'portallocator-repair-controller', { report, now: () => new Date() });
  const registry = new MetricRegistry();
  return { repair: new NodePortRepair({ client, ranges, range, report, events, metrics: new AllocationMetrics(registry) }), reports, registry };
}

const takenIn = async (ranges: StoredObjects<RangeAllocation>, range = RANGE): Promise<number[]> => [
  ...new PortSet(range, (await ranges.get(NODE_PORTS))!.object.data ?? '').taken(),
];

const serviceWith = (name: string, nodePort: number): Service =>
  ({
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default' },
    spec: { ports: [{ port: 80, protocol: 'TCP', nodePort }] },
  }) as unknown as Service;

describe('ports that several servers share', () => {
  test('are never given out twice', async () => {
    const ranges = await openRanges();
    await repairOf(ranges).repair.run();
    const servers = [new NodePorts(RANGE, ranges), new NodePorts(RANGE, ranges), new NodePorts(RANGE, ranges)];
    const ports = await Promise.all(Array.from({ length: 300 }, (_, i) => servers[i % 3]!.begin(false).allocateAny()));
    expect(new Set(ports).size).toBe(300);
    expect(await takenIn(ranges)).toEqual(ports.toSorted((a, b) => a - b));
  });

  test('one that a user chooses goes to whoever is first, and comes back', async () => {
    const ranges = await openRanges();
    await repairOf(ranges).repair.run();
    const [one, two] = [new NodePorts(RANGE, ranges), new NodePorts(RANGE, ranges)];
    const first = one.begin(false);
    await first.allocate(30080);
    await expect(two.begin(false).allocate(30080)).rejects.toThrow('provided port is already allocated');
    await expect(two.begin(true).allocate(30080)).rejects.toThrow('provided port is already allocated');
    await first.revert();
    await two.begin(false).allocate(30080);
    await expect(one.begin(false).allocate(29999)).rejects.toThrow('provided port is not in the valid range. The range of valid ports is 30000-32767');
    await two.release([30080, 1]);
    expect(await takenIn(ranges)).toEqual([]);
  });

  test('a dry run takes nothing', async () => {
    const ranges = await openRanges();
    await repairOf(ranges).repair.run();
    const operation = new NodePorts(RANGE, ranges).begin(true);
    await operation.allocate(30001);
    await expect(operation.allocate(30001)).rejects.toThrow('already allocated');
    await operation.allocate(80);
    await expect(operation.allocate(80)).rejects.toThrow('already allocated');
    expect(await operation.allocateAny()).toBe(30002);
    await operation.commit();
    expect(await takenIn(ranges)).toEqual([]);
    expect(await new NodePorts(RANGE, ranges).begin(true).allocateAny()).toBe(32769);
    const last = new NodePorts(RANGE, ranges).begin(true);
    await last.allocate(2 ** 31 - 1);
    expect(await last.allocateAny()).toBe(-(2 ** 31));
  });

  test('are not to be had before the first repair', async () => {
    const ports = new NodePorts(RANGE, await openRanges());
    await expect(ports.begin(false).allocateAny()).rejects.toThrow('cannot allocate resources of type servicenodeportallocations at this time');
  });

  test('are stored as the big number that Go reads', async () => {
    const ports = new PortSet(RANGE);
    for (const port of [30000, 30001, 30009]) ports.take(port);
    expect(ports.stored(undefined)).toMatchObject({ range: '30000-32767', data: Buffer.from([0b10, 0b11]).toString('base64') });
    expect([...new PortSet(RANGE, ports.stored(undefined).data!).taken()]).toEqual([30000, 30001, 30009]);
  });
});

describe('the repair', () => {
  test('takes in what services have, and lets go of the rest the third time', async () => {
    const ranges = await openRanges();
    const client = new FakeClient();
    await client.resource('', 'services').create('default', serviceWith('a', 30080));
    const { repair, reports, registry } = repairOf(ranges, client);
    await repair.run();
    expect(await takenIn(ranges)).toEqual([30080]);
    await new NodePorts(RANGE, ranges).begin(false).allocate(30090);
    for (const expected of [[30080, 30090], [30080, 30090], [30080]]) {
      await repair.run();
      expect(await takenIn(ranges)).toEqual(expected);
    }
    expect(reports).toEqual(['the node port 30090 appears to have leaked: cleaning up']);
    expect(registry.print()).toContain('apiserver_nodeport_repair_port_errors_total{type="leak"} 1\n');
  });

  test('tells of ports that two services have, and of those that are in none', async () => {
    const ranges = await openRanges();
    const client = new FakeClient();
    const { repair, reports, registry } = repairOf(ranges, client);
    await repair.run();
    for (const [name, port] of [
      ['a', 30080],
      ['b', 30080],
      ['c', 80],
    ] as const)
      await client.resource('', 'services').create('default', serviceWith(name, port));
    await repair.run();
    expect(reports).toEqual([
      'the node port 30080 for service default/a is not allocated; repairing',
      'the node port 30080 for service default/b was assigned to multiple services; please recreate service',
      'the node port 80 for service default/c is not within the port range 30000-32767; please recreate service',
    ]);
    for (const type of ['duplicate', 'outOfRange', 'repair'])
      expect(registry.print()).toContain(`apiserver_nodeport_repair_port_errors_total{type="${type}"} 1\n`);
  });

  test('adapts to another range', async () => {
    const ranges = await openRanges();
    const client = new FakeClient();
    await client.resource('', 'services').create('default', serviceWith('a', 30080));
    await repairOf(ranges, client).repair.run();
    const wider = { first: 29000, last: 33000 };
    await expect(new NodePorts(wider, ranges).begin(false).allocateAny()).rejects.toThrow('the provided range does not match the current range');
    await repairOf(ranges, client, wider).repair.run();
    expect(await takenIn(ranges, wider)).toEqual([30080]);
  });
});
