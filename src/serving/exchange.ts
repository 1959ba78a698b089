import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Requester } from '../net/unsent-answers.ts';

/** Names are lower case. A list value is sent as several header lines. */
export type ResponseHeaders = Record<string, string | number | string[]>;

/**
 * One request and its answer, whichever HTTP version carries it. The two implementations (`http1-exchange.ts`,
 * `http2-exchange.ts`) are the only code that knows which; all else is written against this.
 *
 * Exactly one of `respond`, `startStream` and `upgrade` is called, once; calls after the client has gone are ignored.
 */
export interface Exchange {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /**
   * Lower-case names, without HTTP/2's pseudo headers (`host` is always there when the client named one). Lines of one name are joined by `, `. One that a
   * filter took off is undefined: `delete` would make a slow table of them all.
   */
  readonly headers: IncomingHttpHeaders;
  /** Every line of a header by itself, in order, for values that may hold commas (Impersonate-Group, X-Remote-Group). `name` is lower case. */
  headerValues(name: string): string[];
  readonly httpVersion: '1.0' | '1.1' | '2.0';
  readonly remoteAddress: string;
  readonly connection: ConnectionInfo;
  /** What is on every answer, unless it brings its own. Those who pass on another server's answer add that to these. */
  readonly ownHeaders?: Readonly<Record<string, string | string[]>>;
  /** For whom the answer is, so that what its client does not read is counted for them. To be set by whoever finds out. */
  requester?: Requester | undefined;
  /** True once an answer was begun. */
  readonly isAnswered: boolean;
  /** True once the client has gone or the answer is complete. */
  readonly isClosed: boolean;

  /** The whole body. Throws requestEntityTooLarge beyond the limit (without reading on), badRequest when the client breaks off. */
  readBody(limitBytes: number): Promise<Buffer>;
  /** The body as it comes, unbounded, for those who pass it on: called once, in place of `readBody`. Undefined where the request has none. */
  openBody(): Readable | undefined;
  /** Answers at once. The body must not be changed afterwards. Several buffers are one body, in order. */
  respond(status: number, headers: ResponseHeaders, body?: Buffer | string | readonly Buffer[]): void;
  /** Begins an answer of unknown length, or of the one that its `content-length` says, which is the caller's to keep. */
  startStream(status: number, headers: ResponseHeaders): ResponseStream;
  /** Takes the raw connection over (HTTP/1.1 Upgrade only; undefined otherwise). `head` is what the client already sent behind the request. */
  upgrade(): { socket: Duplex; head: Buffer } | undefined;
  /** Called once, when the client goes or the answer is complete; at once if that has happened. */
  onClose(listener: () => void): void;
}

export interface ResponseStream {
  /**
   * False when the client reads slower than we write: wait for `onDrain`, or give up on it. `bufferedBytes` says how far behind.
   * The chunk is not copied and must not be changed afterwards; one chunk may be written to any number of streams. One of 128 KiB or more, which
   * no stream takes in and asks for more, may be changed once this was true (it went nowhere) or `onDrain` has called back.
   */
  write(chunk: Buffer): boolean;
  readonly bufferedBytes: number;
  /** Calls back once, the next time that all was handed to the network. Never, if the client goes first. */
  onDrain(listener: () => void): void;
  /** Trailers are sent where the answer's headers have announced some (`trailer`) and the client's HTTP version has room for them. */
  end(trailers?: ResponseHeaders): void;
  /** Cuts the connection or stream off without a proper end. */
  destroy(): void;
}

/** What `startStream` gives when the client has gone: takes everything, does nothing. */
export const closedStream: ResponseStream = { write: () => true, bufferedBytes: 0, onDrain() {}, end() {}, destroy() {} };

/** What is known of the connection, shared by all its requests. */
export interface ConnectionInfo {
  /** The client's certificate chain was offered and is well-formed; DER of the leaf first. Whether to trust it is authentication's to say. */
  readonly peerCertificates: readonly Buffer[];
  /** Mutable slot in which authentication keeps what it found for this connection's certificate. */
  certificateUser?: unknown;
  /** Asks the client to open a new connection: GOAWAY on HTTP/2, `Connection: close` on HTTP/1.1. */
  requestClose(): void;
  /** Closes it at once; what is under way on it gets no answer. */
  destroy(): void;
  /** Leaves further requests unread until `resumeReading`. False where they are already. */
  pauseReading(): boolean;
  resumeReading(): void;
}

/** For exchanges that no client has sent: nothing that is done to the connection concerns anybody. */
export const withoutConnection = (peerCertificates: readonly Buffer[]): ConnectionInfo => ({
  peerCertificates,
  requestClose() {},
  destroy() {},
  pauseReading: () => false,
  resumeReading() {},
});
