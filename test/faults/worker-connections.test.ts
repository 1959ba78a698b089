import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { type ServerProcess, startServer } from '../support/server.ts';
import { workerPids } from '../support/workers.ts';
import { seeded } from './campaign.ts';

/* Workers are killed while clients connect: whoever was not taken by the one that dies is answered by another, and nobody waits for ever. */

const WORKERS = 2;
/** Of a new connection and its request: a worker that starts, on a machine that is busy. Where another worker runs, it is milliseconds. */
const ANSWERED_WITHIN_MS = 30_000;
const CONNECTIONS_WHILE_STOPPED = 2 * WORKERS;
const KILL_WITHIN_MS = 150;

/** The status, or what went wrong, of a request over a connection of its own. */
async function ask(server: ServerProcess): Promise<string> {
  const client = server.client();
  const sent = client
    .send({ path: '/api/v1/namespaces/default', headers: { connection: 'close' } })
    .then(({ status }) => String(status))
    .catch(({ code, message }: NodeJS.ErrnoException) => code ?? message);
  const answer = await Promise.race([sent, delay(ANSWERED_WITHIN_MS, 'no answer', { ref: false })]);
  client.close();
  return answer;
}

/** Workers that die soon after their start are replaced after a moment, in which there may be none. */
async function runningWorkers(server: ServerProcess): Promise<number[]> {
  for (;;) {
    const pids = workerPids(server);
    if (pids.length > 0) return pids;
    await delay(10);
  }
}

class Tally {
  readonly answers = new Map<string, number>();
  longestMs = 0;

  async askUntil(server: ServerProcess, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const startMs = performance.now();
      const answer = await ask(server);
      this.longestMs = Math.max(this.longestMs, performance.now() - startMs);
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
    }
  }
}

const kills = inject('faultInjections');

test(`${kills} kills of workers leave no connection without an answer`, { timeout: 60_000 + kills * 10_000 }, async () => {
  const seed = Date.now() % 1_000_000;
  const random = seeded(seed);
  const server = await startServer({ storage: 'embedded', flags: [`--workers=${WORKERS}`] });
  const over = new AbortController();
  const tally = new Tally();
  const asking = [1, 2, 3].map(() => tally.askUntil(server, over.signal));
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await delay(random() * KILL_WITHIN_MS);
      const pids = await runningWorkers(server);
      const victim = pids[Math.floor(random() * pids.length)]!;
      // It takes nothing from now on, so that what is on its way to it goes to another when it dies.
      const isStopped = kill % 2 === 0;
      if (isStopped) process.kill(victim, 'SIGSTOP');
      const untaken = isStopped ? Array.from({ length: CONNECTIONS_WHILE_STOPPED }, () => ask(server)) : [];
      if (isStopped) await delay(random() * KILL_WITHIN_MS);
      process.kill(victim, 'SIGKILL');
      expect(await Promise.all(untaken), `kill ${kill}, seed ${seed}`).toEqual(untaken.map(() => '200'));
      await server.lineCount(/A worker died and is replaced/, kill);
    }
  } finally {
    over.abort();
    await Promise.all(asking);
  }
  console.log(`${kills} kills, seed ${seed}: ${JSON.stringify([...tally.answers])}, the longest ${Math.round(tally.longestMs)} ms`);
  // Whom a worker had taken is cut off when it dies, which a client sees at once.
  const others = [...tally.answers.keys()].filter((answer) => !['200', 'ECONNRESET', 'EPIPE'].includes(answer));
  expect(others).toEqual([]);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});
