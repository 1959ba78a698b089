// A cluster at work, in a process of its own: nodes that renew their leases, pods that come and go, informers that follow everything, and readers.
import { drive } from './drive.mjs';
import { Latencies } from './latencies.mjs';
import { LeanConnection } from './lean-http2.mjs';
import { pod } from './objects.mjs';
import { SimulatedNode } from './simulated-node.mjs';

const PODS = '/api/v1/namespaces/default/pods';
const WRITER_CONNECTIONS = 4;
/** What an informer lists and then watches. */
const FOLLOWED = [
  '/api/v1/pods',
  '/api/v1/nodes',
  '/apis/coordination.k8s.io/v1/leases',
  '/api/v1/namespaces',
  '/api/v1/services',
  '/api/v1/configmaps',
  '/api/v1/serviceaccounts',
  '/apis/discovery.k8s.io/v1/endpointslices',
  '/apis/apps/v1/replicasets',
];
/** Lists of fifty thousand pods are answers of a hundred MiB. */
const INFORMER_WINDOW_BYTES = 1 << 30;
const LEASE_MS = 10_000;
const READS_A_SECOND = 50;
const LIST_EVERY_MS = 5_000;
/** So many of the pods that were made meanwhile live at a time. */
const PASSING_PODS = 200;

process.on('message', ({ task, settings }) => {
  TASKS[task](settings).then(
    (result) => process.send(result),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));

const nodes = [];
let writers = [];
let events = 0;
const renewing = new Set();

const writerOf = (i) => writers[i % writers.length];
const bodyOf = (name, i) => pod(name, nodes[i % nodes.length].name);

/** Calls back so many times a second until the time is over, and waits for what was begun. */
async function everySecond(times, endMs, act) {
  const startMs = performance.now();
  const begun = [];
  for (let i = 0; performance.now() < endMs; i++) {
    const dueMs = startMs + (i * 1000) / times;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    begun.push(act(i));
  }
  await Promise.all(begun);
}

async function follow(connection, path) {
  const list = await connection.request('GET', path);
  const version = /"resourceVersion":"(\d+)"/.exec(list.subarray(0, 500).toString())[1];
  await connection.stream(`${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`, (chunk) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) events++;
  });
}

/** As a kubelet does, a node renews its lease again only when it was answered. */
async function renew(node, renewals) {
  if (renewing.has(node)) return;
  renewing.add(node);
  await renewals.time(() => node.renewByPut());
  renewing.delete(node);
}

/** A pod is made, and the one that was made so many before it is deleted. */
async function replacePod(i, writes) {
  await writes.time(() => writerOf(i).request('POST', PODS, bodyOf(`passing-${i}`, i)));
  if (i < PASSING_PODS) return;
  await writes.time(() => writerOf(i).request('DELETE', `${PODS}/passing-${i - PASSING_PODS}`, '{"gracePeriodSeconds":0}'));
}

const TASKS = {
  async prepare({ port, token }) {
    writers = Array.from({ length: WRITER_CONNECTIONS }, () => new LeanConnection(port, token, { streamWindowBytes: INFORMER_WINDOW_BYTES }));
    await writers[0].request('POST', '/api/v1/namespaces/default/serviceaccounts', '{"metadata":{"name":"default"}}');
    return {};
  },

  join: ({ port, token, ...limits }) =>
    drive(limits, async (i) => {
      const node = new SimulatedNode(port, token, `node-${i}`);
      nodes.push(node);
      await node.join();
    }),

  pods: (limits) => drive(limits, (i) => writerOf(i).request('POST', PODS, bodyOf(`pod-${i}`, i))),

  /** One after the other, as they come after a restart of their controllers. */
  async inform({ port, token, count }) {
    const lists = new Latencies();
    for (let i = 0; i < count; i++) {
      const connection = new LeanConnection(port, token, { streamWindowBytes: INFORMER_WINDOW_BYTES });
      for (const path of FOLLOWED) await lists.time(() => follow(connection, path));
    }
    return { lists: lists.summary() };
  },

  async live({ seconds, podsASecond, pods }) {
    const [renewals, writes, reads, lists] = [new Latencies(), new Latencies(), new Latencies(), new Latencies()];
    const eventsBefore = events;
    const endMs = performance.now() + seconds * 1000;
    await Promise.all([
      everySecond((nodes.length * 1000) / LEASE_MS, endMs, (i) => renew(nodes[i % nodes.length], renewals)),
      everySecond(podsASecond, endMs, (i) => replacePod(i, writes)),
      everySecond(READS_A_SECOND, endMs, (i) => reads.time(() => writerOf(i).request('GET', `${PODS}/pod-${(i * 7919) % pods}`))),
      everySecond(1000 / LIST_EVERY_MS, endMs, (i) => lists.time(() => writerOf(i).request('GET', '/api/v1/nodes?resourceVersion=0'))),
    ]);
    return { renewals: renewals.summary(), writes: writes.summary(), reads: reads.summary(), lists: lists.summary(), events: events - eventsBefore };
  },
};
