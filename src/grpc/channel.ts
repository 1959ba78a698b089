import type { Socket } from 'node:net';
import { type Dial, dialDirectly, dialUnix, hostPort } from '../net/dial.ts';
import { type Clock, systemClock } from '../util/clock.ts';
import { ClientConnection, type ClientStream, type ClientStreamEvents, type StreamFailure } from '../http2/client-connection.ts';
import { type HeaderFields, encodeHeaders, lastValue } from '../http2/hpack.ts';
import { TlsDialer } from '../serving/tls-dialer.ts';
import { MAX_MESSAGE_BYTES, MessageAssembler, framed } from './message-assembler.ts';
import { GrpcCode, GrpcError, errorOfHttpStatus, statusOf } from './status.ts';
import { onAbort } from '../util/on-abort.ts';

/** Where a gRPC server listens. */
export type GrpcTarget = { host: string; port: number; tls?: GrpcTls } | { socketPath: string } | GrpcConnector;

/** A way to a server that somebody else knows. */
export interface GrpcConnector {
  authority: string;
  hasTls: boolean;
  connect(signal: AbortSignal): Promise<Socket>;
}

/** In PEM. Without `ca` the system's authorities count. */
export interface GrpcTls {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  /** The name that the certificate must carry, where it is not the host's. */
  serverName?: string;
}

export interface GrpcChannelOptions {
  clock?: Clock;
  /** The way to a host and port. */
  dial?: Dial | undefined;
  /** How long a connection may take to stand. */
  connectTimeoutMs?: number;
  /** A quiet connection with calls under way is asked for a sign of life after so long, and given up when none comes within the second. */
  keepaliveTimeMs?: number;
  keepaliveTimeoutMs?: number;
  maxMessageBytes?: number;
  /** So much of a call may be under way to us before we have taken any of it in. */
  streamWindowBytes?: number;
}

export interface CallOptions {
  /** After so long the call fails with DeadlineExceeded; the server is told the deadline too. */
  timeoutMs?: number;
  signal?: AbortSignal;
  metadata?: Readonly<Record<string, string>>;
}

export interface StreamHandler {
  /** Must not keep `message` beyond the call without copying what it keeps. */
  onMessage(message: Buffer): void;
  /** Called once, when nothing follows: undefined for status OK. */
  onEnd(error: GrpcError | undefined): void;
  /** After `send` was false: there is room. */
  onDrain?(): void;
}

export interface GrpcStream {
  /** False where the server has to read first: more is taken, and waits in memory. */
  send(message: Buffer): boolean;
  /** What is under way still comes, up to the window of the stream; the server sends no more until `resume`. */
  pause(): void;
  resume(): void;
  /** Nothing is called after. */
  cancel(): void;
}

/** As upstream's client of etcd (apiserver/pkg/storage/storagebackend/factory/etcd3.go). */
const KEEPALIVE_TIME_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 20_000;

/** Failed connections are tried again after 100 ms, twice as long each time, 5 s at most; calls in between fail at once. */
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
const MAX_KNOWN_BLOCKS = 256;
/** A range of thousands of objects comes without waiting. */
const STREAM_WINDOW_BYTES = 8 * 1024 * 1024;

/**
 * Calls to one gRPC server, all on one HTTP/2 connection, which is made when a call needs it and again after it broke.
 * A call that fails is not repeated here: GrpcError.wasNotSent tells those that are safe to repeat whatever they do.
 */
export class GrpcChannel {
  readonly #options: Required<Omit<GrpcChannelOptions, 'dial'>>;
  readonly #connect: (signal: AbortSignal) => Promise<Socket>;
  readonly #knownBlocks = new Map<string, Buffer>();
  readonly #commonBlock: Buffer;
  #connection: ClientConnection | undefined;
  #failures = 0;
  #retryAtMs = 0;
  #lastFailure = '';
  #isClosed = false;

