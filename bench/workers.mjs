// What several workers (`--workers`) cost, all processes together, beside one process: by turns, so that what else the machine does hits both.
import { fork } from 'node:child_process';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const OBJECTS = 10_000;
const ROUNDS = 9;
const WORKERS = 2;
const LISTERS = 4;
const P99_LIMIT_MS = 5;
const WARM_UP_CREATES = 15_000;
const WARM_UP_GETS = 10_000;
const WARM_UP_LISTS = 12;
const WARM_UP_EVENTS = 120;
const WATCHERS = 200;

/** Each with how much more all processes together may take than one: of the rounds, the middle, as the machine's speed may change from one to the next. */
const OPERATIONS = [
  { what: 'GET', limit: 1.25, measure: (kit) => kit.get({ path: `${COLLECTION}/made-0`, version: 1, count: 10_000, inFlight: 64 }) },
  { what: 'LIST of 10,000', limit: 1.25, measure: (kit) => kit.get({ path: COLLECTION, version: 1, count: 24, inFlight: 2 }) },
  {
    what: `watch event to ${WATCHERS} watchers`,
    limit: 1.25,
    measure: (kit, round) => kit.watch({ name: `made-${round}`, watchers: WATCHERS, events: 60, version: 1 }),
  },
  { what: 'CREATE', limit: 1.5, measure: (kit, round) => kit.create({ prefix: `round-${round}-`, namespace: 'kube-public', count: 6_000, inFlight: 64 }) },
];

const middle = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** What is done to one server; each answers with CPU microseconds of an operation. */
function kitOf({ server, load, perOperation, valueBytes }) {
  return {
    get: async (settings) => (await perOperation(server, load, 'get', settings)).us,
    create: async (settings) => (await perOperation(server, load, 'create', { valueBytes, version: 1, ...settings })).us,
    async watch({ watchers, events, ...settings }) {
      await load.run('watch', { watchers, events, valueBytes, ...settings });
      const beforeMs = server.cpuMs();
      const done = load.next();
      load.go();
      await done;
      return ((server.cpuMs() - beforeMs) * 1000) / (watchers * events);
    },
  };
}

export async function workerCosts({ withServer, perOperation, record, valueBytes }) {
  const limitMs = 600_000;
  await withServer(
    (alone, aloneLoad) =>
      withServer(
        async (several, severalLoad) => {
          const kits = [
            kitOf({ server: alone, load: aloneLoad, perOperation, valueBytes }),
            kitOf({ server: several, load: severalLoad, perOperation, valueBytes }),
          ];
          for (const kit of kits) await kit.create({ prefix: 'made-', count: OBJECTS, inFlight: 64 });
          // V8 compiles in each process for itself: each has as much behind it.
          for (const [i, kit] of kits.entries()) await warm(kit, i === 0 ? 1 : WORKERS);
          for (const { what, limit, measure } of OPERATIONS) recordRatio(record, `${what}, two workers for one process`, limit, await byTurns(kits, measure));
          record('memory of two workers and the primary', several.memoryMiB(), 'MiB', undefined, `one process ${alone.memoryMiB().toFixed(0)} MiB`);
          await getsDuringLists(several, severalLoad, record);
        },
        { limitMs, flags: [`--workers=${WORKERS}`] },
      ),
    { limitMs },
  );
}

async function warm(kit, processes) {
  await kit.create({ prefix: 'warm-', namespace: 'kube-node-lease', count: processes * WARM_UP_CREATES, inFlight: 64 });
  await kit.get({ path: `${COLLECTION}/made-0`, version: 1, count: processes * WARM_UP_GETS, inFlight: 64 });
  await kit.get({ path: COLLECTION, version: 1, count: processes * WARM_UP_LISTS, inFlight: 2 });
  // Connections are dealt in turn: each process has its part of the watchers, and sees every event.
  await kit.watch({ name: 'made-0', watchers: WATCHERS, events: processes * WARM_UP_EVENTS, version: 1 });
}

async function byTurns(kits, measure) {
  const figures = kits.map(() => []);
  for (let round = 0; round < ROUNDS; round++) for (const [i, kit] of kits.entries()) figures[i].push(await measure(kit, round));
  return figures;
}

function recordRatio(record, what, limit, [alone, several]) {
  const ratios = several.map((us, round) => us / alone[round]);
  const shown = ratios.toSorted((a, b) => a - b).map((ratio) => ratio.toFixed(2));
  record(what, middle(ratios), '×', limit, `${middle(alone).toFixed(1)} µs, ${middle(several).toFixed(1)} µs; rounds ${shown.at(0)} to ${shown.at(-1)}`);
}

/** Four clients list without pause, each on a connection of its own, while another asks for one object. */
async function getsDuringLists(server, load, record) {
  const listers = fork(new URL('./load.mjs', import.meta.url));
  try {
    const settings = { port: server.port, token: server.token, path: COLLECTION, version: 1, count: Infinity, inFlight: LISTERS };
    listers.send({ task: 'get', settings });
    const { p50Ms, p99Ms } = await load.run('get', { path: `${COLLECTION}/made-0`, version: 1, count: 2_000, inFlight: 1 });
    record('GET while four clients list 10,000, p99', p99Ms, 'ms', P99_LIMIT_MS, `p50 ${p50Ms.toFixed(2)} ms`);
  } finally {
    listers.kill();
  }
}
