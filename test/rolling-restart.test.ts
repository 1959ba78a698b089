import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Answer, ApiClient, ApiRequest, TestList } from './support/api-client.ts';
import { hasEtcd, startEtcd } from './support/etcd.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import type { ServerProcess } from './support/server.ts';

/* Servers of one etcd are restarted one after the other, while clients write. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const WORKERS = 8;
const FLAGS = ['--shutdown-delay-duration=300ms', '--shutdown-send-retry-after=true'];
/** The request has not reached the server, or came on a kept connection just as that was closed: what every client tries again. */
const RETRIABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** As a client behind a balancer: another server where one does not answer, and a pause where it was told to. */
class RetryingClient {
  readonly #clients: ApiClient[];
  readonly retries = new Map<string, number>();

  constructor(clients: ApiClient[]) {
    this.#clients = clients;
  }

  async send(request: ApiRequest): Promise<Answer> {
    for (let attempt = Math.floor(Math.random() * 2); ; attempt++) {
      try {
        const answer = await this.#clients[attempt % this.#clients.length]!.send(request);
        if (answer.status !== 429) return answer;
        this.#count('429');
        await delay(10);
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException;
        if (!RETRIABLE.has(code)) throw error;
        this.#count(code);
        await delay(5);
      }
    }
  }

  #count(reason: string): void {
    this.retries.set(reason, (this.retries.get(reason) ?? 0) + 1);
  }
}

describe.runIf(hasEtcd())('a rolling restart', () => {
  test('loses no request of clients that try again', { timeout: 120_000 }, async () => {
    const { endpoints } = await startEtcd();
    const servers: ServerProcess[] = await Promise.all([0, 1].map(() => startServerOnEtcd(endpoints, { flags: FLAGS })));
    const clients = servers.map((server) => server.client());
    const client = new RetryingClient(clients);
    const over = new AbortController();
    const wrong: string[] = [];
    const written: string[] = [];

    async function work(worker: number): Promise<void> {
      for (let i = 0; !over.signal.aborted; i++) {
        const name = `w${worker}-${i}`;
        const made = await client.send({ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name } } });
        // A write that was tried again must not have happened before.
        if (made.status !== 201) wrong.push(`${name}: ${made.status} ${made.text}`);
        const read = await client.send({ path: `${CONFIG_MAPS}/${name}` });
        if (read.status !== 200) wrong.push(`read of ${name}: ${read.status}`);
        written.push(name);
      }
    }

    const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker));
    for (const [index, { dataDir, port }] of servers.entries()) {
      expect(await servers[index]!.stop()).toEqual({ code: 0, signal: null });
      servers[index] = await startServerOnEtcd(endpoints, { flags: FLAGS, dataDir, port });
    }
    over.abort();
    await Promise.all(workers);
    console.log(`rolling restart: ${written.length} objects, retries ${JSON.stringify([...client.retries])}`);
    expect(wrong).toEqual([]);
    for (const each of clients) {
      const { items } = await each.get<TestList>(CONFIG_MAPS);
      const names = new Set(items.map(({ metadata }) => metadata.name));
      expect(written.filter((name) => !names.has(name))).toEqual([]);
      each.close();
    }
    await Promise.all(servers.map((server) => server.stop()));
  });
});
