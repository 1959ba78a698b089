#!/usr/bin/env node
// What the server costs, in its own CPU time per operation. `npm run bench` builds first. Limits are those the project holds itself to.
// `node bench/run.mjs --help` lists the phases and options. On `--store=etcd` a member of etcd is started (see etcd.mjs).
import { fork } from 'node:child_process';
import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { churn } from './churn.mjs';
import { cluster } from './cluster.mjs';
import { scrapeCosts } from './scrape.mjs';
import { definitions, machine, machines } from './custom.mjs';
import { fairness } from './fairness.mjs';
import { history } from './history.mjs';
import { inProcessCosts } from './in-process.mjs';
import { fromSource } from './from-source.mjs';
import { manyObjects } from './large.mjs';
import { manyNodes } from './nodes.mjs';
import { openApiCosts } from './openapi.mjs';
import { proxyCosts } from './proxy.mjs';
import { measureRules } from './rules.mjs';
import { startServer } from './server.mjs';
import { stalls } from './stalls.mjs';
import { storeCosts } from './store.mjs';
import { supervisedRestarts } from './supervised.mjs';
import { workerCosts } from './workers.mjs';

/** By name, in the order in which they run. */
const PHASES = {
  start: startUp,
  fork: () => inProcessCosts({ record, dist: options.dist }),
  get: () => withServer(gets),
  create: () => withServer(creates),
  pods: () => withServer(pods),
  apply: () => withServer(applies),
  history: () => history({ withServer, record, fromSource }),
  admission: async () => (await fromSource('admission-chain')).admissionCosts(record),
  auth: async () => (await fromSource('auth-costs')).authCosts(record),
  fairness: () => withServer((server, load) => fairness(server, load, { record, valueBytes: VALUE_BYTES })),
  cr: () => withServer(customCreates),
  crds: manyDefinitions,
  openapi: () => openApiCosts({ withServer, perOperation, record }),
  cel: rules,
  proxy,
  watch2: () => withServer((server, load) => fanOut(server, load, 2, 8)),
  watch1: () => withServer((server, load) => fanOut(server, load, 1, 20)),
  nodes: () => manyNodes({ withServer, perOperation, record, sizes: options.nodes.split(',').map(Number) }),
  churn: () => churn({ withServer, record, requests: Number(options.churn), valueBytes: VALUE_BYTES }),
  cluster: () => cluster({ withServer, perOperation, record, size: clusterSize() }),
  stalls: () => stalls({ record }),
  supervised: () => supervisedRestarts({ withServer, record, valueBytes: VALUE_BYTES }),
  workers: () => workerCosts({ withServer, perOperation, record, valueBytes: VALUE_BYTES }),
  store: () => storeCosts({ record, dist: options.dist, etcd: options.etcd !== undefined, kubeApiserver: options['kube-apiserver'] }),
  large: () => manyObjects({ withServer, record, valueBytes: VALUE_BYTES, syncMs }),
};
/** Ends a phase that hangs; on a machine that does other work, too, phases take several times as long as on a quiet one. */
const PHASE_LIMIT_MS = 300_000;

