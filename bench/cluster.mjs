// A cluster of thousands of nodes at work for two minutes: whether one server holds it, at which CPU, memory and latencies.
const IN_FLIGHT = 16;
const INFORMERS = 10;
const PODS_A_SECOND = 20;
const LIMIT_MS = 3_600_000;

/** Upstream's service level objectives (kubernetes/community sig-scalability/slos/api_call_latency.md). */
const ONE_OBJECT_LIMIT_MS = 1_000;
const LIST_LIMIT_MS = 30_000;

/** `size`: `nodes`, `pods`, and for how many `seconds`. */
export const cluster = ({ withServer, perOperation, record, size }) =>
  withServer((server, load) => measure(server, load, perOperation, record, size), { load: './cluster-load.mjs', limitMs: LIMIT_MS });

async function measure(server, load, perOperation, record, { nodes, pods, seconds }) {
  const of = `${nodes.toLocaleString('en')} nodes, ${pods.toLocaleString('en')} pods`;
  await load.run('prepare', {});
  const join = await perOperation(server, load, 'join', { count: nodes, inFlight: IN_FLIGHT });
  record('cluster: a node joins', join.us, 'µs', undefined, join.more);
  const filled = await perOperation(server, load, 'pods', { count: pods, inFlight: IN_FLIGHT });
  record('cluster: CREATE of a pod, while it is filled', filled.us, 'µs', undefined, filled.more);
  const { lists } = await load.run('inform', { count: INFORMERS });
  latencies(`cluster: ${INFORMERS} informers' first lists`, lists, LIST_LIMIT_MS);

  const [startMs, startCpuMs] = [performance.now(), server.cpuMs()];
  const live = await load.run('live', { seconds, podsASecond: PODS_A_SECOND, pods });
  const share = (100 * (server.cpuMs() - startCpuMs)) / (performance.now() - startMs);
  record('cluster: CPU of the server, of one core', share, '%', undefined, `${of}, ${live.events.toLocaleString('en')} events to informers in ${seconds} s`);
  record('cluster: memory of the server', server.memoryMiB(), 'MiB');
  latencies('cluster: a lease renewed', live.renewals, ONE_OBJECT_LIMIT_MS);
  latencies('cluster: a pod created or deleted', live.writes, ONE_OBJECT_LIMIT_MS);
  latencies('cluster: GET of a pod', live.reads, ONE_OBJECT_LIMIT_MS);
  latencies('cluster: LIST of all nodes', live.lists, LIST_LIMIT_MS);

  function latencies(what, { count, failed, p50Ms, p99Ms, maxMs }, limitMs) {
    record(`${what}, p99`, p99Ms, 'ms', limitMs, `p50 ${p50Ms.toFixed(1)}, longest ${maxMs.toFixed(0)} ms, of ${count.toLocaleString('en')}`);
    if (failed > 0) throw new Error(`${what}: ${failed} of ${count + failed} failed`);
  }
}
