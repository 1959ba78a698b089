import { type ConnectionOptions, type TLSSocket, connect } from 'node:tls';
import { once } from 'node:events';
import { clientFrame, serverFrames } from '../../src/serving/websocket/test-frames.ts';

const WEBSOCKET = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };

/** Headers of a handshake. */
export const webSocket = (protocol?: string): Record<string, string> => ({
  ...WEBSOCKET,
  ...(protocol !== undefined && { 'sec-websocket-protocol': protocol }),
});
export const spdy = (protocol: string): Record<string, string> => ({
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'x-stream-protocol-version': protocol,
  'content-length': '0',
});

/** One connection on which requests are written by hand, and all that came back on it. */
export class RawClient {
  readonly socket: TLSSocket;
  /** Resolves with all that came, when the server has ended the connection. */
  readonly ended: Promise<string>;
  received = Buffer.alloc(0);

  constructor(options: ConnectionOptions) {
    this.socket = connect({ host: '127.0.0.1', ...options });
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
    });
    // An error, of writing to a server that has ended it, is followed by the end.
    this.ended = new Promise((resolve) => this.socket.once('close', () => resolve(this.received.toString('latin1'))));
  }

  request(method: string, path: string, headers: Record<string, string> = {}): this {
    const lines = Object.entries({ host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    return this;
  }

  /** Resolves when so much came that it holds the text; rejects when the connection ends without it. */
  async until(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.socket.destroyed) throw new Error(`the connection ended without ${JSON.stringify(text)}:\n${this.received.toString('latin1')}`);
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')]);
    }
  }

  /** A message of bytes on a WebSocket. */
  send(bytes: Buffer): void {
    this.socket.write(clientFrame(2, bytes));
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d+)/.exec(this.received.toString('latin1'))?.[1]);
  }

  /** What a WebSocket brought, as `opcode:payload`. */
  get messages(): string[] {
    const body = this.received.subarray(this.received.indexOf('\r\n\r\n') + 4);
    return serverFrames(body).map(({ opcode, payload }) => `${opcode}:${payload.toString('latin1')}`);
  }
}
