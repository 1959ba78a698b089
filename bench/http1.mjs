#!/usr/bin/env node
// CPU of the server per request over HTTP/1.1 and TLS, of two builds or more in alternation: `node bench/http1.mjs --dist=A --dist=B [--rounds=5]`.
// It is how src/http1/README.md's figures were made: one build with our server, one with node:http in its place.
import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { startServer } from './server.mjs';

const { values: options } = parseArgs({ options: { dist: { type: 'string', multiple: true, default: ['dist'] }, rounds: { type: 'string', default: '5' } } });

const VALUE_BYTES = 550;
const [GETS, CREATES, WATCHERS, EVENTS] = [20_000, 4000, 500, 40];

function startLoad({ port, token }) {
  const child = fork(new URL('./load.mjs', import.meta.url));
  const next = () => new Promise((resolve, reject) => child.once('message', ({ error, ...result }) => (error ? reject(new Error(error)) : resolve(result))));
  const run = (task, settings) => {
    const answer = next();
    child.send({ task, settings: { port, token, version: 1, inFlight: 32, ...settings } });
    return answer;
  };
  return { run, next, go: () => child.send('go'), stop: () => child.kill() };
}

/** Microseconds per request: of a GET, a CREATE, and of one watch event to one watcher. */
async function measure(dist) {
  const server = await startServer({ dist });
  const load = startLoad(server);
  const perRequest = async (count, run) => {
    const beforeMs = server.cpuMs();
    await run();
    return ((server.cpuMs() - beforeMs) * 1000) / count;
  };
  try {
    await load.run('create', { count: 1, prefix: 'watched-', valueBytes: VALUE_BYTES });
    const path = '/api/v1/namespaces/default/configmaps/watched-0';
    const get = () => load.run('get', { path, count: GETS });
    const create = (prefix) => load.run('create', { prefix, count: CREATES, valueBytes: VALUE_BYTES, namespace: 'kube-public' });
    await get();
    await create('warm-');
    const costs = { get: await perRequest(GETS, get), create: await perRequest(CREATES, () => create('made-')) };
    await load.run('watch', { name: 'watched-0', watchers: WATCHERS, events: EVENTS, valueBytes: VALUE_BYTES });
    costs.watch = await perRequest(WATCHERS * EVENTS, () => {
      const done = load.next();
      load.go();
      return done;
    });
    return costs;
  } finally {
    load.stop();
    await server.stop();
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const results = new Map(options.dist.map((dist) => [dist, { get: [], create: [], watch: [] }]));
for (let round = 0; round < Number(options.rounds); round++) {
  for (const [dist, columns] of results) {
    const costs = await measure(dist);
    for (const [what, us] of Object.entries(costs)) columns[what].push(us);
    console.log(
      dist,
      Object.entries(costs)
        .map(([what, us]) => `${what} ${us.toFixed(1)}`)
        .join(', '),
      'µs',
    );
  }
}
for (const [dist, columns] of results)
  for (const [what, all] of Object.entries(columns))
    console.log(
      `${dist} ${what.padEnd(7)} median ${median(all).toFixed(1)} µs, of ${all
        .toSorted((a, b) => a - b)
        .map((us) => us.toFixed(1))
        .join(' ')}`,
    );
