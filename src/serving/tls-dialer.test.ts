import { type Server, type TLSSocket, createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dialDirectly } from '../net/dial.ts';
import { createAuthority, signCertificate } from './certificates/create.ts';
import { TlsDialer, type TlsTarget } from './tls-dialer.ts';

const authority = createAuthority({ commonName: 'ca' });
const stranger = createAuthority({ commonName: 'stranger' });
const serving = signCertificate(authority, { commonName: 'server', usages: ['server'], hosts: ['a.example'], ips: ['127.0.0.1'] });

let server: Server;
let received = '';
const open: TLSSocket[] = [];

beforeAll(async () => {
  server = createServer({ cert: serving.certPem, key: serving.keyPem, ALPNProtocols: ['h2', 'x'] }, (socket) => {
    open.push(socket);
    socket.on('data', (data) => (received += data.toString())).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  for (const socket of open) socket.destroy();
  server.close();
});

const openConnections = (): Promise<number> => new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
const dialer = (target: TlsTarget): TlsDialer => new TlsDialer(dialDirectly, target);
const connect = (by: TlsDialer): Promise<TLSSocket> =>
  by.connect('127.0.0.1', (server.address() as AddressInfo).port, { protocols: ['x'], signal: new AbortController().signal });

test.each<[string, TlsTarget]>([
  ['the authority', { caPem: authority.certPem }],
  ['the certificate itself', { caPem: serving.certPem }],
  ['another name that it has', { caPem: authority.certPem, serverName: 'a.example' }],
  ['nothing at all', { isUnverified: true, serverName: 'b.example' }],
])('a server that proves itself by %s', async (_name, target) => {
  const socket = await connect(dialer(target));
  expect(socket.alpnProtocol).toBe('x');
  socket.destroy();
});

test.each<[string, TlsTarget, string]>([
  ['another authority', { caPem: stranger.certPem }, 'x509: certificate signed by unknown authority'],
  ['no authority', { caPem: 'none' }, 'x509: certificate signed by unknown authority'],
  ["Node's authorities", {}, 'x509: certificate signed by unknown authority'],
  ['another name', { caPem: authority.certPem, serverName: 'b.example' }, 'x509: certificate is valid for a.example, not b.example'],
])('a server that should prove itself by %s is cut off before a byte is sent', async (_name, target, reason) => {
  received = '';
  await expect(connect(dialer(target))).rejects.toThrow(`tls: failed to verify certificate: ${reason}`);
  await expect.poll(() => openConnections()).toBe(0);
  expect(received).toBe('');
});

test('every connection is a whole handshake, so that each is verified', async () => {
  const one = dialer({ caPem: authority.certPem });
  for (let turn = 0; turn < 3; turn++) {
    const socket = await connect(one);
    expect(socket.isSessionReused()).toBe(false);
    socket.write('x');
    socket.destroy();
  }
});
