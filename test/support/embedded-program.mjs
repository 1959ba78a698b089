// A program with servers inside it. Arguments: the package's entry, and how many to start, use and stop, one after the other. Prints one line of JSON.
import { request } from 'node:https';

const [entry, count] = [process.argv[2], Number(process.argv[3])];
const { startServer } = await import(entry);
const warnings = [];
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`));

/** With the administrator's certificate, on a connection of its own; answers the status. `untilFirstBytes`: of a watch, which goes on. */
function call(server, method, path, { body, untilFirstBytes = false } = {}) {
  const field = (name) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(server.kubeconfig)[1], 'base64');
  const tls = { ca: server.caCertificate, cert: field('client-certificate-data'), key: field('client-key-data') };
  return new Promise((resolve, reject) => {
    const options = { method, ...tls, agent: false, headers: { 'content-type': 'application/json' } };
    const sent = request(server.url + path, options, (response) => {
      response.on('error', () => {}).resume();
      if (untilFirstBytes) response.once('data', () => resolve(response.statusCode));
      else response.once('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

const definition = (plural) => {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const names = { plural, kind: plural, singular: plural };
  const spec = { group: 'example.com', scope: 'Cluster', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.example.com` }, spec };
};

/** Something of everything: an object, a watch that is still open at the end, definitions, and more of them at once than a signal takes listeners. */
async function use(server) {
  const statuses = [await call(server, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'used' } } })];
  statuses.push(await call(server, 'GET', '/api/v1/namespaces?watch=true&resourceVersion=0', { untilFirstBytes: true }));
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const plurals = Array.from({ length: 12 }, (_, index) => `kinds${index}`);
  statuses.push(...(await Promise.all(plurals.map((plural) => call(server, 'POST', definitions, { body: definition(plural) })))));
  statuses.push(await call(server, 'DELETE', definitions), await call(server, 'DELETE', '/api/v1/namespaces/used'));
  return statuses;
}

const used = async () => {
  const server = await startServer();
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
};

/** What is left once all that can be collected is: finalizers and what they let go take several turns. */
async function heapBytes() {
  for (let times = 0; times < 5; times++) {
    await new Promise(setImmediate);
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

let statuses = [];
let settledBytes = 0;
for (let times = 1; times <= count; times++) {
  statuses = await used();
  if (times === 5) settledBytes = await heapBytes();
}
const isOfOurOutput = (name) => /^(TTY|Pipe)Wrap$/.test(name);
const activeNow = () => process.getActiveResourcesInfo().filter((name) => !isOfOurOutput(name));
// What stop() has let go may need the rest of the turn, and connections that end some more.
for (let turns = 0; turns === 0 || (turns < 20 && activeNow().length > 0); turns++) await new Promise(setImmediate);
const active = activeNow();
const grownBytes = (await heapBytes()) - settledBytes;
process.stdout.write(`${JSON.stringify({ statuses: [...new Set(statuses)].sort(), active, warnings, grownBytes })}\n`);