  constructor(target: GrpcTarget, { dial = dialDirectly, ...options }: GrpcChannelOptions = {}) {
    this.#connect = connectorTo(target, dial);
    this.#options = {
      clock: systemClock,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      keepaliveTimeMs: KEEPALIVE_TIME_MS,
      keepaliveTimeoutMs: KEEPALIVE_TIMEOUT_MS,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      streamWindowBytes: STREAM_WINDOW_BYTES,
      ...options,
    };
    this.#commonBlock = encodeHeaders({
      ':method': 'POST',
      ':scheme': isSecure(target) ? 'https' : 'http',
      ':authority': authorityOf(target),
    });
  }

  /** False while a broken connection waits to be made anew: calls would fail at once. */
  get isUsable(): boolean {
    return !this.#isClosed && (this.#connection !== undefined || this.#options.clock.now() >= this.#retryAtMs);
  }

  /** No call will ever succeed again. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** One message there, one back. The answer may share memory with others. Throws GrpcError. */
  unary(path: string, message: Buffer, { timeoutMs, signal, metadata }: CallOptions = {}): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      let timer: NodeJS.Timeout | undefined;
      let call: Call | undefined;
      let stopWaiting: (() => void) | undefined;
      const handler: StreamHandler = {
        onMessage(received) {
          if (answer) return fail(new GrpcError(GrpcCode.internal, 'the server sent more than one answer'));
          answer = received;
        },
        onEnd(error) {
          clearTimeout(timer);
          stopWaiting?.();
          if (error) reject(error);
          else if (answer) resolve(answer);
          else reject(new GrpcError(GrpcCode.internal, 'the server ended the call without an answer'));
        },
      };
      const fail = (error: GrpcError): void => {
        call?.cancel();
        handler.onEnd(error);
      };
      const cancel = (): void => fail(new GrpcError(GrpcCode.canceled, 'context canceled'));
      if (signal?.aborted) return cancel();
      call = this.#open(path, handler, metadata, timeoutMs);
      if (!call) return;
      call.send(message, true);
      if (timeoutMs !== undefined) timer = setTimeout(() => fail(new GrpcError(GrpcCode.deadlineExceeded, 'context deadline exceeded')), timeoutMs);
      if (signal) stopWaiting = onAbort(signal, cancel);
    });
  }

  /** Messages both ways until either side ends. `onEnd` may be called before this returns, when there is no connection to be had. */
  stream(path: string, handler: StreamHandler, { metadata }: Pick<CallOptions, 'metadata'> = {}): GrpcStream {
    const call = this.#open(path, handler, metadata);
    return {
      send: (message) => call?.send(message) ?? true,
      pause: () => call?.pause(),
      resume: () => call?.resume(),
      cancel: () => call?.cancel(),
    };
  }

  /** Takes no more calls, and ends with the last; what was sent still goes out. */
  finish(): void {
    this.#isClosed = true;
    this.#connection?.finish();
  }

  /** Ends all calls. */
  close(): void {
    this.#isClosed = true;
    this.#connection?.destroy('the channel is closed');
  }

  #open(path: string, handler: StreamHandler, metadata: CallOptions['metadata'], timeoutMs?: number): Call | undefined {
    const connection = this.#connected();
    if (connection) {
      const call = new Call(handler, this.#options.maxMessageBytes);
      return call.begin(connection, this.#headerBlock(path, timeoutMs, metadata)) ? call : undefined;
    }
    const details = this.#isClosed ? 'the channel is closed' : this.#lastFailure;
    handler.onEnd(new GrpcError(GrpcCode.unavailable, details, true));
    return undefined;
  }

  /** Calls of one path mostly have the same deadline. */
  #headerBlock(path: string, timeoutMs: number | undefined, metadata: CallOptions['metadata']): Buffer {
    const name = `${path} ${timeoutMs}`;
    let block = this.#knownBlocks.get(name);
    if (!block) {
      const headers = { ':path': path, te: 'trailers', 'content-type': 'application/grpc' };
      block = Buffer.concat([this.#commonBlock, encodeHeaders(timeoutMs === undefined ? headers : { ...headers, 'grpc-timeout': grpcTimeout(timeoutMs) })]);
      if (this.#knownBlocks.size >= MAX_KNOWN_BLOCKS) this.#knownBlocks.clear();
      this.#knownBlocks.set(name, block);
    }
    return metadata ? Buffer.concat([block, encodeHeaders(metadata)]) : block;
  }

  #connected(): ClientConnection | undefined {
    if (this.#connection || !this.isUsable) return this.#connection;
    const connection = new ClientConnection(this.#connect, this.#options, {
      onConnect: () => (this.#failures = 0),
      onEnd: (reason, wasConnected) => {
        if (this.#connection === connection) this.#connection = undefined;
        if (!wasConnected) this.#backOff(reason);
      },
    });
    return (this.#connection = connection);
  }

  #backOff(reason: string): void {
    this.#lastFailure = reason;
    this.#retryAtMs = this.#options.clock.now() + Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures++, MAX_BACKOFF_MS);
  }
}

class Call implements ClientStreamEvents {
  readonly #handler: StreamHandler;
  readonly #assembler: MessageAssembler;
  #connection: ClientConnection | undefined;
  #stream: ClientStream | undefined;
  #status: { code: number; details: string } | undefined;
  #hasEnded = false;
  #isPaused = false;
  /** Came while it was paused. */
  #heldBytes = 0;

  constructor(handler: StreamHandler, maxMessageBytes: number) {
    this.#handler = handler;
    this.#assembler = new MessageAssembler(maxMessageBytes);
  }

  /** Whether it could be begun; otherwise `onEnd` has been called. */
  begin(connection: ClientConnection, headerBlock: Buffer): boolean {
    this.#connection = connection;
    this.#stream = connection.open(headerBlock, this);
    return this.#stream !== undefined;
  }

  send(message: Buffer, isLast = false): boolean {
    return this.#hasEnded || this.#connection!.send(this.#stream!, framed(message), isLast);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#heldBytes > 0 && !this.#hasEnded) this.#connection!.release(this.#stream!, this.#heldBytes);
    this.#heldBytes = 0;
  }

  cancel(): void {
    this.#hasEnded = true;
    this.#connection!.cancel(this.#stream!);
  }

  onHeaders(fields: HeaderFields): void {
    this.#status ??= statusOf(fields);
    // Trailers have no HTTP status.
    if (this.#status || lastValue(fields, ':status') === undefined) return;
    const error = errorOfHttpStatus(fields);
    if (error) this.#fail(error);
  }

  onDrain(): void {
    if (!this.#hasEnded) this.#handler.onDrain?.();
  }

  onData(piece: Buffer): void {
    try {
      this.#assembler.push(piece, (message) => {
        if (!this.#hasEnded) this.#handler.onMessage(message);
      });
      // Only now: the message may have led to a pause.
      if (this.#isPaused) this.#heldBytes += piece.length;
      else if (!this.#hasEnded) this.#connection!.release(this.#stream!, piece.length);
    } catch (error) {
      this.#fail(error instanceof GrpcError ? error : new GrpcError(GrpcCode.internal, (error as Error).message));
    }
  }

  onEnd(): void {
    this.#finish(this.#statusError());
  }

  onFailure({ reason, wasNotSent }: StreamFailure): void {
    this.#finish(this.#status ? this.#statusError() : new GrpcError(GrpcCode.unavailable, reason, wasNotSent));
  }

  #statusError(): GrpcError | undefined {
    if (!this.#status) return new GrpcError(GrpcCode.internal, 'the server ended the call without a status');
    const { code, details } = this.#status;
    if (code !== GrpcCode.ok) return new GrpcError(code, details);
    return this.#assembler.isEmpty ? undefined : new GrpcError(GrpcCode.internal, 'the server ended the call within a message');
  }

  #fail(error: GrpcError): void {
    this.#connection!.cancel(this.#stream!);
    this.#finish(error);
  }

  #finish(error: GrpcError | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#handler.onEnd(error);
  }
}

function connectorTo(target: GrpcTarget, dial: Dial): (signal: AbortSignal) => Promise<Socket> {
  if ('connect' in target) return (signal) => target.connect(signal);
  if ('socketPath' in target) return (signal) => dialUnix(target.socketPath, signal);
  const { host, port, tls } = target;
  if (!tls) return (signal) => dial(host, port, signal);
  const { ca, cert, key, serverName } = tls;
  const clientCertificate = cert !== undefined && key !== undefined ? { certPem: String(cert), keyPem: String(key) } : undefined;
  const dialer = new TlsDialer(dial, { caPem: ca === undefined ? undefined : String(ca), serverName, clientCertificate });
  return (signal) =>
    dialer.connect(host, port, { protocols: ['h2'], signal, handshakeTimeoutMs: CONNECT_TIMEOUT_MS, timeoutMessage: 'the handshake took too long' });
}

function authorityOf(target: GrpcTarget): string {
  if ('connect' in target) return target.authority;
  return 'socketPath' in target ? 'localhost' : hostPort(target.host, target.port);
}

const isSecure = (target: GrpcTarget): boolean => ('connect' in target ? target.hasTls : 'tls' in target && target.tls !== undefined);

/** gRPC takes at most eight digits. */
const grpcTimeout = (timeoutMs: number): string => `${Math.min(Math.ceil(timeoutMs), 99_999_999)}m`;
