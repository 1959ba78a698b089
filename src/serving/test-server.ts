import { type ClientHttp2Session, type IncomingHttpHeaders as Http2Headers, connect as connectHttp2 } from 'node:http2';
import https from 'node:https';
import { type TLSSocket, connect as connectTls } from 'node:tls';
import { createAuthority, signCertificate } from './certificates/create.ts';
import { fixed } from './certificates/reload.ts';
import type { Exchange } from './exchange.ts';
import { type ListenOptions, type Listener, listen } from './listener.ts';
import { type PortOptions, openPort } from './port.ts';

/* For tests: real listeners on free ports of the loopback, and the smallest real clients of both HTTP versions. */

export const testAuthority = createAuthority({ commonName: 'test-ca' });
const certificate = fixed(signCertificate(testAuthority, { commonName: 'localhost', usages: ['server'], hosts: ['localhost'], ips: ['127.0.0.1'] }));

export const startListener = async (onExchange: (exchange: Exchange) => void, options: Partial<ListenOptions & PortOptions> = {}): Promise<Listener> => {
  const { host = '127.0.0.1', port = 0, permitPortSharing = false } = options;
  return listen({ source: await openPort({ host, port, permitPortSharing }), certificates: { certificate }, ...options }, onExchange);
};

/** A promise and the way to fulfil it, for tests that wait for a handler. */
export class Gate {
  open!: () => void;
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.open = resolve;
  });
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: Buffer;
}

export interface TestRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: Buffer;
}

/** A request over a connection of its own, by version. */
export const clients: Record<'HTTP/1.1' | 'HTTP/2', (listener: Listener, request?: TestRequest) => Promise<Answer>> = {
  'HTTP/1.1': ({ address: { port } }, { method = 'GET', path = '/', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const request = https.request({ host: '127.0.0.1', port, method, path, headers, ca: testAuthority.certPem, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }));
      });
      request.on('error', reject);
      request.end(body);
    }),
  'HTTP/2': async (listener, request) => {
    const session = connectSession(listener);
    try {
      return await requestOn(session, request);
    } finally {
      session.destroy();
    }
  },
};

export function connectSession({ address: { port } }: Listener): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: testAuthority.certPem });
  session.on('error', () => {});
  return session;
}

export function requestOn(session: ClientHttp2Session, { method = 'GET', path = '/', headers = {}, body }: TestRequest = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined });
    const chunks: Buffer[] = [];
    let head: Http2Headers = {};
    stream.on('response', (received) => (head = received));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('end', () => resolve({ status: Number(head[':status']), headers: head, body: Buffer.concat(chunks) }));
    if (body !== undefined) stream.end(body);
  });
}

/** A TLS connection that speaks for itself. */
export function connectRaw(
  { address: { port } }: Listener,
  options: { servername?: string; maxVersion?: 'TLSv1.2'; ALPNProtocols?: string[] } = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => resolve(socket));
    socket.on('error', reject);
  });
}

/** All that comes until the other side closes. */
export function readToEnd(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
  });
}
