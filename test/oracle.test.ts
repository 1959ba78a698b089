import { expect, inject, test } from 'vitest';
import { type Scores, belowFloor, raiseFloor, readFloor, replayCorpus, replaySession } from './support/oracle.ts';
import { startServer } from './support/server.ts';

/*
 * How much of what kube-apiserver v1.36 answered this server answers too (test/oracle/README.md). What was reached once may not be lost:
 * test/oracle/floor.json only rises, by `npm run oracle:floor`.
 */

/** With workers, each of the servers that run side by side is several processes. */
const REPLAY_TIMEOUT_MS = inject('workers') > 0 ? 900_000 : 180_000;
const CLEAN_EXIT = { code: 0, signal: null };

function check(scores: Scores): void {
  console.table(scores);
  if (process.env.RAISE_ORACLE_FLOOR === '1') raiseFloor(scores);
  expect(belowFloor(scores, readFloor())).toEqual([]);
}

test.concurrent('the recorded scenarios', { timeout: REPLAY_TIMEOUT_MS }, async () => {
  const server = await startServer();
  check(await replayCorpus(server.url));
  expect(await server.stop()).toEqual(CLEAN_EXIT);
});

// Each on a server of its own, and all side by side: one of them waits a minute for what never comes, as it did when it was recorded.
test.concurrent.each(['first-steps', 'discovery', 'access', 'apply', 'custom'])(
  'the recorded kubectl session %s',
  { timeout: REPLAY_TIMEOUT_MS },
  async (name) => {
    const server = await startServer();
    check({ [`transcripts/${name}`]: await replaySession(server.url, name) });
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  },
);
