import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createAuthority, signCertificate } from '../../../serving/certificates/create.ts';
import { StorageMisconfigured, StorageUnavailable } from '../../engine.ts';
import { openEtcdEngine } from './engine.ts';

/* What an operator is told who gave the wrong address of etcd: one line, which says what to do. */

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const authority = createAuthority({ commonName: 'ca' });
const { certPem, keyPem } = signCertificate(authority, { commonName: 'etcd', ips: ['127.0.0.1'], usages: ['server'] });
const http1 = (): Server => createHttpServer((_request, response) => response.end('hello'));
const https1 = (): Server => createHttpsServer({ cert: certPem, key: keyPem, ALPNProtocols: ['http/1.1'] }, (_request, response) => response.end('hello'));
const ssh = (): Server => createServer((socket) => void socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.2\r\n'));

const refusal = async (endpoint: string): Promise<StorageUnavailable> =>
  openEtcdEngine({ endpoints: [endpoint], tls: { ca: Buffer.from(authority.certPem) } }).then(
    () => expect.fail('it was reached'),
    (error: StorageUnavailable) => error,
  );

test.each([
  ['an HTTP/1 server', 'http', http1, 'an HTTP/1 server answers there, which etcd is not', true],
  ['an HTTP/1 server, asked by TLS', 'https', http1, 'what answers there does not speak TLS: write http:// in place of https://', true],
  ['an HTTPS server of HTTP/1', 'https', https1, 'a server with TLS answers there that does not speak HTTP/2', true],
  ['a server of TLS, asked without', 'http', https1, 'if etcd serves TLS there, write https:// in place of http://', false],
  ['a server of something else', 'http', ssh, 'what answers there does not speak HTTP/2, as etcd does', true],
] as const)('%s', async (_name, scheme, serve, words, isFinal) => {
  const endpoint = `${scheme}://127.0.0.1:${await portOf(serve())}`;
  const error = await refusal(endpoint);
  expect(error).toBeInstanceOf(StorageUnavailable);
  expect(error.message).toContain(`etcd cannot be reached at ${endpoint}: `);
  expect(error.message).toContain(words);
  expect(error.message).not.toContain('\n');
  expect(error instanceof StorageMisconfigured).toBe(isFinal);
});

test('a closed port', async () => {
  const server = createServer();
  const port = await portOf(server);
  server.close();
  await once(server, 'close');
  const error = await refusal(`http://127.0.0.1:${port}`);
  expect(error.message).toContain('nothing listens there: is etcd running, and is this its address and port?');
  expect(error).not.toBeInstanceOf(StorageMisconfigured);
});

test.each(['ftp://x', 'http://127.0.0.1:99999', 'http://'])('%s is no address, and waiting does not make it one', async (endpoint) => {
  const error = await refusal(endpoint);
  expect(error).toBeInstanceOf(StorageMisconfigured);
  expect(error.message).toContain('is not the address of an etcd server: one looks like https://10.0.0.1:2379');
});
