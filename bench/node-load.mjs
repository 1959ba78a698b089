// Many nodes, in a process of their own: each has a connection, a lease and a watch of the pods that are bound to it, as a kubelet does.
import { drive } from './drive.mjs';
import { LeanConnection } from './lean-http2.mjs';
import { pod } from './objects.mjs';
import { SimulatedNode } from './simulated-node.mjs';

/** Those who make pods, as controllers and schedulers do, are not the nodes. */
const WRITER_CONNECTIONS = 4;

const send = (message) => process.send(message);
process.on('message', ({ task, settings }) => {
  TASKS[task](settings).then(send, (error) => send({ error: error.message }));
});
process.on('disconnect', () => process.exit(0));

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

  /** `count` more connections with a watch each, and nothing stored for them. */
  async connect({ port, token, prefix, ...limits }) {
    return drive(limits, async (i) => {
      const node = new SimulatedNode(port, token, `${prefix}${i}`);
      nodes.push(node);
      await node.connect();
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
