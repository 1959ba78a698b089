import type { Socket } from 'node:net';
import type { ConnectionInfo, Exchange } from './exchange.ts';

/** What reads a connection's requests, in its version of HTTP. */
export type RequestReader = Pick<ConnectionInfo, 'pauseReading' | 'resumeReading'>;

/** One client's connection, whichever HTTP version it speaks. */
export class Connection implements ConnectionInfo {
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly peerCertificates: readonly Buffer[];
  certificateUser?: unknown;
  /** True once the client was asked to open another connection; answers then close this one. */
  isClosing = false;
  openExchanges = 0;
  readonly connectedAtMs = performance.now();
  /** It has brought a request. */
  hasBegun = false;
  /** Closes when idle: what that means is for the HTTP version to say. */
  #closeGracefully: () => void = () => {};
  #reader: RequestReader | undefined;

  constructor(socket: Socket, peerCertificates: readonly Buffer[]) {
    this.socket = socket;
    this.peerCertificates = peerCertificates;
    this.remoteAddress = plainAddress(socket.remoteAddress ?? '');
  }

  setGracefulClose(close: () => void): void {
    this.#closeGracefully = close;
  }

  setReader(reader: RequestReader): void {
    this.#reader = reader;
  }

  pauseReading(): boolean {
    return this.#reader?.pauseReading() ?? false;
  }

  resumeReading(): void {
    this.#reader?.resumeReading();
  }

  destroy(): void {
    this.socket.destroy();
  }

  requestClose(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.#closeGracefully();
  }
}

/** Takes each request to the server, and counts it while it is open. */
export type ExchangeSink = (exchange: Exchange, connection: Connection) => void;

/** IPv4 on a socket for both families is `::ffff:1.2.3.4`; everyone else knows it as `1.2.3.4`. */
const plainAddress = (address: string): string => (address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address);
