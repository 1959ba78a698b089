// What a request costs that another API server answers: our own CPU alone, the other's is a process of its own (this file, forked).
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GROUP = 'bench.example.com';
const LIMIT_US = 120;
const BODY = JSON.stringify({ kind: 'Thing', apiVersion: `${GROUP}/v1`, metadata: { name: 'one' }, data: 'x'.repeat(950) });

/** `folder` is the server's: its own certificate serves the other one too. */
export async function proxyCosts(server, folder, perOperation, record) {
  for (const version of [2, 1]) {
    const backend = fork(fileURLToPath(import.meta.url), [folder, String(version)]);
    try {
      const port = await new Promise((resolve) => backend.once('message', resolve));
      const group = `h${version}.${GROUP}`;
      await register(server, group, port);
      const path = `/apis/${group}/v1/things/one`;
      for (const client of [2, 1]) {
        await perOperation({ path, version: client, count: 5000, inFlight: 64 });
        const { us, more } = await perOperation({ path, version: client, count: 20_000, inFlight: 64 });
        record(`GET of 1 KiB over HTTP/${client} from a server of HTTP/${version}`, us, 'µs', LIMIT_US, more);
      }
    } finally {
      backend.kill();
    }
  }
}

async function register({ port: frontPort, token }, group, port) {
  const call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      https
        .request({ host: '127.0.0.1', port: frontPort, rejectUnauthorized: false, method, path, headers }, (response) => {
          let text = '';
          response.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ status: response.statusCode, text }));
        })
        .on('error', reject)
        .end(body && JSON.stringify(body));
    });
  const name = group.split('.')[0];
  await call('POST', '/api/v1/namespaces/default/services', { metadata: { name }, spec: { type: 'ExternalName', externalName: 'localhost' } });
  const service = { namespace: 'default', name, port };
  const spec = { group, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true, service };
  await call('POST', '/apis/apiregistration.k8s.io/v1/apiservices', { metadata: { name: `v1.${group}` }, spec });
  for (let tries = 0; tries < 500; tries++) {
    const { status } = await call('GET', `/apis/${group}/v1/things/one`);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${group} does not become available`);
}

function serve(folder, version) {
  const file = (name) => readFileSync(join(folder, 'data', 'certificates', name));
  const tls = { cert: file('apiserver.crt'), key: file('apiserver.key') };
  const answer = (_request, response) => response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) }).end(BODY);
  const server = version === '2' ? http2.createSecureServer({ ...tls, allowHTTP1: true }, answer) : https.createServer(tls, answer);
  server.listen(0, 'localhost', () => process.send(server.address().port));
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('disconnect', () => process.exit(0));
  serve(process.argv[2], process.argv[3]);
}