const { values: options } = parseArgs({
  options: {
    dist: { type: 'string', default: fileURLToPath(new URL('../dist', import.meta.url)) },
    store: { type: 'string', default: 'embedded' },
    etcd: { type: 'string' },
    'kube-apiserver': { type: 'string' },
    nodes: { type: 'string', default: '100,1000,4000,10000' },
    churn: { type: 'string', default: '200000' },
    cluster: { type: 'string', default: '5000,50000,120' },
    phase: { type: 'string', multiple: true, default: Object.keys(PHASES) },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const HELP = `node bench/run.mjs [--phase=NAME]... [--dist=FOLDER] [--store=embedded|memory|etcd] [--nodes=…] [--churn=…] [--cluster=…]
                   [--etcd=BINARY] [--kube-apiserver=BINARY]

CPU time of the server per operation, over loads that run in a process of their own.

  --phase   one phase; may be given several times. Without it, all of them run, in this order:
            ${Object.keys(PHASES).join(' ')}
  --dist    the built server to measure: dist beside this folder (\`npm run build\` makes it)
  --store   where the server keeps its objects: embedded
  --etcd, --kube-apiserver
            binaries for the phase \`store\`: etcd beside the store, and a kube-apiserver on each of them
  --nodes   how many nodes the phase \`nodes\` simulates, ascending: 100,1000,4000,10000
  --churn   how many creates, updates and deletes the phase \`churn\` sends: 200000
  --cluster how many nodes and pods the phase \`cluster\` has, and for how many seconds it lives: 5000,50000,120
  --etcd, --kube-apiserver   of the phase \`store\`: what to measure beside the store, and on it; each only where it is given

The lines are also written to bench/last-run.json. The exit code is 1 when a phase failed; a line over its limit is only named.`;

if (options.help) {
  console.log(HELP);
  process.exit(0);
}
const unknown = options.phase.filter((name) => !Object.hasOwn(PHASES, name));
if (unknown.length > 0) {
  console.error(`there is no phase ${unknown.join(', ')}; the phases are ${Object.keys(PHASES).join(' ')}`);
  process.exit(2);
}
if (options.etcd !== undefined) process.env.BINNACLE_ETCD = options.etcd;

/** Across the network more is to be done: a round trip for all readers that wait, one for each write. */
const limits = options.store === 'etcd' ? { getUs: 90, createUs: 350 } : { getUs: 40, createUs: 170 };

const rows = [];
function record(what, value, unit, limit, more = '') {
  const shown = value.toFixed(unit === '×' ? 2 : 1);
  rows.push({ what, value: Number(shown), unit, limit, more });
  console.log(`${what.padEnd(46)} ${shown.padStart(9)} ${unit.padEnd(3)} ${limit === undefined ? ''.padEnd(14) : `(limit ${limit})`.padEnd(14)} ${more}`);
}

/** The other side, in a process of its own. */
function startLoad(server, file) {
  const child = fork(new URL(file, import.meta.url));
  const gone = new Promise((_, reject) => child.on('exit', (code) => reject(new Error(`the load's process ended by itself with code ${code}`))));
  gone.catch(() => {});
  const answered = () =>
    new Promise((resolve, reject) => child.once('message', ({ error, ...result }) => (error ? reject(new Error(error)) : resolve(result))));
  const next = () => Promise.race([answered(), gone]);
  return {
    run(task, settings) {
      const answer = next();
      child.send({ task, settings: { port: server.port, token: server.token, ...settings } });
      return answer;
    },
    next,
    go: () => child.send('go'),
    stop: () => child.kill(),
  };
}

/** Runs a phase on a server of its own, which is stopped whatever happens. */
async function withServer(measure, { limitMs = PHASE_LIMIT_MS, load: file = './load.mjs', ...more } = {}) {
  const server = await startServer({ ...options, ...more });
  const load = startLoad(server, file);
  const tooLate = new Promise((resolve) => setTimeout(resolve, limitMs, `took longer than ${limitMs / 1000} s`).unref());
  try {
    const failure = await Promise.race([measure(server, load), tooLate, server.gone]);
    if (failure !== undefined) throw new Error(failure);
  } finally {
    load.stop();
    await server.stop();
  }
}

/** CPU microseconds of the server per operation, over one run of the load. */
async function perOperation(server, load, task, settings) {
  const beforeMs = server.cpuMs();
  const { p50Ms, p99Ms } = await load.run(task, settings);
  return { us: ((server.cpuMs() - beforeMs) * 1000) / settings.count, more: `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms` };
}

function clusterSize() {
  const [nodes, podCount, seconds] = options.cluster.split(',').map(Number);
  return { nodes, pods: podCount, seconds };
}

const STARTS = 9;
const IDLE_MS = 3000;

async function startUp() {
  const starts = [];
  for (let i = 0; i < STARTS; i++) {
    const server = await startServer(options);
    const cpuMs = server.cpuMs();
    if (i === 0) await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    starts.push({ readyMs: server.readyMs, cpuMs, memoryMiB: server.memoryMiB() });
    await server.stop();
  }
  const sorted = (pick) => starts.map(pick).toSorted((a, b) => a - b);
  const times = sorted(({ readyMs }) => readyMs);
  const middle = STARTS >> 1;
  record('start to ready, fresh embedded store', times[middle], 'ms', 200, `of ${STARTS}: ${times.map((ms) => ms.toFixed(0)).join(' ')}`);
  record('CPU until then', sorted(({ cpuMs }) => cpuMs)[middle], 'ms');
  record('idle memory', starts[0].memoryMiB, 'MiB', 70);
}

const COLLECTION = '/api/v1/namespaces/default/configmaps';
/** With metadata and managedFields, an object of these is 1 KiB. */
const VALUE_BYTES = 550;

async function gets(server, load) {
  await load.run('create', { count: 1, inFlight: 1, prefix: 'one-', valueBytes: VALUE_BYTES });
  const path = `${COLLECTION}/one-0`;
  for (const version of [2, 1]) {
    await perOperation(server, load, 'get', { path, version, count: 10_000, inFlight: 64 });
    const { us, more } = await perOperation(server, load, 'get', { path, version, count: 40_000, inFlight: 64 });
    record(`GET of a 1 KiB configmap, HTTP/${version}, 64 in flight`, us, 'µs', limits.getUs, more);
  }
}

const OBJECTS = 10_000;
/** V8 compiles what runs often, on threads that count as the server's: of a server's life these are the first seconds, and told apart. */
const WARM_UP_WRITES = 10_000;

/** A write as it costs once the server is warm, and before. */
async function writes(server, load, what, task, settings, limit) {
  const first = await perOperation(server, load, task, { ...settings, prefix: 'warm-', namespace: settings.warmUpNamespace, count: WARM_UP_WRITES });
  const { us, more } = await perOperation(server, load, task, { ...settings, prefix: 'made-', count: OBJECTS });
  record(what, us, 'µs', limit, `${more}; the first ${WARM_UP_WRITES} after the start ${first.us.toFixed(0)} µs`);
}

async function creates(server, load) {
  // Elsewhere, so that as many are listed as were made.
  const settings = { valueBytes: VALUE_BYTES, inFlight: 64, warmUpNamespace: 'kube-public' };
  await writes(server, load, 'CREATE of a 1 KiB configmap, 64 in flight', 'create', settings, limits.createUs);
  record('memory with 20,000 configmaps of 1 KiB', server.memoryMiB(), 'MiB');
  await perOperation(server, load, 'get', { path: COLLECTION, version: 2, count: 10, inFlight: 1 });
  const listed = await perOperation(server, load, 'get', { path: COLLECTION, version: 2, count: 40, inFlight: 1 });
  record('LIST of 10,000 configmaps', listed.us / 1000, 'ms', 10, listed.more);
  record('memory after these lists', server.memoryMiB(), 'MiB');
  const changed = await listsBetweenChanges(server, load, 40);
  record('LIST of 10,000 configmaps, one made before each', changed.us / 1000, 'ms', 10);
  const page = { path: `${COLLECTION}?limit=1000`, version: 2, inFlight: 1 };
  await perOperation(server, load, 'get', { ...page, count: 50 });
  const paged = await perOperation(server, load, 'get', { ...page, count: 200 });
  record('LIST of 1,000 of them', paged.us, 'µs', 1_200, paged.more);
  await perOperation(server, load, 'patch', { prefix: 'warm-', namespace: 'kube-public', count: WARM_UP_WRITES, inFlight: 64 });
  const patched = await perOperation(server, load, 'patch', { prefix: 'made-', count: OBJECTS, inFlight: 64 });
  record('merge PATCH of a 1 KiB configmap, 64 in flight', patched.us, 'µs', 250, patched.more);
}

/** The creates are taken off: what is left is what the lists cost. */
async function listsBetweenChanges(server, load, count) {
  const [beforeMs, once] = [server.cpuMs(), { count: 1, inFlight: 1 }];
  let createdMs = 0;
  for (let i = 0; i < count; i++) {
    const startMs = server.cpuMs();
    await load.run('create', { prefix: `between-${i}-`, valueBytes: VALUE_BYTES, ...once });
    createdMs += server.cpuMs() - startMs;
    await load.run('get', { path: COLLECTION, version: 2, ...once });
  }
  return { us: ((server.cpuMs() - beforeMs - createdMs) * 1000) / count };
}

/** Every one changes the image, as a release does. */
async function applies(server, load) {
  await writes(server, load, 'APPLY of a deployment, 16 in flight', 'apply', { deployments: 50, inFlight: 16 }, 450);
}

async function pods(server, load) {
  const account = { path: '/api/v1/namespaces/default/serviceaccounts', body: '{"metadata":{"name":"default"}}' };
  await load.run('post', { ...account, prefix: '', count: 1, inFlight: 1 });
  const settings = { resource: 'pods', inFlight: 64 };
  await writes(server, load, 'CREATE of a pod, 64 in flight', 'create', settings, 330);
  await perOperation(server, load, 'remove', { ...settings, prefix: 'warm-', count: WARM_UP_WRITES });
  const removed = await perOperation(server, load, 'remove', { ...settings, prefix: 'made-', count: OBJECTS });
  record('DELETE of a pod, 64 in flight', removed.us, 'µs', 330, removed.more);
}

async function customCreates(server, load) {
  await load.run('post', { ...machines, prefix: '', count: 1, inFlight: 1 });
  await writes(server, load, 'CREATE of a custom object, 64 in flight', 'post', { ...machine, inFlight: 64 }, 220);
}

async function proxy() {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'));
  try {
    await withServer((server, load) => proxyCosts(server, folder, (settings) => perOperation(server, load, 'get', settings), record), { folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function rules() {
  const measured = await measureRules();
  const { rule, us } = measured.reduce((most, one) => (one.us > most.us ? one : most));
  record('a rule of a definition, the slowest of ordinary ones', us, 'µs', 5, `${rule}; of all: ${measured.map((one) => one.us.toFixed(1)).join(' ')}`);
}

const DEFINITIONS = 1000;

/** One after the other, in four parts: the last must cost what the first did. Then the server is started again with them. */
async function manyDefinitions() {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-'));
  try {
    await withServer(installDefinitions, { folder });
    await withServer(async ({ readyMs, memoryMiB }) => record('start with 1,000 definitions', readyMs, 'ms', 1000, `${memoryMiB().toFixed(0)} MiB`), {
      folder,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function installDefinitions(server, load) {
  const beforeMiB = server.memoryMiB();
  const startMs = performance.now();
  const parts = [];
  for (const part of ['a', 'b', 'c', 'd']) {
    const { us } = await perOperation(server, load, 'post', { ...definitions, prefix: part, count: DEFINITIONS / 4, inFlight: 1 });
    parts.push(us / 1000);
  }
  const tookS = (performance.now() - startMs) / 1000;
  record('1,000 definitions installed in a row', tookS, 's', 20, `CPU of each, by quarter: ${parts.map((ms) => ms.toFixed(1)).join(' ')} ms`);
  record('memory that they take', server.memoryMiB() - beforeMiB, 'MiB', 150);
  await scrapeCosts(
    server,
    ['a', 'b', 'c', 'd'].flatMap((part) => Array.from({ length: DEFINITIONS / 4 }, (_, i) => `${part}${i}`)),
    record,
  );
}

const WATCHERS = 1000;
const EVENTS = 60;

async function fanOut(server, load, version, limitUs) {
  await load.run('create', { count: 1, inFlight: 1, prefix: 'watched-', valueBytes: VALUE_BYTES });
  await load.run('watch', { name: 'watched-0', watchers: WATCHERS, events: EVENTS, valueBytes: VALUE_BYTES, version });
  const beforeMs = server.cpuMs();
  const done = load.next();
  load.go();
  await done;
  record(
    `a watch event to 1,000 watchers, HTTP/${version}, each`,
    ((server.cpuMs() - beforeMs) * 1000) / (WATCHERS * EVENTS),
    'µs',
    limitUs,
    `${server.memoryMiB().toFixed(0)} MiB with them`,
  );
}

/** What the disk gives: the floor under every create that waits for it. */
function syncMs() {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-sync-'));
  const file = openSync(join(folder, 'f'), 'w');
  const startMs = performance.now();
  for (let i = 0; i < 100; i++) {
    writeSync(file, Buffer.alloc(1024));
    fdatasyncSync(file);
  }
  const eachMs = (performance.now() - startMs) / 100;
  rmSync(folder, { recursive: true });
  return eachMs;
}

console.log(`node ${process.version}, load average ${loadavg()[0].toFixed(1)}, one fdatasync ${syncMs().toFixed(2)} ms\n`);
const failures = [];
for (const name of options.phase) await PHASES[name]().catch((error) => failures.push(`${name}: ${error.message}`));
writeFileSync(
  new URL('./last-run.json', import.meta.url),
  `${JSON.stringify({ node: process.version, at: new Date().toISOString(), loadAverage: loadavg()[0], rows, failures }, null, 1)}\n`,
);
const over = rows.filter(({ value, limit }) => limit !== undefined && value > limit);
if (over.length > 0) console.log(`\nover the limit: ${over.map(({ what }) => what).join('; ')}`);
else if (failures.length === 0) console.log('\nall within their limits');
for (const failure of failures) console.error(`failed: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
