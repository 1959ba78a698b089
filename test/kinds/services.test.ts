import { expect, test } from 'vitest';
import type { ApiClient, TestObject } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';

/* Addresses and ports of services: each is given once, however many ask at a time, is free again when its service goes, and is known after a restart. */

const SERVICES = '/api/v1/namespaces/default/services';
const ADDRESSES = '/apis/networking.k8s.io/v1/ipaddresses';
const WRITERS = 64;
// A little more than there is asked for, so that a second grant of one would be likely.
const FLAGS = ['--service-cluster-ip-range=10.7.0.0/24,fd00:7::/120', '--service-node-port-range=30000-30199'];

interface Service extends TestObject {
  spec: { clusterIPs: string[]; ports: { nodePort: number }[] };
}
interface IpAddress extends TestObject {
  spec: { parentRef: { name: string } };
}

const body = (name: string, more: object = {}): object => ({
  metadata: { name },
  spec: {
    type: 'NodePort',
    ipFamilyPolicy: 'RequireDualStack',
    selector: { app: name },
    ports: [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ],
    ...more,
  },
});

const createAll = (client: ApiClient, prefix: string): Promise<Service[]> =>
  Promise.all(Array.from({ length: WRITERS }, async (_, i) => (await client.create(SERVICES, body(`${prefix}-${i}`))) as Service));

const addressesOf = (services: readonly Service[]): string[] => services.flatMap(({ spec }) => spec.clusterIPs);
const portsOf = (services: readonly Service[]): number[] => services.flatMap(({ spec }) => spec.ports.map(({ nodePort }) => nodePort));

function expectEachOnce(services: readonly Service[]): void {
  expect(new Set(addressesOf(services)).size).toBe(WRITERS * 2);
  expect(new Set(portsOf(services)).size).toBe(WRITERS * 2);
  for (const { spec } of services) {
    expect(spec.clusterIPs).toEqual([expect.stringMatching(/^10\.7\.0\.\d+$/), expect.stringMatching(/^fd00:7::/)]);
    for (const { nodePort } of spec.ports) expect(nodePort >= 30_000 && nodePort <= 30_199).toBe(true);
  }
}

/** Whose address each IPAddress says that it is. */
async function ownersOf(client: ApiClient): Promise<Map<string, string>> {
  const { items } = await client.get<{ items: IpAddress[] }>(ADDRESSES);
  return new Map(items.map(({ metadata, spec }) => [metadata.name, spec.parentRef.name]));
}

async function expectOwners(client: ApiClient, services: readonly Service[]): Promise<void> {
  const owners = await ownersOf(client);
  for (const { metadata, spec } of services) for (const address of spec.clusterIPs) expect(owners.get(address)).toBe(metadata.name);
}

const restart = async (server: ServerProcess): Promise<ServerProcess> => {
  await server.stop();
  return startServer({ storage: 'embedded', dataDir: server.dataDir, port: server.port, flags: FLAGS });
};

test('64 dual stack services with node ports, made at once', async () => {
  let server = await startServer({ storage: 'embedded', flags: FLAGS });
  let admin = server.client('admin');
  const services = await createAll(admin, 'web');
  expectEachOnce(services);
  await expectOwners(admin, services);

  // What is asked for by name and is taken is refused, and gives nothing away on the way.
  const [taken] = services;
  const wanted = { ports: [{ port: 80, nodePort: taken!.spec.ports[0]!.nodePort }] };
  const refused = await admin.expect(422, { method: 'POST', path: SERVICES, body: body('late', wanted) });
  expect(refused.json<{ message: string }>().message).toContain('provided port is already allocated');
  expect([...(await ownersOf(admin)).values()]).not.toContain('late');

  // After a restart all of it is known: none is given to another.
  admin.close();
  server = await restart(server);
  admin = server.client('admin');
  await admin.expect(422, { method: 'POST', path: SERVICES, body: body('late', wanted) });
  await admin.expect(422, { method: 'POST', path: SERVICES, body: body('late', { clusterIPs: taken!.spec.clusterIPs }) });

  // Deleted at once, and made again at once: everything was given back, or the ranges would not do.
  await Promise.all(services.map(({ metadata }) => admin.expect(200, { method: 'DELETE', path: `${SERVICES}/${metadata.name}` })));
  const left = await ownersOf(admin);
  for (const address of addressesOf(services)) expect(left.has(address)).toBe(false);
  const again = await createAll(admin, 'next');
  expectEachOnce(again);
  await expectOwners(admin, again);
  admin.close();
  await server.stop();
});
