import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { CuttableProxy } from '../support/proxy.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { type Target, runCampaign } from './campaign.ts';

/* The memory store, which a restart would empty: its process stays, is paused, and loses all its connections, in the middle of requests and watches. */

const PAUSED_MS = 300;

class MemoryTarget implements Target {
  readonly #server: ServerProcess;
  readonly #proxy: CuttableProxy;
  readonly #client: ApiClient;

  private constructor(server: ServerProcess, proxy: CuttableProxy) {
    this.#server = server;
    this.#proxy = proxy;
    this.#client = new ApiClient({ port: proxy.port, ca: server.ca, token: 'admin-token' });
  }

  static async start(): Promise<MemoryTarget> {
    const server = await startServer({ storage: 'memory' });
    return new MemoryTarget(server, await CuttableProxy.start(server.port));
  }

  readonly faults: Target['faults'] = {
    pause: () => this.#pause(),
    cut: async () => this.#proxy.cut(),
    // What was sent before is read, carried out and answered to nobody when the process goes on.
    cutWhilePaused: () => this.#pause(() => this.#proxy.cut()),
    cutAgainAndAgain: async (random) => {
      for (let count = 0; count < 10; count++) {
        this.#proxy.cut();
        await delay(random() * 20);
      }
    },
  };

  client(): ApiClient {
    return this.#client;
  }

  async stop(): Promise<void> {
    this.#client.close();
    expect(await this.#server.stop()).toEqual({ code: 0, signal: null });
  }

  async #pause(meanwhile: () => void = () => {}): Promise<void> {
    this.#server.signal('SIGSTOP');
    await delay(PAUSED_MS / 2);
    meanwhile();
    await delay(PAUSED_MS / 2);
    this.#server.signal('SIGCONT');
  }
}

const injections = inject('faultInjections');

test(`the memory store keeps its promises through ${injections} faults`, { timeout: 30_000 + injections * 10_000 }, async () => {
  const seed = Date.now() % 1_000_000;
  const target = await MemoryTarget.start();
  try {
    const { operations, faults, lists } = await runCampaign(target, { injections, seed });
    console.log(`memory, seed ${seed}: ${operations} operations, ${lists} lists of the follower, faults ${JSON.stringify([...faults])}`);
    expect(operations).toBeGreaterThan(injections * 20);
  } finally {
    await target.stop();
  }
});
