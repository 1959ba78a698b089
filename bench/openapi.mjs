// OpenAPI of a server with hundreds of definitions: what its documents cost, the first time and after a change, and how long another request waits meanwhile.
import { clientOf, waits } from './client.mjs';
import { definitions, firstOf } from './custom.mjs';

const DEFINITIONS = 500;
const DOCUMENTS = { 'OpenAPI v2': '/openapi/v2', 'OpenAPI v3 of their group': '/openapi/v3/apis/bench.example.com/v1' };
const LIMIT_MS = 300_000;
const FIRST_OBJECTS = 20;
const DOCUMENT_LIMIT_MS = 300;
const ALONE_MS = 500;

export const openApiCosts = ({ withServer, perOperation, record }) =>
  withServer((server, load) => measure(server, load, perOperation, record), { limitMs: LIMIT_MS });

async function measure(server, load, perOperation, record) {
  await perOperation(server, load, 'post', { ...definitions, prefix: 'a', count: DEFINITIONS, inFlight: 1 });
  const client = clientOf(server);
  const getMs = await costOfGet(server, client);
  for (const [name, path] of Object.entries(DOCUMENTS)) {
    await one(`${name}, ${DEFINITIONS} definitions, the first time`, path);
    await perOperation(server, load, 'post', { ...definitions, prefix: path.endsWith('v2') ? 'b' : 'c', count: 1, inFlight: 1 });
    await one(`${name}, one definition more`, path);
  }
  record('CRD to first custom object', await firstObject(client), 'ms', 5);

  async function one(what, path) {
    const beforeMs = server.cpuMs();
    const other = await waits(client);
    const bytes = await client.download(path);
    const { longestMs, gets } = await other.stop();
    record(
      `${what}, CPU`,
      server.cpuMs() - beforeMs - gets * getMs,
      'ms',
      DOCUMENT_LIMIT_MS,
      `${(bytes / 1e6).toFixed(1)} MB compressed, ${longestMs.toFixed(0)} ms the longest wait of ${gets} other GETs`,
    );
  }
}

/** CPU of each GET that `waits` sends, where nothing else is asked: documents are measured without those beside them. */
async function costOfGet(server, client) {
  await alone();
  const beforeMs = server.cpuMs();
  const { gets } = await alone();
  return (server.cpuMs() - beforeMs) / gets;

  async function alone() {
    const waiting = await waits(client);
    await new Promise((resolve) => setTimeout(resolve, ALONE_MS));
    return waiting.stop();
  }
}

/** The middle of some: a definition is posted, and then an object of it until it is taken. */
async function firstObject(client) {
  const timesMs = [];
  for (let i = 0; i < FIRST_OBJECTS; i++) {
    const { definition, collection, object } = firstOf(`first${i}`);
    const startMs = performance.now();
    await client.post(definition.path, definition.body);
    while (!(await client.post(collection, object)));
    timesMs.push(performance.now() - startMs);
  }
  return timesMs.sort((a, b) => a - b)[FIRST_OBJECTS >> 1];
}
