// Memory under churn: what creates, updates and deletes leave behind while the number of objects stays the same.
const LIVE = 10_000;
const IN_FLIGHT = 64;
const REQUESTS_A_ROUND = 3;
/** Memory is read when the server has come to rest (src/cli/idle-memory.ts). */
const REST_MS = 30_000;
const LIMIT_MS = 3_600_000;
const GROWTH_LIMIT = 1.5;
/** The watch history's own bound (DEFAULT_HISTORY_LIMITS in src/storage/cache/history.ts). */
const HISTORY_MIB = 256;

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

/** `requests`: creates, updates and deletes together. */
export const churn = ({ withServer, record, requests, valueBytes }) =>
  withServer((server, load) => measure(server, load, record, { requests, valueBytes }), { load: './churn-load.mjs', limitMs: LIMIT_MS });

async function measure(server, load, record, { requests, valueBytes }) {
  const of = LIVE.toLocaleString('en');
  await load.run('fill', { valueBytes, count: LIVE, inFlight: IN_FLIGHT });
  await rest();
  const beforeMiB = server.memoryMiB();
  record(`churn: memory with ${of} configmaps of 1 KiB`, beforeMiB, 'MiB');
  const limitMiB = Math.round(GROWTH_LIMIT * beforeMiB + HISTORY_MIB);
  const rounds = Math.ceil(requests / REQUESTS_A_ROUND);
  const beforeMs = server.cpuMs();
  const { p50Ms, p99Ms } = await load.run('churn', { valueBytes, live: LIVE, rounds, inFlight: IN_FLIGHT });
  const us = ((server.cpuMs() - beforeMs) * 1000) / (rounds * REQUESTS_A_ROUND);
  const more = `three requests: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  record(`churn: a request of ${requests.toLocaleString('en')}`, us, 'µs', undefined, more);
  record('churn: memory right after', server.memoryMiB(), 'MiB', limitMiB);
  await rest();
  record('churn: memory 30 s later', server.memoryMiB(), 'MiB', limitMiB);
}
