// OpenAPI of a server with hundreds of definitions: what its documents cost, the first time and after a change, and how long another request waits meanwhile.
import https from 'node:https';
import { gunzipSync } from 'node:zlib';
import { definitions, firstOf } from './custom.mjs';

const DEFINITIONS = 500;
const DOCUMENTS = { 'OpenAPI v2': '/openapi/v2', 'OpenAPI v3 of their group': '/openapi/v3/apis/bench.example.com/v1' };
const OTHER_PATH = '/api/v1/namespaces/default';
const OTHER_EVERY_MS = 2;
const LIMIT_MS = 300_000;
const FIRST_OBJECTS = 20;

export const openApiCosts = ({ withServer, perOperation, record }) =>
  withServer((server, load) => measure(server, load, perOperation, record), { limitMs: LIMIT_MS });

async function measure(server, load, perOperation, record) {
  await perOperation(server, load, 'post', { ...definitions, prefix: 'a', count: DEFINITIONS, inFlight: 1 });
  const client = clientOf(server);
  await client.get(OTHER_PATH);
  for (const [name, path] of Object.entries(DOCUMENTS)) {
    await one(`${name}, ${DEFINITIONS} definitions, the first time`, path);
    await perOperation(server, load, 'post', { ...definitions, prefix: path.endsWith('v2') ? 'b' : 'c', count: 1, inFlight: 1 });
    await one(`${name}, one definition more`, path, 300);
  }
  record('CRD to first custom object', await firstObject(client), 'ms', 5);

  async function one(what, path, limit) {
    const beforeMs = server.cpuMs();
    const other = waits(client);
    const body = await client.get(path);
    const waitedMs = await other.stop();
    record(
      `${what}, CPU`,
      server.cpuMs() - beforeMs,
      'ms',
      limit,
      `${(body.length / 1e6).toFixed(1)} MB, ${waitedMs.toFixed(0)} ms the longest wait of another GET`,
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

/** Asks for something small again and again; the longest wait for it. */
function waits(client) {
  let longestMs = 0;
  const stop = new AbortController();
  const done = (async () => {
    while (!stop.signal.aborted) {
      const startMs = performance.now();
      await client.get(OTHER_PATH);
      longestMs = Math.max(longestMs, performance.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, OTHER_EVERY_MS));
    }
  })();
  return {
    async stop() {
      stop.abort();
      await done;
      return longestMs;
    },
  };
}

/** In this process, since little is asked. Documents are taken compressed, as by nearly every client. */
function clientOf({ port, token }) {
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const send = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip', ...(body && { 'content-type': 'application/json' }) };
      const onResponse = (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve({ response, body: Buffer.concat(chunks) }));
      };
      https.request({ agent, host: '127.0.0.1', port, path, method, headers }, onResponse).on('error', reject).end(body);
    });
  return {
    async get(path) {
      const { response, body } = await send('GET', path);
      if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode}`);
      return response.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    },
    /** Whether it was made; that there is no such resource yet is no error. */
    async post(path, body) {
      const { response } = await send('POST', path, body);
      if (response.statusCode !== 201 && response.statusCode !== 404) throw new Error(`POST ${path}: ${response.statusCode}`);
      return response.statusCode === 201;
    },
  };
}
