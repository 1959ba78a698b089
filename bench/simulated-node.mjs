// A node as the server sees it: a connection, a lease and a watch of the pods that are bound to it, as a kubelet has them.
import { LeanConnection } from './lean-http2.mjs';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const MERGE_PATCH = 'application/merge-patch+json';

const NODE_STATUS = {
  capacity: { cpu: '4', memory: '16Gi', pods: '110' },
  allocatable: { cpu: '3800m', memory: '15Gi', pods: '110' },
  conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }],
  nodeInfo: { kubeletVersion: 'v1.36.4', operatingSystem: 'linux', architecture: 'amd64' },
};

const nodeOf = (name) => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
  status: NODE_STATUS,
});

/** To the microsecond, as leases have it. */
const now = () => new Date().toISOString().replace('Z', '000Z');

export class SimulatedNode {
  #connection;
  #name;
  #leaseBody;
  /** Pods that the watch has shown. */
  seen = 0;
  /** Those who wait for one more each. */
  #waiting = [];

  constructor(port, token, name) {
    this.#connection = new LeanConnection(port, token);
    this.#name = name;
  }

  get name() {
    return this.#name;
  }

  async join() {
    await this.#connection.request('POST', '/api/v1/nodes', JSON.stringify(nodeOf(this.#name)));
    const lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: this.#name }, spec: this.#leaseSpec() };
    this.#leaseBody = await this.#connection.request('POST', LEASES, JSON.stringify(lease));
    await this.connect();
  }

  /** The connection and its watch alone, of a node that is in the store already. */
  async connect() {
    const path = `/api/v1/pods?watch=1&resourceVersion=0&allowWatchBookmarks=true&fieldSelector=spec.nodeName%3D${this.#name}`;
    await this.#connection.stream(path, (chunk) => this.#count(chunk));
  }

  nextPod() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** As a kubelet does: the lease that it was answered with last time, with another time. */
  async renewByPut() {
    const lease = JSON.parse(this.#leaseBody);
    lease.spec.renewTime = now();
    this.#leaseBody = await this.#connection.request('PUT', `${LEASES}/${this.#name}`, JSON.stringify(lease));
  }

  async renewByPatch() {
    const patch = JSON.stringify({ spec: { renewTime: now() } });
    this.#leaseBody = await this.#connection.request('PATCH', `${LEASES}/${this.#name}`, patch, MERGE_PATCH);
  }

  leave() {
    this.#connection.close();
  }

  #leaseSpec() {
    return { holderIdentity: this.#name, leaseDurationSeconds: 40, renewTime: now() };
  }

  #count(chunk) {
    for (let at = chunk.indexOf('{"type":"ADDED"'); at !== -1; at = chunk.indexOf('{"type":"ADDED"', at + 1)) {
      this.seen++;
      this.#waiting.shift()?.();
    }
  }
}
