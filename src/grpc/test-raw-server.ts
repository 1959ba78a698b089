import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { FrameFlag, type Frame, Http2FrameReader, FrameType, PREFACE, frame, headersFrames, numberFrame, settingsFrame } from '../http2/frames.ts';
import { HeaderReader, encodeHeaders, lastValue } from '../http2/hpack.ts';
import { MessageAssembler, framed } from './message-assembler.ts';

/* For tests: a gRPC server that is spoken to, and answers, frame by frame. Well-behaved ones would not let themselves be made to do what hostile ones do. */

const OK_HEADERS = encodeHeaders({ ':status': '200', 'content-type': 'application/grpc' });
const OK_TRAILERS = encodeHeaders({ 'grpc-status': '0' });
const MAX_WINDOW_BYTES = 2 ** 30;

/** One call of a client. */
export class RawCall {
  readonly socket: Socket;
  readonly streamId: number;
  readonly path: string;
  /** Called with each further message of the client's. */
  onMessage: (message: Buffer) => void = () => {};
  onClose: () => void = () => {};
  #hasBegun = false;

  constructor(socket: Socket, streamId: number, path: string) {
    this.socket = socket;
    this.streamId = streamId;
    this.path = path;
  }

  /** The head of an answer, and a message; what is longer than a window waits for nobody. */
  send(message: Buffer): void {
    this.begin();
    const bytes = framed(message);
    for (let at = 0; at < bytes.length; at += 16_384) this.data(bytes.subarray(at, at + 16_384));
  }

  begin(): void {
    if (!this.#hasBegun) this.write(headersFrames(this.streamId, OK_HEADERS, false));
    this.#hasBegun = true;
  }

  data(bytes: Buffer): void {
    this.write(frame(FrameType.data, 0, this.streamId, bytes));
  }

  end(trailers: Buffer = OK_TRAILERS): void {
    this.write(headersFrames(this.streamId, trailers, true));
  }

  /** As a good server does. */
  fail(code: number, details: string): void {
    const status = { 'grpc-status': String(code), 'grpc-message': encodeURIComponent(details) };
    this.end(encodeHeaders(this.#hasBegun ? status : { ':status': '200', ...status }));
  }

  /** As a good server does. */
  answer(message: Buffer): void {
    this.send(message);
    this.end();
  }

  write(bytes: Buffer): boolean {
    return !this.socket.destroyed && this.socket.write(bytes);
  }

  /** Sends as fast as the client takes it, until it has enough of it and closes the connection. */
  flood(next: (index: number) => Buffer): void {
    let index = 0;
    const pump = (): void => {
      while (!this.socket.destroyed) if (!this.socket.write(Buffer.concat(Array.from({ length: 1000 }, () => next(index++))))) return;
    };
    // In a turn of its own: what is taken at once would leave the test no turn.
    this.socket.on('drain', () => setImmediate(pump));
    pump();
  }

  /** Sends one piece after the other, slowly. */
  trickle(periodMs: number, next: (index: number) => Buffer): void {
    let index = 0;
    const timer = setInterval(() => this.write(next(index++)), periodMs);
    this.socket.once('close', () => clearInterval(timer));
  }
}

/** Calls are answered by `onCall` with the first message, and may go on after. */
export class RawGrpcServer {
  onCall: (call: RawCall, message: Buffer) => void;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(onCall: RawGrpcServer['onCall']) {
    this.onCall = onCall;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** On a Unix socket, or else on a free port. */
  async listen(socketPath?: string): Promise<this> {
    await new Promise<void>((resolve) => {
      if (socketPath === undefined) this.#server.listen(0, '127.0.0.1', resolve);
      else this.#server.listen(socketPath, resolve);
    });
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections stand. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Ends all connections; further ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    const frames = new Http2FrameReader();
    const headers = new HeaderReader({ tableBytes: 4096, listBytes: 1024 * 1024, fieldCount: 1000 });
    const calls = new Map<number, { call: RawCall; take: (piece: Buffer) => void }>();
    let skipped = 0;
    this.#sockets.add(socket);
    socket
      .on('error', () => {})
      .once('close', () => {
        this.#sockets.delete(socket);
        for (const { call } of calls.values()) call.onClose();
      });
    socket.write(Buffer.concat([settingsFrame([[4, MAX_WINDOW_BYTES]]), numberFrame(FrameType.windowUpdate, 0, MAX_WINDOW_BYTES)]));
    socket.on('data', (piece: Buffer) => {
      const rest = piece.subarray(Math.min(PREFACE.length - skipped, piece.length));
      skipped += piece.length - rest.length;
      frames.add(rest);
      for (let received = frames.next(); received; received = frames.next()) this.#onFrame(socket, received, headers, calls);
    });
  }

  #onFrame(socket: Socket, received: Frame, headers: HeaderReader, calls: Map<number, { call: RawCall; take: (piece: Buffer) => void }>): void {
    const { type, flags, streamId, payload } = received;
    if (type === FrameType.settings && !(flags & FrameFlag.ack) && !socket.destroyed)
      socket.write(frame(FrameType.settings, FrameFlag.ack, 0, Buffer.alloc(0)));
    if (type === FrameType.ping && !(flags & FrameFlag.ack) && !socket.destroyed) socket.write(frame(FrameType.ping, FrameFlag.ack, 0, payload));
    if (type === FrameType.headers) {
      const call = new RawCall(socket, streamId, lastValue(headers.read(payload), ':path') ?? '');
      calls.set(streamId, { call, take: this.#messagesOf(call) });
    }
    if (type === FrameType.data) calls.get(streamId)?.take(payload);
    if (type === FrameType.rstStream) {
      calls.get(streamId)?.call.onClose();
      calls.delete(streamId);
    }
  }

  #messagesOf(call: RawCall): (piece: Buffer) => void {
    const assembler = new MessageAssembler();
    let isFirst = true;
    return (piece) =>
      assembler.push(piece, (message) => {
        if (isFirst) this.onCall(call, message);
        else call.onMessage(message);
        isFirst = false;
      });
  }
}
