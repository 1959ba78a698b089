// Many nodes, in a process of their own: each has a connection, a lease and a watch of the pods that are bound to it, as a kubelet does.
import { drive } from './drive.mjs';
import { LeanConnection } from './lean-http2.mjs';
import { pod } from './objects.mjs';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const MERGE_PATCH = 'application/merge-patch+json';
/** Those who make pods, as controllers and schedulers do, are not the nodes. */
const WRITER_CONNECTIONS = 4;

const send = (message) => process.send(message);
process.on('message', ({ task, settings }) => {
  TASKS[task](settings).then(send, (error) => send({ error: error.message }));
});
process.on('disconnect', () => process.exit(0));

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

class SimulatedNode {
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

let nodes = [];

const TASKS = {
  /** What controllers would have made. */
  async prepare({ port, token }) {
    const connection = new LeanConnection(port, token);
    await connection.request('POST', '/api/v1/namespaces/default/serviceaccounts', '{"metadata":{"name":"default"}}');
    connection.close();
    return {};
  },

  /** `count` more nodes. */
  async join({ port, token, prefix, ...limits }) {
    const first = nodes.length;
    return drive(limits, async (i) => {
      const node = new SimulatedNode(port, token, `${prefix}${first + i}`);
      nodes.push(node);
      await node.join();
    });
  },

  /** Pods on one node after the other, each of which is over when its node has seen it. No other node must. */
  async pods({ port, token, prefix, ...limits }) {
    const writers = Array.from({ length: WRITER_CONNECTIONS }, () => new LeanConnection(port, token));
    const before = nodes.reduce((sum, { seen }) => sum + seen, 0);
    const times = await drive(limits, async (i) => {
      const node = nodes[i % nodes.length];
      const isSeen = node.nextPod();
      await writers[i % WRITER_CONNECTIONS].request('POST', '/api/v1/namespaces/default/pods', pod(`${prefix}${i}`, node.name));
      await isSeen;
    });
    for (const writer of writers) writer.close();
    const events = nodes.reduce((sum, { seen }) => sum + seen, 0) - before;
    if (events !== limits.count) throw new Error(`${limits.count} pods were seen ${events} times`);
    return times;
  },

  async renew({ isPatch, ...limits }) {
    return drive(limits, (i) => (isPatch ? nodes[i % nodes.length].renewByPatch() : nodes[i % nodes.length].renewByPut()));
  },

  async leave() {
    for (const node of nodes) node.leave();
    nodes = [];
    return {};
  },
};
