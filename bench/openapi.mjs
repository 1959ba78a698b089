// OpenAPI of a server with hundreds of definitions: what its documents cost, the first time and after a change, and how long another request waits meanwhile.
import { clientOf, waits } from './client.mjs';
import { definitions, firstOf } from './custom.mjs';

const DEFINITIONS = 500;
const DOCUMENTS = { 'OpenAPI v2': '/openapi/v2', 'OpenAPI v3 of their group': '/openapi/v3/apis/bench.example.com/v1' };
const LIMIT_MS = 300_000;
const FIRST_OBJECTS = 20;

export const openApiCosts = ({ withServer, perOperation, record }) =>
  withServer((server, load) => measure(server, load, perOperation, record), { limitMs: LIMIT_MS });

async function measure(server, load, perOperation, record) {
  await perOperation(server, load, 'post', { ...definitions, prefix: 'a', count: DEFINITIONS, inFlight: 1 });
  const client = clientOf(server);
  for (const [name, path] of Object.entries(DOCUMENTS)) {
    await one(`${name}, ${DEFINITIONS} definitions, the first time`, path);
    await perOperation(server, load, 'post', { ...definitions, prefix: path.endsWith('v2') ? 'b' : 'c', count: 1, inFlight: 1 });
    await one(`${name}, one definition more`, path, 300);
  }
  record('CRD to first custom object', await firstObject(client), 'ms', 5);

  async function one(what, path, limit) {
    const beforeMs = server.cpuMs();
    const other = await waits(client);
    const bytes = await client.download(path);
    const waitedMs = await other.stop();
    record(
      `${what}, CPU`,
      server.cpuMs() - beforeMs,
      'ms',
      limit,
      `${(bytes / 1e6).toFixed(1)} MB compressed, ${waitedMs.toFixed(0)} ms the longest wait of another GET`,
    );
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
