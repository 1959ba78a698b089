// Clusters of more and more nodes, each with a connection, a lease and a watch of the pods bound to it: what one more node, pod or renewal costs the server.
const IN_FLIGHT = 16;
const PODS = 3_000;
const RENEWALS = 4_000;
/** V8 compiles what runs often: before anything is measured, so much has run. */
const WARM_UP_NODES = 500;
const WARM_UP_PODS = 6_000;
const WARM_UP_RENEWALS = 4_000;
/** The collection that gives memory back (src/cli/idle-memory.ts) takes some of what V8 has compiled with it: so much runs again before a size is measured. */
const WARM_AGAIN_PODS = 6_000;
/** Memory is read when the server has come to rest, and given back what it took for the busy time (src/cli/idle-memory.ts). */
const REST_MS = 20_000;
const LIMIT_MS = 1_200_000;
const WARM_UP_CONNECTIONS = 300;
const CONNECTIONS = 4_000;
/** Of fewer nodes, what each takes is lost in what the server takes by itself. */
const MEASURABLE_NODES = 1_000;

const POD_LIMIT_US = 450;
/** What a pod may cost with many nodes, in parts of what it may cost with the fewest. */
const POD_GROWTH_LIMIT = 1.2;
const JOIN_LIMIT_US = 2_000;
const RENEWAL_LIMIT_US = 200;
const MEMORY_LIMIT_KIB = 40;

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

/** `withServer(measure, settings)` runs a server, `perOperation` one load, `record` takes a line of the result. `sizes` ascend. */
export async function manyNodes({ withServer, perOperation, record, sizes }) {
  const settings = { load: './node-load.mjs', limitMs: LIMIT_MS };
  const runOn = (server, load) => (task, limits) => perOperation(server, load, task, { inFlight: IN_FLIGHT, ...limits });
  await withServer((server, load) => connections(server, load, runOn(server, load), record), settings);
  await withServer((server, load) => measure(server, load, runOn(server, load), record, sizes), settings);
}

/** On a server of its own: what others have let go of would be used again, and not be seen. */
async function connections(server, load, run, record) {
  await run('connect', { prefix: 'warm-', count: WARM_UP_CONNECTIONS });
  await load.run('leave', {});
  await rest();
  const idleMiB = server.memoryMiB();
  await run('connect', { prefix: 'node-', count: CONNECTIONS });
  await rest();
  const takenMiB = server.memoryMiB() - idleMiB;
  const what = `memory of a connection with a watch, of ${CONNECTIONS.toLocaleString('en')}`;
  record(what, (takenMiB * 1024) / CONNECTIONS, 'KiB', MEMORY_LIMIT_KIB, `${takenMiB.toFixed(0)} MiB`);
}

async function measure(server, load, run, record, sizes) {
  await load.run('prepare', {});
  await run('join', { prefix: 'warm-', count: WARM_UP_NODES });
  await run('pods', { prefix: 'warm-', count: WARM_UP_PODS });
  await renew(run, WARM_UP_RENEWALS);
  await load.run('leave', {});
  await rest();
  const idleMiB = server.memoryMiB();
  let [joined, first] = [0, undefined];
  for (const size of sizes) {
    const of = size.toLocaleString('en');
    const join = await run('join', { prefix: 'node-', count: size - joined });
    record(`a node joins, up to ${of}`, join.us, 'µs', JOIN_LIMIT_US, join.more);
    joined = size;
    if (size >= MEASURABLE_NODES) await recordMemory(size);
    await run('pods', { prefix: `again-${size}-`, count: WARM_AGAIN_PODS });
    await renew(run, WARM_AGAIN_PODS);
    const pod = await run('pods', { prefix: `of-${size}-`, count: PODS });
    const growth = first === undefined ? '' : `, ${(pod.us / first).toFixed(2)} × that of ${sizes[0]}`;
    const limit = first === undefined ? POD_LIMIT_US : POD_LIMIT_US * POD_GROWTH_LIMIT;
    record(`CREATE of a pod on one of ${of} nodes`, pod.us, 'µs', limit, pod.more + growth);
    first ??= pod.us;
    const { put, patch } = await renew(run, RENEWALS);
    record(`a lease renewed by PUT, ${of} nodes`, put.us, 'µs', RENEWAL_LIMIT_US, put.more);
    record(`a lease renewed by merge patch, ${of} nodes`, patch.us, 'µs', RENEWAL_LIMIT_US, patch.more);
  }

  /** With the objects of each, a node and a lease, and pods that were made before. */
  async function recordMemory(size) {
    await rest();
    const takenMiB = server.memoryMiB() - idleMiB;
    record(`memory of a node and its objects, of ${size.toLocaleString('en')}`, (takenMiB * 1024) / size, 'KiB', undefined, `${takenMiB.toFixed(0)} MiB`);
  }
}

const renew = async (run, count) => ({ put: await run('renew', { isPatch: false, count }), patch: await run('renew', { isPatch: true, count }) });
