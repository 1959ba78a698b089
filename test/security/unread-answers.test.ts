import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type TLSSocket, connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServerProcess, startServer } from '../support/server.ts';
import { residentMiB } from './measure.ts';
import { head } from './raw.ts';

/* Issue 17, row 11: answers that are asked for by the hundred and never read. They held 170 MB a connection for as long as it stood. */

let server: ServerProcess;
beforeAll(async () => {
  server = await startServer();
  const admin = server.client();
  const data = { text: 'x'.repeat(900_000) };
  for (let index = 0; index < 10; index++) {
    await admin.expect(201, { method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: { metadata: { name: `large-${index}` }, data } });
  }
});
afterAll(async () => {
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

const CONNECTIONS = 8;
const STREAMS = 100;
const PATHS = ['/openapi/v2', '/openapi/v3/apis/apps/v1', '/api/v1/namespaces/default/configmaps', '/api/v1/namespaces/default/configmaps/large-1'];
/** What the garbage collector leaves lying about, in all. */
const SLACK_MIB = 120;

/** Opens its windows for nothing at all, and asks for everything. */
async function greedyClient(): Promise<{ session: ClientHttp2Session; answered: Promise<unknown> }> {
  const session = connectHttp2(server.url, { ca: server.ca, settings: { initialWindowSize: 0 } }).on('error', () => {});
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  const answered = Array.from({ length: STREAMS }, (_, index) => {
    const stream = session.request({ ':path': PATHS[index % PATHS.length]!, authorization: 'Bearer admin-token' });
    stream.on('error', () => {});
    return new Promise((resolve) => stream.once('response', resolve).once('close', resolve));
  });
  return { session, answered: Promise.all(answered) };
}

async function pipeliningClient(): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: server.ca, ALPNProtocols: ['http/1.1'] });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.on('error', () => {}).pause();
  socket.write(head('GET /openapi/v2').repeat(100));
  return socket;
}

const isMeasured = process.platform === 'linux';

test.skipIf(!isMeasured)(
  '800 unread answers of HTTP/2 and 2,000 of HTTP/1.1 cost little, and the memory comes back when their clients go',
  { timeout: 120_000 },
  async () => {
    const admin = server.client();
    for (const path of PATHS) await admin.expect(200, { path });
    const beforeMiB = residentMiB(server)!;
    const greedy = await Promise.all(Array.from({ length: CONNECTIONS }, greedyClient));
    await Promise.all(greedy.map(({ answered }) => answered));
    const pipelining = await Promise.all(Array.from({ length: 20 }, pipeliningClient));
    const duringMiB = residentMiB(server)!;
    // 8 × 170 MB, once.
    expect(duringMiB - beforeMiB).toBeLessThan(300);
    // Others are served as ever.
    for (let count = 0; count < 20; count++) await admin.expect(200, { path: PATHS[2]! });
    for (const { session } of greedy) session.destroy();
    for (const socket of pipelining) socket.destroy();
    let afterMiB = Infinity;
    for (let tries = 0; tries < 100 && afterMiB - beforeMiB > SLACK_MIB; tries++) {
      await admin.expect(200, { path: PATHS[2]! });
      await delay(50);
      afterMiB = residentMiB(server)!;
    }
    console.info(`resident MiB: ${beforeMiB.toFixed(0)} before, ${duringMiB.toFixed(0)} with unread answers, ${afterMiB.toFixed(0)} after`);
    expect(afterMiB - beforeMiB).toBeLessThanOrEqual(SLACK_MIB);
  },
);
