import type { Socket } from 'node:net';
import type { Clock, Timer } from '../util/clock.ts';
import {
  DEFAULT_WINDOW_BYTES,
  Flag,
  type Frame,
  FrameReader,
  FrameType,
  MAX_WINDOW_BYTES,
  PREFACE,
  ResetCode,
  Setting,
  frame,
  headersFrame,
  numberFrame,
  readSettings,
  settingsFrame,
  unpadded,
} from './frames.ts';
import { HeaderReader, type Headers } from './hpack.ts';
import { OutgoingBody } from './outgoing-body.ts';

export interface ConnectionOptions {
  clock: Clock;
  /** How long it may take to stand. */
  connectTimeoutMs: number;
  keepaliveTimeMs: number;
  keepaliveTimeoutMs: number;
}

interface ConnectionEvents {
  onConnect(): void;
  /** It takes no more streams. */
  onEnd(reason: string, wasConnected: boolean): void;
}

/** What a stream is told; `onEnd` or `onFailure` is the last. */
interface StreamEvents {
  onHeaders(headers: Headers): void;
  /** `piece` shares memory with others. */
  onData(piece: Buffer): void;
  onEnd(): void;
  /** `wasNotSent`: the peer has certainly not looked at it. */
  onFailure(reason: string, wasNotSent: boolean): void;
}

/** The side of a stream that its owner holds. */
export interface Http2Stream {
  /** Nothing may follow what `isLast`. */
  send(bytes: Buffer, isLast: boolean): void;
  /** Nothing is told after. */
  cancel(): void;
}

interface OpenStream {
  readonly id: number;
  readonly events: StreamEvents;
  readonly body: OutgoingBody;
  /** Taken in, and not yet given back to the peer's window. */
  unreturnedBytes: number;
}

/** So much may be under way to us before we have taken any of it in: a range of thousands of objects comes without waiting. */
const STREAM_WINDOW_BYTES = 8 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_STREAM_ID = 2 ** 31 - 1;

/**
 * The client's end of an HTTP/2 connection (RFC 9113), as far as gRPC needs it. Node's own costs four times the CPU of what a call to etcd otherwise
 * takes, in streams, headers and timers that gRPC has no use for (docs/etcd.md has the figures).
 */
export class Http2Connection {
  #socket: Socket | undefined;
  readonly #givenUp = new AbortController();
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #frames = new FrameReader();
  readonly #headers = new HeaderReader();
  readonly #streams = new Map<number, OpenStream>();
  readonly #connectTimer: Timer;
  #nextStreamId = 1;
  /** Streams opened beyond what the peer allows at once: they are begun as others end. */
  #waiting: (() => void)[] = [];
  #maxStreams = Infinity;
  #sendWindowBytes = DEFAULT_WINDOW_BYTES;
  #initialStreamWindowBytes = DEFAULT_WINDOW_BYTES;
  #unreturnedBytes = 0;
  /** A header block that further frames continue. */
  #unfinishedBlock: { frame: Frame; parts: Buffer[]; sizeBytes: number } | undefined;
  #unwritten: Buffer[] = [];
  #isConnected = false;
  #takesStreams = true;
  #failure = '';
  #lastReceivedMs: number;
  #keepalive: Timer | undefined;
  #onPong: (() => void) | undefined;

