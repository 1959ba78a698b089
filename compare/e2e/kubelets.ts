import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../test/support/api-client.ts';
import type { Pod } from '../../src/apis/facts/types/core-v1.ts';
import { type PodParts, PretendedPod } from './pretended-pod.ts';

/*
 * kubelets.mjs PORT CA PROGRAMS FOLDER: two pretended nodes for end-to-end tests. Pods that are bound to them come to run at once and go when they are
 * deleted. Images that are programs in the folder PROGRAMS (agnhost, sample-apiserver, etcd) are really started, in this network namespace.
 */

const [port, ca, programs, folder] = process.argv.slice(2);
if (!port || !ca || !programs || !folder) throw new Error('kubelets.mjs PORT CA PROGRAMS FOLDER');

const NODES = ['node-a', 'node-b'];
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const HEARTBEAT_MS = 5_000;
const RETRY_MS = 500;
const CAPACITY = { cpu: '32', memory: '64Gi', pods: '500', 'ephemeral-storage': '500Gi' };
const PODS = '/api/v1/pods?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';

const api = new ApiClient({ port: Number(port), ca: readFileSync(ca, 'utf8'), token: 'admin-token' });
const parts: PodParts = { api, ca: readFileSync(ca), apiPort: port, programs, folder };

async function register(name: string): Promise<void> {
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
  await api.send({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name, labels } } });
  const condition = (type: string, status: string) => ({ type, status, reason: 'Pretended', message: 'pretended', lastHeartbeatTime: new Date() });
  const status = {
    capacity: CAPACITY,
    allocatable: CAPACITY,
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: name },
    ],
    conditions: [condition('Ready', 'True'), ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => condition(type, 'False'))],
  };
  const headers = { 'content-type': 'application/strategic-merge-patch+json' };
  await api.expect(200, { method: 'PATCH', path: `/api/v1/nodes/${name}/status`, headers, body: { status } });
}

async function renew(name: string): Promise<void> {
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace('Z', '000Z') };
  const path = `${LEASES}/${name}?fieldManager=kubelets&force=true`;
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  await api.send({ method: 'PATCH', path, headers, body: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec } });
}

const running = new Map<string, PretendedPod>();

function end(uid: string): void {
  running.get(uid)?.end();
  running.delete(uid);
}

async function see(type: string, pod: Pod): Promise<void> {
  const uid = pod.metadata.uid!;
  if (!NODES.includes(pod.spec.nodeName ?? '')) return;
  if (type === 'DELETED') return end(uid);
  const isOver = ['Succeeded', 'Failed'].includes(pod.status.phase ?? '');
  let pretended = running.get(uid);
  if (pretended === undefined) running.set(uid, (pretended = new PretendedPod(pod, parts)));
  if (pod.metadata.deletionTimestamp !== undefined) await pretended.remove();
  else if (!isOver) await pretended.follow(pod);
}

/** All pods, from the beginning; those that are there no longer end. */
async function watchPods(): Promise<void> {
  const watch = await api.watch(PODS);
  const seen = new Set<string>();
  let isBegun = false;
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
    const { type, object } = event;
    if (type === 'ERROR') break;
    if (type !== 'BOOKMARK') {
      seen.add(object.metadata.uid);
      void see(type, object as unknown as Pod).catch((error: unknown) => console.error(`${object.metadata.name}: ${(error as Error).message}`));
    } else if (!isBegun) {
      isBegun = true;
      for (const uid of running.keys()) if (!seen.has(uid)) end(uid);
    }
  }
  watch.stop();
}

for (const name of NODES) await register(name);
setInterval(() => {
  for (const name of NODES) renew(name).catch((error: unknown) => console.error((error as Error).message));
}, HEARTBEAT_MS);
for (;;) {
  await watchPods().catch((error: unknown) => console.error((error as Error).message));
  await sleep(RETRY_MS);
}
