#!/usr/bin/env node
// What the server costs, in its own CPU time per operation. `npm run bench` builds first. Limits are those the project holds itself to.
import { fork } from 'node:child_process';
import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from './server.mjs';

const rows = [];
const record = (what, value, unit, limit, more = '') => {
  rows.push({ what, value: Number(value.toFixed(1)), unit, limit, more });
  console.log(`${what.padEnd(46)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(3)} ${limit === undefined ? ''.padEnd(14) : `(limit ${limit})`.padEnd(14)} ${more}`);
};

function loader() {
  const child = fork(new URL('./load.mjs', import.meta.url));
  const next = () => new Promise((resolve) => child.once('message', resolve));
  return {
    run(task, options) {
      const answer = next();
      child.send({ task, options });
      return answer;
    },
    next,
    go: () => child.send('go'),
    stop: () => child.disconnect(),
  };
}

/** CPU microseconds of the server per operation, over one run of the load. */
async function perOperation(server, load, task, options) {
  const beforeMs = server.cpuMs();
  const { p50Ms, p99Ms } = await load.run(task, { port: server.port, token: server.token, ...options });
  return { us: ((server.cpuMs() - beforeMs) * 1000) / options.count, more: `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms` };
}

async function startUp() {
  const times = [];
  let memoryMiB = 0;
  for (let i = 0; i < 7; i++) {
    const server = await startServer({ backend: 'embedded' });
    times.push(server.readyMs);
    if (i === 0) await new Promise((resolve) => setTimeout(resolve, 3000));
    if (i === 0) memoryMiB = server.memoryMiB();
    await server.stop();
  }
  times.sort((a, b) => a - b);
  record('start to ready, fresh embedded store', times[3], 'ms', 300, `of 7: ${times.map((ms) => ms.toFixed(0)).join(' ')}`);
  record('idle memory', memoryMiB, 'MiB', 110);
}

async function requests() {
  const server = await startServer({ backend: 'embedded' });
  const load = loader();
  await load.run('create', { port: server.port, token: server.token, count: 1, inFlight: 1, prefix: 'one-', valueBytes: 700 });
  const path = '/api/v1/namespaces/default/configmaps/one-0';
  await perOperation(server, load, 'get', { path, version: 2, count: 10_000, inFlight: 64 });
  for (const version of [2, 1]) {
    const { us, more } = await perOperation(server, load, 'get', { path, version, count: 40_000, inFlight: 64 });
    record(`GET of a 1 KiB configmap, HTTP/${version}, 64 in flight`, us, 'µs', 60, more);
  }
  await perOperation(server, load, 'create', { prefix: 'warm-', valueBytes: 700, count: 3000, inFlight: 64 });
  const created = await perOperation(server, load, 'create', { prefix: 'made-', valueBytes: 700, count: 10_000 - 3001, inFlight: 64 });
  record('CREATE of a 1 KiB configmap, 64 in flight', created.us, 'µs', 250, created.more);
  await perOperation(server, load, 'get', { path: '/api/v1/namespaces/default/configmaps', version: 2, count: 5, inFlight: 1 });
  const listed = await perOperation(server, load, 'get', { path: '/api/v1/namespaces/default/configmaps', version: 2, count: 40, inFlight: 1 });
  record('LIST of 10,000 configmaps', listed.us / 1000, 'ms', 15, listed.more);
  record('memory with 10,000 configmaps of 1 KiB', server.memoryMiB(), 'MiB');
  load.stop();
  await server.stop();
}

async function fanOut(version) {
  const server = await startServer({ backend: 'embedded' });
  const load = loader();
  await load.run('create', { port: server.port, token: server.token, count: 1, inFlight: 1, prefix: "watched", valueBytes: 1024 }).catch(() => {});
  const [watchers, events] = [1000, 60];
  const opened = load.run('watch', { port: server.port, token: server.token, watchers, events, version });
  await opened;
  const beforeMs = server.cpuMs();
  const done = load.next();
  load.go();
  await done;
  record(`a watch event to 1,000 watchers, HTTP/${version}, each`, ((server.cpuMs() - beforeMs) * 1000) / (watchers * events), 'µs', 20);
  load.stop();
  await server.stop();
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
await startUp();
await requests();
await fanOut(2);
await fanOut(1);
writeFileSync(new URL('./last-run.json', import.meta.url), `${JSON.stringify({ node: process.version, at: new Date().toISOString(), loadAverage: loadavg()[0], rows }, null, 1)}\n`);
const over = rows.filter(({ value, limit }) => limit !== undefined && value > limit);
console.log(over.length === 0 ? '\nall within their limits' : `\nover the limit: ${over.map(({ what }) => what).join('; ')}`);
