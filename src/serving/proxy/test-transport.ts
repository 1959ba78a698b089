import type { OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { goNetworkError } from '../../net/network-error.ts';
import type { ResponseHeaders } from '../exchange.ts';
import { streamOf } from './answer.ts';
import { Transport, type TransportOptions } from './transport.ts';

/* For tests: a transport to a backend, and one request over it, read to its end. */

/** The backend listens, and what leads to it; both are closed when the test ends that calls this, as are the backend's `sockets` of then. */
export async function transportTo(server: Server, sockets: ReadonlySet<Socket>, options: TransportOptions): Promise<{ transport: Transport; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = new Transport(options);
  onTestFinished(() => {
    transport.close();
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { transport, port: (server.address() as AddressInfo).port };
}

export interface Sent {
  method?: string;
  path?: string;
  headers?: OutgoingHttpHeaders;
  body?: Readable;
}

export interface Received {
  status: number;
  headers: ResponseHeaders;
  body: string;
  trailers: ResponseHeaders | undefined;
}

/** The whole answer. Rejects where none comes, or it breaks off. */
export async function exchangeWith(transport: Transport, port: number, { method = 'GET', path = '/', headers = {}, body }: Sent = {}): Promise<Received> {
  const response = await transport.send({ host: '127.0.0.1', port, method, path, headers, body }).response;
  const pieces = (await streamOf(response.body).toArray()) as Buffer[];
  return { status: response.status, headers: response.headers, body: Buffer.concat(pieces).toString('latin1'), trailers: response.trailers() };
}

/** What a client would be told; `ok: …` where there is an answer after all. */
export async function failureOf(transport: Transport, port: number, sent?: Sent): Promise<string> {
  try {
    const { status, body } = await exchangeWith(transport, port, sent);
    return `ok: ${status} ${body}`;
  } catch (error) {
    return goNetworkError(error as Error);
  }
}
