import { expect, test } from 'vitest';
import { type Scores, belowFloor, raiseFloor, readFloor, replayCorpus, replaySession } from './support/oracle.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/*
 * How much of what kube-apiserver v1.36 answered this server answers too (test/oracle/README.md). What was reached once may not be lost:
 * test/oracle/floor.json only rises, by `npm run oracle:floor`.
 */

/** Two recorded answers name the port of the server that was recorded. */
const RECORDED_PORT = 16_443;
const REPLAY_TIMEOUT_MS = 180_000;

const freshServer = (): Promise<ServerProcess> => startServer({ port: RECORDED_PORT }).catch(() => startServer());

function check(scores: Scores): void {
  console.table(scores);
  if (process.env.RAISE_ORACLE_FLOOR === '1') raiseFloor(scores);
  expect(belowFloor(scores, readFloor())).toEqual([]);
}

test('the recorded scenarios', { timeout: REPLAY_TIMEOUT_MS }, async () => {
  const server = await freshServer();
  check(await replayCorpus(server.url));
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('the recorded kubectl sessions', { timeout: REPLAY_TIMEOUT_MS }, async () => {
  const server = await freshServer();
  const scores: Scores = {};
  for (const name of ['first-steps', 'discovery', 'access', 'apply', 'custom']) scores[`transcripts/${name}`] = await replaySession(server.url, name);
  check(scores);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});
