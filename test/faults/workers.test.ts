import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { workerPids } from '../support/workers.ts';
import { type Target, runCampaign } from './campaign.ts';

/* Workers on one store (`--workers`), which are killed, paused and replaced, as is the primary that keeps the store. */

const PAUSED_MS = 300;
/** So many that some are each worker's. */
const CLIENTS = 6;

class WorkersTarget implements Target {
  readonly #count: number;
  #server!: ServerProcess;
  #clients: ApiClient[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  readonly faults: Target['faults'] = {
    killWorker: async (random) => void this.#signalWorker(random, 'SIGKILL'),
    pauseWorker: async (random) => {
      const pid = this.#signalWorker(random, 'SIGSTOP');
      await delay(PAUSED_MS);
      if (pid !== undefined) process.kill(pid, 'SIGCONT');
    },
    killAllWorkers: async () => workerPids(this.#server).forEach((pid) => process.kill(pid, 'SIGKILL')),
    killPrimary: () => this.#restart('SIGKILL'),
    stopPrimary: () => this.#restart('SIGTERM'),
    pausePrimary: async () => {
      this.#server.signal('SIGSTOP');
      await delay(PAUSED_MS);
      this.#server.signal('SIGCONT');
    },
    replaceWorkers: async () => this.#server.signal('SIGHUP'),
  };

  async start(where: { dataDir?: string; port?: number } = {}): Promise<this> {
    this.#server = await startServer({ storage: 'embedded', ...where, flags: [`--workers=${this.#count}`] });
    if (this.#clients.length === 0) this.#clients = Array.from({ length: CLIENTS }, () => this.#server.client());
    return this;
  }

  client(index: number): ApiClient {
    return this.#clients[index % CLIENTS]!;
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    for (const client of this.#clients) client.close();
  }

  #signalWorker(random: () => number, signal: NodeJS.Signals): number | undefined {
    const pids = workerPids(this.#server);
    const pid = pids[Math.floor(random() * pids.length)];
    if (pid !== undefined) process.kill(pid, signal);
    return pid;
  }

  /** On the same port, with the same certificate: clients find it again. */
  async #restart(signal: NodeJS.Signals): Promise<void> {
    const { dataDir, port } = this.#server;
    this.#server.signal(signal);
    await this.#server.exited;
    await this.start({ dataDir, port });
  }
}

const injections = inject('faultInjections');

test.each([2, 3])(`%i workers on one store keep its promises through ${injections} faults`, { timeout: 60_000 + injections * 20_000 }, async (count) => {
  const seed = Date.now() % 1_000_000;
  const target = await new WorkersTarget(count).start();
  try {
    const { operations, faults, lists } = await runCampaign(target, { injections, seed });
    console.log(`${count} workers, seed ${seed}: ${operations} operations, ${lists} lists of the follower, faults ${JSON.stringify([...faults])}`);
    expect(operations).toBeGreaterThan(injections * 10);
  } finally {
    await target.stop();
  }
});