  /** `connect` resolves with a socket that stands, its TLS handshake done, and gives up when the signal aborts. */
  constructor(connect: (signal: AbortSignal) => Promise<Socket>, options: ConnectionOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#lastReceivedMs = options.clock.now();
    this.#connectTimer = options.clock.after(options.connectTimeoutMs, () => this.destroy('the connection took too long to stand'));
    connect(this.#givenUp.signal).then(
      (socket) => this.#onConnect(socket),
      (error: Error) => {
        this.#failure ||= error.message;
        this.#onClose();
      },
    );
    this.#write(PREFACE);
    this.#write(
      settingsFrame([
        [Setting.headerTableSize, 0],
        [Setting.enablePush, 0],
        [Setting.initialWindowSize, STREAM_WINDOW_BYTES],
      ]),
    );
    this.#write(numberFrame(FrameType.windowUpdate, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
  }

  /** Undefined, and `onFailure` is called, when it takes no more. */
  open(headerBlock: Buffer, events: StreamEvents): Http2Stream | undefined {
    if (!this.#takesStreams || this.#nextStreamId > MAX_STREAM_ID) {
      events.onFailure(this.#reason, true);
      return undefined;
    }
    this.#keepalive ??= this.#watchOver();
    if (this.#streams.size < this.#maxStreams) return this.#begin(headerBlock, events);
    return this.#beginLater(headerBlock, events);
  }

  /** Ends all streams. */
  destroy(reason: string): void {
    this.#failure ||= reason;
    this.#givenUp.abort();
    this.#socket?.destroy();
  }

  /** Why it ended, in grpc-go's words. */
  get #reason(): string {
    const failure = this.#failure || 'transport is closing';
    return this.#isConnected ? failure : `connection error: desc = "${failure}"`;
  }

  #begin(headerBlock: Buffer, events: StreamEvents): Http2Stream {
    const id = this.#nextStreamId;
    this.#nextStreamId += 2;
    const stream: OpenStream = { id, events, body: new OutgoingBody(id, this.#initialStreamWindowBytes), unreturnedBytes: 0 };
    this.#streams.set(id, stream);
    this.#write(headersFrame(id, headerBlock));
    return {
      send: (bytes, isLast) => {
        if (!this.#streams.has(id)) return;
        stream.body.add(bytes, isLast);
        this.#pump(stream);
      },
      cancel: () => {
        if (!this.#streams.has(id)) return;
        this.#write(numberFrame(FrameType.rstStream, id, ResetCode.cancel));
        this.#forget(stream);
      },
    };
  }

  #beginLater(headerBlock: Buffer, events: StreamEvents): Http2Stream {
    let stream: Http2Stream | undefined;
    let isCanceled = false;
    const unsent: [Buffer, boolean][] = [];
    this.#waiting.push(() => {
      if (isCanceled) return;
      if (!this.#takesStreams) return events.onFailure(this.#reason, true);
      stream = this.#begin(headerBlock, events);
      for (const [bytes, isLast] of unsent) stream.send(bytes, isLast);
    });
    return {
      send: (bytes, isLast) => (stream ? stream.send(bytes, isLast) : void unsent.push([bytes, isLast])),
      cancel: () => {
        isCanceled = true;
        stream?.cancel();
      },
    };
  }

  #forget(stream: OpenStream): void {
    this.#streams.delete(stream.id);
    while (this.#waiting.length > 0 && (this.#streams.size < this.#maxStreams || !this.#takesStreams)) this.#waiting.shift()!();
    if (!this.#takesStreams && this.#streams.size === 0) this.#socket?.end();
  }

  #fail(stream: OpenStream, reason: string, wasNotSent: boolean): void {
    this.#forget(stream);
    stream.events.onFailure(reason, wasNotSent);
  }

  /** What is written in one turn goes out together. */
  #write(bytes: Buffer): void {
    if (this.#unwritten.push(bytes) === 1 && this.#socket) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const unwritten = this.#unwritten;
    this.#unwritten = [];
    if (!this.#socket!.destroyed) this.#socket!.write(unwritten.length === 1 ? unwritten[0]! : Buffer.concat(unwritten));
  }

  /** Sends what the peer's windows allow. */
  #pump(stream: OpenStream): void {
    for (;;) {
      const next = stream.body.next(this.#sendWindowBytes);
      if (!next) return;
      this.#sendWindowBytes -= next.sizeBytes;
      this.#write(next.frame);
    }
  }

  #onConnect(socket: Socket): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => this.#receive(piece));
    // 'close' follows.
    socket.on('error', (error) => (this.#failure ||= error.message));
    socket.on('close', () => this.#onClose());
    if (this.#givenUp.signal.aborted) socket.destroy();
    if (socket.closed) return this.#onClose();
    this.#flush();
    this.#isConnected = true;
    this.#connectTimer.cancel();
    this.#received();
    this.#events.onConnect();
  }

  #received(): void {
    this.#lastReceivedMs = this.#options.clock.now();
  }

  #receive(piece: Buffer): void {
    this.#received();
    try {
      this.#frames.push(piece, (received) => this.#onFrame(received));
    } catch (error) {
      this.destroy(`protocol error: ${(error as Error).message}`);
    }
  }

  #onFrame(received: Frame): void {
    switch (received.type) {
      case FrameType.data:
        return this.#onData(received);
      case FrameType.headers:
      case FrameType.continuation:
        return this.#onHeaderFrame(received);
      case FrameType.windowUpdate:
        return this.#onWindowUpdate(received);
      case FrameType.rstStream:
        return this.#onReset(received);
      case FrameType.settings:
        return this.#onSettings(received);
      case FrameType.ping:
        return this.#onPing(received);
      case FrameType.goaway:
        return this.#onGoaway(received);
      case FrameType.pushPromise:
        throw new Error('a push that was forbidden');
      default:
        // Frames of other kinds are to be passed over (§4.1).
        return undefined;
    }
  }

  #onData(received: Frame): void {
    const { streamId, flags, payload } = received;
    this.#returnWindow(payload.length);
    const stream = this.#streams.get(streamId);
    if (!stream) return;
    stream.events.onData(unpadded(received));
    if (flags & Flag.endStream) return this.#onStreamEnd(stream);
    stream.unreturnedBytes += payload.length;
    if (stream.unreturnedBytes < STREAM_WINDOW_BYTES / 2 || !this.#streams.has(streamId)) return;
    this.#write(numberFrame(FrameType.windowUpdate, streamId, stream.unreturnedBytes));
    stream.unreturnedBytes = 0;
  }

  /** Bytes count against the connection's window whether their stream still is of interest or not. */
  #returnWindow(sizeBytes: number): void {
    this.#unreturnedBytes += sizeBytes;
    if (this.#unreturnedBytes < CONNECTION_WINDOW_BYTES / 2) return;
    this.#write(numberFrame(FrameType.windowUpdate, 0, this.#unreturnedBytes));
    this.#unreturnedBytes = 0;
  }

  #onHeaderFrame(received: Frame): void {
    const isFirst = received.type === FrameType.headers;
    if (isFirst === (this.#unfinishedBlock !== undefined)) throw new Error('header frames in the wrong order');
    const part = isFirst ? unpadded(received, (received.flags & Flag.priority) !== 0) : received.payload;
    if (isFirst && received.flags & Flag.endHeaders) return this.#onHeaders(received, part);
    const block = (this.#unfinishedBlock ??= { frame: received, parts: [], sizeBytes: 0 });
    block.parts.push(part);
    block.sizeBytes += part.length;
    if (block.sizeBytes > MAX_HEADER_BYTES) throw new Error('headers are too large');
    if (!(received.flags & Flag.endHeaders)) return;
    this.#unfinishedBlock = undefined;
    this.#onHeaders(block.frame, Buffer.concat(block.parts));
  }

  #onHeaders({ streamId, flags }: Frame, block: Buffer): void {
    const stream = this.#streams.get(streamId);
    if (!stream) return;
    stream.events.onHeaders(this.#headers.read(block));
    if (flags & Flag.endStream) this.#onStreamEnd(stream);
  }

  #onStreamEnd(stream: OpenStream): void {
    if (!this.#streams.has(stream.id)) return;
    // The peer has answered without hearing us out: it may be told that nothing more comes.
    if (!stream.body.isDone) this.#write(numberFrame(FrameType.rstStream, stream.id, ResetCode.cancel));
    this.#forget(stream);
    stream.events.onEnd();
  }

  #onWindowUpdate({ streamId, payload }: Frame): void {
    const increment = payload.readUInt32BE(0) & MAX_WINDOW_BYTES;
    if (streamId === 0) {
      this.#sendWindowBytes += increment;
      if (this.#sendWindowBytes > MAX_WINDOW_BYTES) throw new Error('a window that is too large');
      for (const stream of this.#streams.values()) {
        if (this.#sendWindowBytes <= 0) break;
        this.#pump(stream);
      }
      return;
    }
    const stream = this.#streams.get(streamId);
    if (!stream) return;
    stream.body.widen(increment);
    this.#pump(stream);
  }

  #onReset({ streamId, payload }: Frame): void {
    const stream = this.#streams.get(streamId);
    if (!stream) return;
    const code = payload.readUInt32BE(0);
    this.#fail(stream, `stream terminated by RST_STREAM with error code: ${code}`, code === ResetCode.refusedStream);
  }

  #onSettings({ flags, payload }: Frame): void {
    if (flags & Flag.ack) return;
    for (const [id, value] of readSettings(payload)) {
      if (id === Setting.maxConcurrentStreams) this.#maxStreams = value;
      if (id !== Setting.initialWindowSize) continue;
      if (value > MAX_WINDOW_BYTES) throw new Error('a window that is too large');
      const change = value - this.#initialStreamWindowBytes;
      this.#initialStreamWindowBytes = value;
      for (const stream of this.#streams.values()) stream.body.widen(change);
    }
    this.#write(frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)));
    for (const stream of this.#streams.values()) this.#pump(stream);
  }

  #onPing({ flags, payload }: Frame): void {
    if (flags & Flag.ack) this.#onPong?.();
    else this.#write(frame(FrameType.ping, Flag.ack, 0, payload));
  }

  /** No more streams; those that the peer has looked at may end. */
  #onGoaway({ payload }: Frame): void {
    const lastId = payload.readUInt32BE(0) & MAX_WINDOW_BYTES;
    this.#endOpening();
    for (const stream of this.#streams.values()) if (stream.id > lastId) this.#fail(stream, 'the server is going away', true);
    if (this.#streams.size === 0) this.#socket?.end();
  }

  #endOpening(): void {
    if (!this.#takesStreams) return;
    this.#takesStreams = false;
    this.#connectTimer.cancel();
    this.#events.onEnd(this.#reason, this.#isConnected);
    for (const begin of this.#waiting.splice(0)) begin();
  }

  #onClose(): void {
    this.#keepalive?.cancel();
    this.#endOpening();
    for (const stream of this.#streams.values()) this.#fail(stream, this.#reason, !this.#isConnected);
  }

  /** Servers forbid pings when no stream is open. */
  #watchOver(): Timer {
    const { clock, keepaliveTimeMs, keepaliveTimeoutMs } = this.#options;
    const quietMs = clock.now() - this.#lastReceivedMs;
    return clock.after(Math.max(keepaliveTimeMs - quietMs, keepaliveTimeMs / 10), () => {
      this.#keepalive = undefined;
      if (this.#socket?.destroyed || this.#streams.size === 0) return;
      this.#keepalive = this.#watchOver();
      if (!this.#isConnected || this.#onPong || clock.now() - this.#lastReceivedMs < keepaliveTimeMs) return;
      const deadline = clock.after(keepaliveTimeoutMs, () => this.destroy('keepalive ping failed to receive ACK within timeout'));
      this.#onPong = () => {
        this.#onPong = undefined;
        deadline.cancel();
      };
      this.#write(frame(FrameType.ping, 0, 0, Buffer.alloc(8)));
    });
  }
}
