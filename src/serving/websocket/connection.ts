import type { Duplex } from 'node:stream';
import { endSocket } from '../end-socket.ts';
import type { ResponseStream } from '../exchange.ts';
import { CLOSE_CODE, WebSocketFrameReader, frameHeader, OPCODE, WebSocketError } from './frames.ts';

const NOTHING = Buffer.alloc(0);
/** Below this, header and payload are copied together: one write costs less than two. */
const COPIED_BYTES = 4096;
/** A client that asks for pongs and reads none gets no more of them (RFC 6455 §5.5.3 lets us answer the last ping only). */
const CONTROL_BACKLOG_BYTES = 64 * 1024;
const PING_PERIOD_MS = 5000;

/**
 * The server's side of a WebSocket, after its handshake. Messages are passed on piece by piece as they come. A client that breaks the rules is told so in a close frame,
 * and the connection ends.
 */
export class WebSocketConnection {
  /** What the client offered and the server chose; '' where they agreed on none. */
  readonly protocol: string;
  readonly #socket: Duplex;
  readonly #frames: WebSocketFrameReader;
  readonly #head: Buffer;
  #onData: (bytes: Buffer, isStart: boolean, isEnd: boolean, isText: boolean) => void = () => {};
  #closeListeners: (() => void)[] = [];
  #idleTimeoutMs = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #isPaused = false;
  #pings: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `head` is what came behind the handshake. */
  constructor(socket: Duplex, head: Buffer, protocol: string) {
    this.#socket = socket;
    this.#head = head;
    this.protocol = protocol;
    this.#frames = new WebSocketFrameReader({
      // What follows a close frame is not read (RFC 6455 §5.5.1), even where it came in the same piece.
      data: (...piece) => void (this.#isClosed || this.#onData(...piece)),
      control: (opcode, payload) => this.#control(opcode, payload),
    });
    socket.on('error', () => this.#end());
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Begins to read. Without a listener, messages are read and thrown away. */
  listen(onData: (bytes: Buffer, isStart: boolean, isEnd: boolean, isText: boolean) => void = () => {}): void {
    this.#onData = onData;
    this.#socket.on('data', (chunk: Buffer) => this.#feed(chunk));
    if (this.#head.length > 0) this.#feed(Buffer.from(this.#head));
    this.#socket.resume();
  }

  /** Nothing that the client sends is read until `resume`: not even that it has gone, which is why it is pinged meanwhile. */
  pause(): void {
    if (this.#isClosed) return;
    this.#isPaused = true;
    this.#pings ??= setInterval(() => this.#pingPaused(), PING_PERIOD_MS);
    this.#socket.pause();
  }

  resume(): void {
    if (this.#isClosed) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** One message. False when the client reads slower than we write: wait for `onDrain`. */
  send(payload: Buffer, isText = false): boolean {
    return this.#message(isText ? OPCODE.TEXT : OPCODE.BINARY, payload);
  }

  /** One message, whose first byte says which of several channels it is for. Otherwise as `send`. */
  sendTo(channel: number, payload: Buffer): boolean {
    return this.#message(OPCODE.BINARY, payload, Buffer.from([channel]));
  }

  /** Of what was written and is not yet with the network. */
  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  /** Calls back once, the next time that all was handed to the network. Never, if the client goes first. */
  onDrain(listener: () => void): void {
    this.#socket.once('drain', listener);
  }

  /** Called once, when the connection has ended, from whichever side; at once if it has. */
  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#closeListeners.push(listener);
  }

  /** Ends the connection when nothing was sent either way for so long. */
  setIdleTimeout(timeoutMs: number): void {
    this.#idleTimeoutMs = timeoutMs;
    this.#touch();
  }

  close(code: number = CLOSE_CODE.NORMAL): void {
    if (this.#isClosed) return;
    this.#write(OPCODE.CLOSE, Buffer.from([code >> 8, code & 0xff]));
    this.#end();
  }

  #message(opcode: number, payload: Buffer, prefix?: Buffer): boolean {
    if (this.#isClosed) return true;
    this.#touch();
    return this.#write(opcode, payload, prefix);
  }

  #write(opcode: number, payload: Buffer, prefix: Buffer = NOTHING): boolean {
    const header = Buffer.concat([frameHeader(opcode, prefix.length + payload.length), prefix]);
    if (payload.length <= COPIED_BYTES) return this.#socket.write(Buffer.concat([header, payload]));
    this.#socket.cork();
    this.#socket.write(header);
    const isTaken = this.#socket.write(payload);
    this.#socket.uncork();
    return isTaken;
  }

  #feed(chunk: Buffer): void {
    if (this.#isClosed) return;
    this.#touch();
    try {
      this.#frames.feed(chunk);
    } catch (error) {
      this.close(error instanceof WebSocketError ? error.closeCode : CLOSE_CODE.INTERNAL_ERROR);
    }
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.CLOSE) this.close();
    else if (opcode === OPCODE.PING && this.bufferedBytes <= CONTROL_BACKLOG_BYTES && !this.#isClosed) this.#write(OPCODE.PONG, payload);
  }

  /** Writing to a client that is no more fails. */
  #pingPaused(): void {
    if (this.#isPaused && this.bufferedBytes <= CONTROL_BACKLOG_BYTES) this.#write(OPCODE.PING, NOTHING);
  }

  #touch(): void {
    if (this.#idleTimeoutMs === 0) return;
    if (this.#idleTimer) this.#idleTimer.refresh();
    else this.#idleTimer = setTimeout(() => this.#end(), this.#idleTimeoutMs);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    clearInterval(this.#pings);
    endSocket(this.#socket);
    for (const listener of this.#closeListeners.splice(0)) listener();
  }
}

/** A stream of messages, one a chunk, for whoever writes answers. What the client sends is thrown away. */
export function messageStream(connection: WebSocketConnection, isText: boolean): ResponseStream {
  connection.listen();
  return {
    get bufferedBytes() {
      return connection.bufferedBytes;
    },
    write: (chunk) => connection.send(chunk, isText),
    onDrain: (listener) => connection.onDrain(listener),
    end: () => connection.close(),
    destroy: () => connection.close(CLOSE_CODE.GOING_AWAY),
  };
}
