// The test process of in-process.mjs whose times are taken.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const OBJECTS = 10_000;
const AT_ONCE = 50;
const ROUNDS = 15;
const MIB = 2 ** 20;

const send = (...result) => new Promise((resolve) => process.send(result, resolve));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const cpuMs = () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
const configMap = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: 'x'.repeat(500) } });

/** Milliseconds of the clock and of CPU: the second is what a machine that does other work, too, can be asked for. */
async function timed(work) {
  const startMs = performance.now();
  const startCpuMs = cpuMs();
  const result = await work();
  return { result, ms: performance.now() - startMs, cpu: cpuMs() - startCpuMs };
}

const told = (runs) => ({ ms: median(runs.map(({ ms }) => ms)), more: `CPU ${median(runs.map(({ cpu }) => cpu)).toFixed(1)} ms` });

/** What `--expose-gc` gives, once the times of starts are taken. */
function exposeGc() {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

function memoryBytes(gc) {
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const load = () => createRequire(import.meta.url)(join(process.argv[2], 'index.js')).startServer;
const first = await timed(() => load()());
await send('in process, first start', first.ms, 'ms', `CPU ${first.cpu.toFixed(1)} ms, with loading the package`);
const startServer = load();
await first.result.stop();

const starts = [];
const stops = [];
for (let round = 0; round < 2 * ROUNDS; round++) {
  const start = await timed(() => startServer());
  const stop = await timed(() => start.result.stop());
  if (round >= ROUNDS) {
    starts.push(start);
    stops.push(stop);
  }
}
await send('in process, next start', told(starts).ms, 'ms', told(starts).more);
await send('in process, stop', told(stops).ms, 'ms', told(stops).more);

const gc = exposeGc();
const emptyBytes = memoryBytes(gc);
const servers = [];
for (let i = 0; i < 10; i++) servers.push(await startServer());
await send('in process, heap and buffers each', (memoryBytes(gc) - emptyBytes) / servers.length / MIB, 'MiB');
await Promise.all(servers.map((server) => server.stop()));

const server = await startServer();
for (let i = 0; i < OBJECTS; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, j) => server.create(configMap(`object-${i + j}`))));
const snapshot = server.snapshot();
const forks = [];
const resets = [];
for (let round = 0; round < ROUNDS; round++) {
  const fork = await timed(() => server.fork());
  await fork.result.stop();
  for (let i = 0; i < 10; i++) await server.create(configMap(`new-${i}`));
  forks.push(fork);
  resets.push(await timed(() => server.reset(snapshot)));
}
await send(`fork with ${OBJECTS} objects`, told(forks).ms, 'ms', told(forks).more);
await send(`reset with ${OBJECTS} objects, 10 changed`, told(resets).ms, 'ms', told(resets).more);
await server.stop();
process.disconnect();
