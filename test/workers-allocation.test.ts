import { describe, expect, test, vi } from 'vitest';
import type { ApiClient, TestList, TestObject } from './support/api-client.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* What may be given once, or so often, wanted from all workers at once, by more than there is. */

const WORKERS = 3;
const ROUNDS = 3;
const SERVICES = '/api/v1/namespaces/default/services';
const WANTED = 40;
const NODE_PORTS = 16;
/** Of 10.0.0.0/27: without the first and the last one, and without that of the service `kubernetes`. */
const ADDRESSES = 32 - 3;
const QUOTA = 10;

const startWorkers = (...flags: string[]): Promise<ServerProcess> => startServer({ storage: 'embedded', flags: [`--workers=${WORKERS}`, ...flags] });

/** Connections are dealt out in turn: these are spread over all workers. */
const clientsOf = (server: ServerProcess): ApiClient[] => Array.from({ length: 2 * WORKERS }, () => server.client());

/** All at the same moment, each through the next client. Answers in the order of the names. */
const createAll = async (clients: readonly ApiClient[], path: string, objects: readonly object[]): Promise<(TestObject | undefined)[]> => {
  const answers = await Promise.all(objects.map((body, i) => clients[i % clients.length]!.send({ method: 'POST', path, body })));
  return answers.map((answer) => (answer.status === 201 ? answer.json() : undefined));
};

const serviceNames = Array.from({ length: WANTED }, (_, i) => `service-${i}`);

interface ServiceSpec {
  clusterIP: string;
  ports: { nodePort?: number }[];
}
const specsOf = (objects: readonly (TestObject | undefined)[]): ServiceSpec[] => objects.flatMap((object) => (object ? [object.spec as never] : []));

describe('through several workers at once', { timeout: 120_000 }, () => {
  test.each([
    { type: 'NodePort', given: NODE_PORTS, pick: ({ ports }: ServiceSpec) => String(ports[0]!.nodePort) },
    { type: 'ClusterIP', given: ADDRESSES, pick: ({ clusterIP }: ServiceSpec) => clusterIP },
  ])('services of type $type get what is free, each once, and again when it was given back', async ({ type, given, pick }) => {
    const server = await startWorkers('--service-cluster-ip-range=10.0.0.0/27', `--service-node-port-range=30000-${30000 + NODE_PORTS - 1}`);
    const clients = clientsOf(server);
    for (let round = 0; round < ROUNDS; round++) {
      const services = serviceNames.map((name) => ({ metadata: { name }, spec: { type, ports: [{ port: 80 }] } }));
      // Who finds a range full, or in dispute, for a moment may ask again, as clients do.
      const made = [...(await createAll(clients, SERVICES, services)), ...(await createAll(clients.toReversed(), SERVICES, services))];
      const taken = specsOf(made).map(pick);
      expect(new Set(taken).size).toBe(taken.length);
      expect(taken).toHaveLength(given);
      const { items } = await clients[round]!.get<TestList>(SERVICES);
      expect(
        specsOf(items.filter(({ metadata }) => metadata.name !== 'kubernetes'))
          .map(pick)
          .toSorted(),
      ).toEqual(taken.toSorted());
      const names = made.flatMap((object) => (object ? [object.metadata.name] : []));
      await Promise.all(names.map((name, i) => clients[(i + round) % clients.length]!.expect(200, { method: 'DELETE', path: `${SERVICES}/${name}` })));
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('a quota is not exceeded', async () => {
    const server = await startWorkers('--controllers=*');
    const clients = clientsOf(server);
    for (let round = 0; round < ROUNDS; round++) {
      const namespace = `/api/v1/namespaces/limited-${round}`;
      await clients[0]!.create('/api/v1/namespaces', { metadata: { name: `limited-${round}` } });
      await clients[1]!.create(`${namespace}/resourcequotas`, { metadata: { name: 'secrets' }, spec: { hard: { 'count/secrets': String(QUOTA) } } });
      await vi.waitFor(
        async () => expect((await clients[2]!.get(`${namespace}/resourcequotas/secrets`)).status).toMatchObject({ used: { 'count/secrets': '0' } }),
        { timeout: 20_000 },
      );
      const path = `${namespace}/secrets`;
      const secrets = Array.from({ length: WANTED }, (_, i) => ({ metadata: { name: `secret-${i}` } }));
      await createAll(clients, path, secrets);
      expect((await clients[3]!.get<TestList>(path)).items.length).toBeLessThanOrEqual(QUOTA);
      // Those who lost the race for the quota's own object may ask again.
      for (const { metadata } of secrets) await clients[4]!.send({ method: 'POST', path, body: { metadata } });
      expect((await clients[5]!.get<TestList>(path)).items).toHaveLength(QUOTA);
      expect((await clients[0]!.get(`${namespace}/resourcequotas/secrets`)).status).toMatchObject({ used: { 'count/secrets': String(QUOTA) } });
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});
