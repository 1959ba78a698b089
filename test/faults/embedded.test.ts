import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type ServerProcess, startServer } from '../support/server.ts';
import { type Target, runCampaign } from './campaign.ts';

/* The embedded store, whose server is killed, stopped, paused and left without room. `npm run test:faults` does far more of it. */

const PAUSED_MS = 300;
const FULL_MS = 150;

class EmbeddedTarget implements Target {
  #server: ServerProcess;
  #client: ApiClient;

  constructor(server: ServerProcess) {
    this.#server = server;
    this.#client = server.client();
  }

  readonly faults: Target['faults'] = {
    kill: () => this.#restart('SIGKILL'),
    stop: () => this.#restart('SIGTERM'),
    pause: async () => {
      this.#server.signal('SIGSTOP');
      await delay(PAUSED_MS);
      this.#server.signal('SIGCONT');
    },
    full: () => this.#fill(),
    fullAndKill: async () => {
      await this.#fill(false);
      await this.#restart('SIGKILL');
    },
  };

  client(): ApiClient {
    return this.#client;
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    this.#client.close();
  }

  /** On the same port, with the same certificate: clients find it again. */
  async #restart(signal: NodeJS.Signals): Promise<void> {
    const { dataDir, port } = this.#server;
    this.#server.signal(signal);
    await this.#server.exited;
    this.#server = await startServer({ storage: 'embedded', dataDir, port });
  }

  /** No file may grow beyond the store's size of this moment. */
  async #fill(isFreed = true): Promise<void> {
    const { pid } = this.#server.child;
    const { size } = statSync(join(this.#server.dataDir, 'store', 'data.mdb'));
    limit(pid!, `${size}:unlimited`);
    await delay(FULL_MS);
    if (isFreed) limit(pid!, 'unlimited:unlimited');
  }
}

const limit = (pid: number, sizes: string): void => void execFileSync('prlimit', ['--pid', String(pid), `--fsize=${sizes}`]);

const injections = inject('faultInjections');

test(`the embedded store keeps its promises through ${injections} faults`, { timeout: 30_000 + injections * 10_000 }, async () => {
  const seed = Date.now() % 1_000_000;
  const target = new EmbeddedTarget(await startServer({ storage: 'embedded' }));
  try {
    const { operations, faults, lists } = await runCampaign(target, { injections, seed });
    console.log(`embedded, seed ${seed}: ${operations} operations, ${lists} lists of the follower, faults ${JSON.stringify([...faults])}`);
    expect(operations).toBeGreaterThan(injections * 20);
  } finally {
    await target.stop();
  }
});
