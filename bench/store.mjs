// `binnacle store` as the store of API servers, beside etcd on the same disk where a binary of it is given, by turns.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd } from './etcd.mjs';
import { fromSource } from './from-source.mjs';
import { startKubeApiserver } from './kube-apiserver.mjs';
import { cpuMs, freePort } from './server.mjs';

const VALUE_BYTES = 1_000;
/** Each store is measured so often; the middle counts. */
const ROUNDS = 5;
const LOADS = [
  { what: '64 writers', inFlight: 64, count: 20_000 },
  { what: 'one writer', inFlight: 1, count: 1_500 },
];

/** Started as its users do; what it stores goes when it stops. */
async function startStore(dist) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-store-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const args = [join(dist, 'binnacle.js'), 'store', '--data-dir', folder, '--listen-client-urls', url];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = new Promise((resolve) => child.on('exit', resolve));
  await new Promise((resolve) => child.stderr.once('data', resolve));
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const middle = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** CPU of the store for each create, and creates in a second, by turns: what else the machine does hits both. */
async function measure(stores, prefixOf, load) {
  const results = new Map(stores.map(({ name }) => [name, { us: [], perSecond: [] }]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const store of stores) {
      const beforeMs = cpuMs(store.pid);
      const { count, seconds } = await load(store, prefixOf(round));
      results.get(store.name).us.push(((cpuMs(store.pid) - beforeMs) * 1000) / count);
      results.get(store.name).perSecond.push(count / seconds);
    }
  }
  return (name) => ({ us: middle(results.get(name).us), perSecond: middle(results.get(name).perSecond) });
}

function recordBoth(record, what, resultOf, hasEtcd) {
  const own = resultOf('binnacle store');
  const etcd = hasEtcd ? resultOf('etcd') : undefined;
  record(`${what}: CPU of binnacle store, a create`, own.us, 'µs', etcd && Number((etcd.us / 2).toFixed(1)), etcd ? `etcd ${etcd.us.toFixed(1)} µs` : '');
  record(`${what}: creates a second`, own.perSecond, '', undefined, etcd ? `etcd ${etcd.perSecond.toFixed(0)}` : '');
  if (etcd) record(`${what}: creates of etcd for one of ours`, etcd.perSecond / own.perSecond, '', 1);
}

export async function storeCosts({ record, dist, etcd: hasEtcd, kubeApiserver }) {
  const { writeKeys } = await fromSource('store-writers');
  const stores = [{ name: 'binnacle store', ...(await startStore(dist)) }];
  if (hasEtcd) stores.push({ name: 'etcd', ...(await startEtcd(freePort)) });
  try {
    for (const store of stores) await writeKeys(store.url, { prefix: '/warm/', count: 5_000, inFlight: 64, valueBytes: VALUE_BYTES });
    for (const { what, inFlight, count } of LOADS) {
      const load = async ({ url }, prefix) => ({ count, ...(await writeKeys(url, { prefix, count, inFlight, valueBytes: VALUE_BYTES })) });
      recordBoth(record, what, await measure(stores, (round) => `/${inFlight}/${round}/`, load), hasEtcd);
    }
    if (kubeApiserver !== undefined) await throughKubeApiserver({ record, stores, binary: kubeApiserver, hasEtcd });
  } finally {
    await Promise.all(stores.map((store) => store.stop()));
  }
}

/** Some seconds of work: in fewer, what V8 compiles and collects in them by chance decides. */
const OBJECTS = 10_000;
const WARM_OBJECTS = 10_000;

/** Creates of configmaps by 64 clients of a kube-apiserver on each store. */
async function throughKubeApiserver({ record, stores, binary, hasEtcd }) {
  const servers = new Map();
  try {
    for (const { name, url } of stores) servers.set(name, await startKubeApiserver(binary, url));
    for (const server of servers.values()) await server.create('warm-', WARM_OBJECTS);
    const load = async ({ name }, prefix) => ({ count: OBJECTS, seconds: await servers.get(name).create(prefix, OBJECTS) });
    recordBoth(record, 'kube-apiserver, 64 clients', await measure(stores, (round) => `made-${round}-`, load), hasEtcd);
  } finally {
    await Promise.all([...servers.values()].map((server) => server.stop()));
  }
}
