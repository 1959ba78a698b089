import type { Socket } from 'node:net';
import { BlockWriter } from '../http2/hpack.ts';
import type { Http2RequestHead } from '../http2/request-head.ts';
import { ServerConnection, type ServerStream, type ServerStreamEvents } from '../http2/server-connection.ts';
import type { UnsentLedger } from '../net/unsent-answers.ts';
import { type Clock, systemClock } from '../util/clock.ts';
import { MessageAssembler, framed } from './message-assembler.ts';
import { GrpcCode, GrpcError } from './status.ts';

/** What a server of gRPC answers, by the path of the method: `/etcdserverpb.KV/Range`. */
export interface GrpcService {
  readonly unary: ReadonlyMap<string, UnaryMethod>;
  readonly streams: ReadonlyMap<string, StreamMethod>;
}

/** Throws GrpcError for a status; whatever else it throws is `Internal`. The message may share memory with others that are read later. */
export type UnaryMethod = (message: Buffer) => Promise<Buffer> | Buffer;
/** Called when the call begins, before its first message. */
export type StreamMethod = (call: ServerCall) => ServerCallHandler;

export interface ServerCallHandler {
  onMessage(message: Buffer): void;
  /** The client has sent its last message. */
  onHalfClose(): void;
  /** The call is over, however it ended. */
  onEnd(): void;
  /** After `send` was false: there is room. */
  onDrain?(): void;
}

/** The server's end of a call that streams. */
export interface ServerCall {
  /** False where the client has to read first: more is taken, and waits in memory. */
  send(message: Buffer): boolean;
  /** Ends the call, with OK where there is no error. */
  end(error?: GrpcError): void;
}

export interface GrpcServerOptions {
  /** Larger ones are refused. */
  maxMessageBytes: number;
  clock?: Clock;
  /** A client has broken a rule of HTTP/2 and is cut off. */
  onViolation?: (message: string) => void;
}

/** Clients are trusted, so only what a mistake could cost is bounded: see `ConnectionLimits`. */
const LIMITS = {
  headerTimeoutMs: 10_000,
  idleTimeoutMs: 2 ** 31 - 1,
  headerBytes: 64 * 1024,
  headerCount: 200,
  streamsPerConnection: 10_000,
  streamWindowBytes: 4 * 1024 * 1024,
  unsentBytesPerConnection: Infinity,
  maxUnsentBytesPerConnection: Infinity,
  unansweredResetsPerSecond: 10_000,
  resetsPerSecond: 10_000,
  controlFramesPerSecond: 10_000,
};

const NO_LEDGER: UnsentLedger = { open: () => ({ set: () => undefined, close: () => undefined }) };

const writer = new BlockWriter();

/** Serves calls on a connection whose TLS handshake, if it has one, is done. The answer makes it take no more calls, and end with the last. */
export function serveGrpc(socket: Socket, service: GrpcService, { maxMessageBytes, clock = systemClock, onViolation }: GrpcServerOptions): { finish(): void } {
  const connection: ServerConnection = new ServerConnection(
    socket,
    { ...LIMITS, clock, unsent: NO_LEDGER },
    {
      onRequest: (stream, head) => {
        stream.events = beginCall({ connection, stream, head, service, maxMessageBytes });
      },
      onOversizedHead: (stream) => {
        stream.events = IGNORED;
        endCall(connection, stream, false, new GrpcError(GrpcCode.resourceExhausted, 'too many headers'));
      },
      onAbuse: (message) => onViolation?.(message),
      onUnread: (message) => onViolation?.(message),
      onViolation: (message) => onViolation?.(message),
    },
  );
  socket.on('error', () => undefined);
  return { finish: () => connection.finish() };
}

interface NewCall {
  connection: ServerConnection;
  stream: ServerStream;
  head: Http2RequestHead;
  service: GrpcService;
  maxMessageBytes: number;
}

const IGNORED: ServerStreamEvents = { onData: () => undefined, onBodyEnd: () => undefined, onOver: () => undefined };

