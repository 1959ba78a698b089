// Asks a server from the bench's own process: where little is asked, and what matters is how long it takes.
import https from 'node:https';
import { gunzipSync } from 'node:zlib';

const OTHER_PATH = '/api/v1/namespaces/default';
const OTHER_EVERY_MS = 2;

/** Asks for something small again and again: how often, and the longest wait for it. The first time does not count. */
export async function waits(client) {
  await client.get(OTHER_PATH);
  let longestMs = 0;
  let gets = 0;
  const stop = new AbortController();
  const done = (async () => {
    while (!stop.signal.aborted) {
      const startMs = performance.now();
      await client.get(OTHER_PATH);
      longestMs = Math.max(longestMs, performance.now() - startMs);
      gets++;
      await new Promise((resolve) => setTimeout(resolve, OTHER_EVERY_MS));
    }
  })();
  return {
    async stop() {
      stop.abort();
      await done;
      return { longestMs, gets };
    },
  };
}

/** In this process, since little is asked. Documents are taken compressed, as by nearly every client. */
export function clientOf({ port, token }) {
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const send = (method, path, body, more) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip', ...(body && { 'content-type': 'application/json' }), ...more };
      const onResponse = (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve({ response, body: Buffer.concat(chunks) }));
      };
      https.request({ agent, host: '127.0.0.1', port, path, method, headers }, onResponse).on('error', reject).end(body);
    });
  return {
    async get(path, headers) {
      const { response, body } = await send('GET', path, undefined, headers);
      if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode}`);
      return response.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    },
    /** How many bytes came, which are not looked at: decompressing them takes time in which nothing else is measured. */
    async download(path, headers) {
      return (await send('GET', path, undefined, headers)).body.length;
    },
    /** Whether it was made; that there is no such resource yet is no error. */
    async post(path, body) {
      const { response } = await send('POST', path, body);
      if (response.statusCode !== 201 && response.statusCode !== 404) throw new Error(`POST ${path}: ${response.statusCode}`);
      return response.statusCode === 201;
    },
  };
}
