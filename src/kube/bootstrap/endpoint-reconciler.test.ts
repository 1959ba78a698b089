import { describe, expect, test } from 'vitest';
import { schemaOfKind } from '../../apis/facts/schemas.ts';
import { FakeClient } from '../../client/fake-client.ts';
import { unservedCodec } from '../../registry/stored-codec.ts';
import { StoredObjects } from '../../registry/stored-objects.ts';
import { openEngine } from '../../storage/open.ts';
import { parseYaml, toYaml } from '../../encoding/yaml.ts';
import { type EndpointReconciler, endpointReconciler } from './endpoint-reconciler.ts';
import type { Endpoints } from './endpoints.ts';
import { type MasterLeases, ownMasterLease, storedMasterLeases } from './master-leases.ts';

const PORT = { name: 'https', port: 6443, protocol: 'TCP' };
const OTHER_PORT = { ...PORT, port: 7443 };
const LEASES = '/registry/masterleases/';

const addressesIn = (client: FakeClient): string[][] | undefined =>
  client
    .resource<Endpoints>('', 'endpoints')
    .informer.get('default', 'kubernetes')
    ?.subsets?.map(({ addresses = [] }) => addresses.map(({ ip }) => ip));
const portsIn = (client: FakeClient): unknown =>
  client
    .resource<Endpoints>('', 'endpoints')
    .informer.get('default', 'kubernetes')
    ?.subsets?.[0]?.ports?.map(({ port }) => port);

const leaseOf = (client: FakeClient, leases: MasterLeases): EndpointReconciler =>
  endpointReconciler(client, { endpointReconciler: 'lease', serverCount: 1 }, leases);

describe('by leases', () => {
  test('endpoints are the servers that live, however they end', async () => {
    const engine = await openEngine({ backend: 'memory' });
    const encoding = { mediaType: 'application/vnd.kubernetes.protobuf', yaml: { parseYaml, toYaml } } as const;
    const leases = storedMasterLeases(new StoredObjects(engine, unservedCodec(schemaOfKind('', 'v1', 'Endpoints'), encoding), LEASES));
    const client = new FakeClient();
    const [one, two] = [leaseOf(client, leases), leaseOf(client, leases)];
    await two.keep('192.0.2.2', PORT);
    await one.keep('192.0.2.1', OTHER_PORT);
    await one.keep('192.0.2.1', OTHER_PORT);
    expect(addressesIn(client)).toEqual([['192.0.2.1', '192.0.2.2']]);
    // Whose port it is was decided by the first.
    expect(portsIn(client)).toEqual([6443]);
    expect((await engine.range(LEASES)).items.map(({ key }) => key)).toEqual([`${LEASES}192.0.2.1`, `${LEASES}192.0.2.2`]);
    // Its time is over.
    const { revision } = (await engine.get(`${LEASES}192.0.2.2`))!;
    await engine.commit({ type: 'delete', key: `${LEASES}192.0.2.2`, expected: revision });
    await one.keep('192.0.2.1', OTHER_PORT);
    expect(addressesIn(client)).toEqual([['192.0.2.1']]);
    await two.keep('192.0.2.2', PORT);
    await one.remove('192.0.2.1', OTHER_PORT);
    expect([addressesIn(client), portsIn(client)]).toEqual([[['192.0.2.2']], [7443]]);
    await two.remove('192.0.2.2', PORT);
    expect(addressesIn(client)).toEqual([]);
    await engine.close();
  });

  test('a server that is not sure that it lives erases nobody', async () => {
    const leases: MasterLeases = { ...ownMasterLease(), list: () => Promise.resolve([]) };
    await expect(leaseOf(new FakeClient(), leases).keep('192.0.2.1', PORT)).rejects.toThrow('refusing to erase all endpoints for the kubernetes Service');
  });
});

describe('by the number of servers', () => {
  const counting = (client: FakeClient): EndpointReconciler =>
    endpointReconciler(client, { endpointReconciler: 'master-count', serverCount: 2 }, ownMasterLease());

  test('each adds itself, and removes who follows it where there are too many', async () => {
    const client = new FakeClient();
    const reconciler = counting(client);
    for (const address of ['192.0.2.2', '192.0.2.3', '192.0.2.3']) await reconciler.keep(address, PORT);
    expect(addressesIn(client)).toEqual([['192.0.2.2', '192.0.2.3']]);
    await reconciler.keep('192.0.2.1', PORT);
    expect(addressesIn(client)).toEqual([['192.0.2.1', '192.0.2.3']]);
    await reconciler.remove('192.0.2.1', PORT);
    await reconciler.remove('192.0.2.3', PORT);
    expect(addressesIn(client)).toEqual([]);
  });
});

test('where nobody is to keep them, there are none', async () => {
  const client = new FakeClient();
  const reconciler = endpointReconciler(client, { endpointReconciler: 'none', serverCount: 1 }, ownMasterLease());
  await reconciler.keep('192.0.2.1', PORT);
  await reconciler.remove('192.0.2.1', PORT);
  expect(client.writes).toEqual([]);
});