function beginCall({ connection, stream, head, service, maxMessageBytes }: NewCall): ServerStreamEvents {
  const unary = service.unary.get(head.target);
  if (unary) return new UnaryCall(connection, stream, unary, maxMessageBytes);
  const streaming = service.streams.get(head.target);
  if (streaming) return new StreamingCall(connection, stream, streaming, maxMessageBytes);
  endCall(connection, stream, false, new GrpcError(GrpcCode.unimplemented, `unknown method ${head.target}`));
  return IGNORED;
}

/** Both ends of an answer without a body are in one block of headers (grpc/doc/PROTOCOL-HTTP2.md, "Trailers-Only"). */
function endCall(connection: ServerConnection, stream: ServerStream, hasBegun: boolean, error: GrpcError | undefined): void {
  writer.clear();
  if (!hasBegun) addHead();
  writer.add('grpc-status', String(error?.code ?? GrpcCode.ok));
  if (error) writer.add('grpc-message', percentEncoded(error.details));
  if (hasBegun) connection.end(stream, writer);
  else connection.answer(stream, writer, true);
}

function addHead(): void {
  writer.add(':status', '200');
  writer.add('content-type', 'application/grpc');
}

const percentEncoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString()).replaceAll('%20', ' ');

const asGrpcError = (error: unknown): GrpcError =>
  error instanceof GrpcError ? error : new GrpcError(GrpcCode.internal, error instanceof Error ? error.message : String(error));

class UnaryCall implements ServerStreamEvents {
  readonly #connection: ServerConnection;
  readonly #stream: ServerStream;
  readonly #method: UnaryMethod;
  readonly #assembler: MessageAssembler;
  #message: Buffer | undefined;
  /** The call was answered, though the client may still be sending. */
  #isEnded = false;

  constructor(connection: ServerConnection, stream: ServerStream, method: UnaryMethod, maxMessageBytes: number) {
    this.#connection = connection;
    this.#stream = stream;
    this.#method = method;
    this.#assembler = new MessageAssembler(maxMessageBytes);
  }

  onData(piece: Buffer): void {
    this.#connection.release(this.#stream, piece.length);
    if (this.#isEnded) return;
    try {
      this.#assembler.push(piece, (message) => (this.#message = message));
    } catch (error) {
      this.#isEnded = true;
      endCall(this.#connection, this.#stream, false, asGrpcError(error));
    }
  }

  onBodyEnd(): void {
    if (!this.#isEnded) void this.#answer();
  }

  onOver(): void {
    this.#message = undefined;
  }

  async #answer(): Promise<void> {
    try {
      if (!this.#message) throw new GrpcError(GrpcCode.internal, 'a call without a message');
      const answer = await this.#method(this.#message);
      writer.clear();
      addHead();
      this.#connection.answer(this.#stream, writer, false);
      this.#connection.send(this.#stream, framed(answer), false);
      endCall(this.#connection, this.#stream, true, undefined);
    } catch (error) {
      endCall(this.#connection, this.#stream, false, asGrpcError(error));
    }
  }
}

class StreamingCall implements ServerStreamEvents, ServerCall {
  readonly #connection: ServerConnection;
  readonly #stream: ServerStream;
  readonly #assembler: MessageAssembler;
  readonly #handler: ServerCallHandler;
  #hasBegun = false;
  #isEnded = false;

  constructor(connection: ServerConnection, stream: ServerStream, method: StreamMethod, maxMessageBytes: number) {
    this.#connection = connection;
    this.#stream = stream;
    this.#assembler = new MessageAssembler(maxMessageBytes);
    this.#handler = method(this);
  }

  send(message: Buffer): boolean {
    if (this.#isEnded) return true;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      writer.clear();
      addHead();
      this.#connection.answer(this.#stream, writer, false);
    }
    return this.#connection.send(this.#stream, framed(message), false);
  }

  end(error?: GrpcError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    endCall(this.#connection, this.#stream, this.#hasBegun, error);
  }

  onData(piece: Buffer): void {
    this.#connection.release(this.#stream, piece.length);
    if (this.#isEnded) return;
    try {
      this.#assembler.push(piece, (message) => this.#handler.onMessage(message));
    } catch (error) {
      this.end(asGrpcError(error));
    }
  }

  onBodyEnd(): void {
    if (!this.#isEnded) this.#handler.onHalfClose();
  }

  onDrain(): void {
    this.#handler.onDrain?.();
  }

  onOver(): void {
    this.#handler.onEnd();
  }
}
