import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type EtcdCluster, hasEtcd, startEtcd } from '../support/etcd.ts';
import { startServerOnEtcd } from '../support/etcd-server.ts';
import type { ServerProcess } from '../support/server.ts';
import { type Target, runCampaign } from './campaign.ts';

/* Two servers on three members of etcd, of which one of each kind at a time, or all members, are killed and paused. */

const SERVERS = 2;
const MEMBERS = 3;
/** Longer than an election takes to begin. */
const PAUSED_MS = 1_500;

class EtcdTarget implements Target {
  readonly #cluster: EtcdCluster;
  readonly #servers: ServerProcess[];
  readonly #clients: ApiClient[];

  constructor(cluster: EtcdCluster, servers: ServerProcess[]) {
    this.#cluster = cluster;
    this.#servers = servers;
    this.#clients = servers.map((server) => server.client());
  }

  readonly faults: Target['faults'] = {
    killMember: (random) => this.#killMembers([pick(random, MEMBERS)]),
    killAllMembers: () => this.#killMembers([0, 1, 2]),
    pauseMember: async (random) => {
      const member = this.#cluster.members[pick(random, MEMBERS)]!;
      member.pause();
      await delay(PAUSED_MS);
      member.resume();
    },
    killServer: async (random) => {
      const index = pick(random, SERVERS);
      const { dataDir, port } = this.#servers[index]!;
      await this.#servers[index]!.kill();
      this.#servers[index] = await startServerOnEtcd(this.#cluster.endpoints, { dataDir, port });
    },
    pauseServer: async (random) => {
      const server = this.#servers[pick(random, SERVERS)]!;
      server.signal('SIGSTOP');
      await delay(PAUSED_MS);
      server.signal('SIGCONT');
    },
  };

  client(index: number): ApiClient {
    return this.#clients[index % SERVERS]!;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await Promise.all(this.#servers.map((server) => server.stop()));
    await this.#cluster.stop();
  }

  async #killMembers(indices: number[]): Promise<void> {
    await Promise.all(indices.map((index) => this.#cluster.members[index]!.kill()));
    for (const index of indices) this.#cluster.members[index]!.start();
    await this.#cluster.whenReady();
  }
}

const pick = (random: () => number, count: number): number => Math.floor(random() * count);

const injections = inject('faultInjections');

describe.runIf(hasEtcd())('servers on etcd', () => {
  test(`keep their promises through ${injections} faults`, { timeout: 60_000 + injections * 20_000 }, async () => {
    const seed = Date.now() % 1_000_000;
    const cluster = await startEtcd({ members: MEMBERS });
    const servers: ServerProcess[] = [];
    for (let i = 0; i < SERVERS; i++) servers.push(await startServerOnEtcd(cluster.endpoints));
    const target = new EtcdTarget(cluster, servers);
    try {
      const { operations, faults, lists } = await runCampaign(target, { injections, seed });
      console.log(`etcd, seed ${seed}: ${operations} operations, ${lists} lists of the follower, faults ${JSON.stringify([...faults])}`);
      expect(operations).toBeGreaterThan(injections * 10);
    } finally {
      await target.stop();
    }
  });
});
