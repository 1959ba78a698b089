import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import type { ApiClient, TestList } from '../support/api-client.ts';
import { hasEtcd, startEtcd } from '../support/etcd.ts';
import { startServerOnEtcd } from '../support/etcd-server.ts';
import type { ServerProcess } from '../support/server.ts';
import { seeded } from './campaign.ts';

/* Two servers give out addresses and node ports, from ranges that are nearly full, and are killed in between. */

const SERVICES = '/api/v1/namespaces/default/services';
const WORKERS = 6;
const SERVICES_A_WORKER = 4;
/** So few that every port is wanted again and again. */
const FLAGS = ['--service-node-port-range=30000-30031'];
const ANSWER_WITHIN_MS = 3_000;

interface Spec {
  clusterIP: string;
  ports: { nodePort: number }[];
}

const specsIn = ({ items }: TestList): Spec[] => items.filter(({ metadata }) => metadata.name.startsWith('w')).map(({ spec }) => spec as unknown as Spec);

/** Makes and removes services of its own, whatever it is answered. */
async function work(worker: number, client: (random: () => number) => ApiClient, signal: AbortSignal): Promise<void> {
  const random = seeded(worker);
  while (!signal.aborted) {
    const name = `w${worker}-${Math.floor(random() * SERVICES_A_WORKER)}`;
    const request =
      random() < 0.5
        ? { method: 'POST', path: SERVICES, body: { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } } }
        : { method: 'DELETE', path: `${SERVICES}/${name}` };
    const sent = client(random).send(request);
    await Promise.race([sent.catch(() => delay(10)), delay(ANSWER_WITHIN_MS, undefined, { ref: false })]);
  }
}

function assertUnique(list: TestList): number {
  const specs = specsIn(list);
  expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(specs.length);
  expect(new Set(specs.flatMap(({ ports }) => ports.map(({ nodePort }) => nodePort))).size).toBe(specs.length);
  return specs.length;
}

const kills = Math.ceil(inject('faultInjections') / 4);

describe.runIf(hasEtcd())('servers that give out addresses', () => {
  test(`give none twice through ${kills} kills`, { timeout: 60_000 + kills * 10_000 }, async () => {
    const { endpoints } = await startEtcd();
    const servers: ServerProcess[] = await Promise.all([0, 1].map(() => startServerOnEtcd(endpoints, { flags: FLAGS })));
    const clients = servers.map((server) => server.client());
    const over = new AbortController();
    const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker, (random) => clients[random() < 0.5 ? 0 : 1]!, over.signal));
    let seen = 0;
    for (let kill = 0; kill < kills; kill++) {
      const [index, other] = [kill % 2, 1 - (kill % 2)] as const;
      await delay(150);
      const { dataDir, port } = servers[index]!;
      await servers[index]!.kill();
      seen = Math.max(seen, assertUnique(await clients[other]!.get<TestList>(SERVICES)));
      servers[index] = await startServerOnEtcd(endpoints, { flags: FLAGS, dataDir, port });
    }
    over.abort();
    await Promise.all(workers);
    const list = await clients[0]!.get<TestList>(SERVICES);
    assertUnique(list);
    expect(seen).toBeGreaterThan(0);
    const { items } = await clients[1]!.get<TestList>('/apis/networking.k8s.io/v1/ipaddresses');
    const allocated = new Set(items.map(({ metadata }) => metadata.name));
    expect(specsIn(list).filter(({ clusterIP }) => !allocated.has(clusterIP))).toEqual([]);
    for (const client of clients) client.close();
    await Promise.all(servers.map((server) => server.stop()));
  });
});
