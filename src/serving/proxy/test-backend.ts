import { createSecureServer } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:https';
import { createAuthority, signCertificate } from '../certificates/create.ts';

/* For tests: a backend behind a proxy, of either HTTP version. */

export const backendAuthority = createAuthority({ commonName: 'backend-ca' });
const { certPem, keyPem } = signCertificate(backendAuthority, { commonName: 'x', usages: ['server'], hosts: ['ext.ns.svc', 'localhost'], ips: ['127.0.0.1'] });
const TLS = { cert: certPem, key: keyPem };

export interface TestBackend {
  port: number;
  /** Connections that are open. */
  sockets: Set<Socket>;
  close(): Promise<void>;
}

export type BackendHandler = (request: IncomingMessage, response: ServerResponse) => void;
type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** `http2`: chosen where the client offers it, as Go's servers do. */
export async function startBackend(
  handler: BackendHandler,
  options: { http2?: boolean; onUpgrade?: UpgradeHandler; port?: number; maxStreams?: number } = {},
): Promise<TestBackend> {
  const server = options.http2
    ? createSecureServer({ ...TLS, allowHTTP1: true, settings: { maxConcurrentStreams: options.maxStreams ?? 100 } }, handler as never)
    : createTlsServer(TLS, handler);
  if (options.onUpgrade) server.on('upgrade', options.onUpgrade);
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
