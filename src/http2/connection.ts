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
  headersFrames,
  numberFrame,
  readSettings,
  settingsFrame,
  unpadded,
} from './frames.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { MAX_LIST_BYTES } from './hpack.ts';
import { type StreamEvents, type StreamFailure, Http2Stream } from './stream.ts';

export interface ConnectionOptions {
  clock: Clock;
  /** How long it may take to stand. */
  connectTimeoutMs: number;
  /** A quiet connection with streams is asked for a sign of life after so long, and given up when none comes within the second. */
  keepaliveTimeMs: number;
  keepaliveTimeoutMs: number;
  /** Of each stream: so much may be under way to us, or wait with its owner, who releases it. */
  streamWindowBytes: number;
  /** One without streams is watched over too, and ended when it has had none for so long. Absent: it is left alone. */
  idleTimeoutMs?: number;
}

export interface ConnectionEvents {
  onConnect?(): void;
  /** The peer has said what it takes. */
  onSettings?(): void;
  /** It takes no more streams. */
  onEnd(reason: string, wasConnected: boolean): void;
}

interface WaitingStream {
  stream: Http2Stream;
  block: Buffer;
  isLast: boolean;
}

/** All streams together. It is given back as soon as it is used, so that no stream stops another: what bounds memory is the window of each. */
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;
const MAX_STREAM_ID = 2 ** 31 - 1;
/** Answers to pings and settings that wait for a peer that does not read them. */
const MAX_WAITING_REPLIES = 1000;

/**
 * The client's end of an HTTP/2 connection (RFC 9113). Node's own costs four times the CPU of what a call to etcd otherwise takes, in streams, headers and
 * timers that nobody has use for here (docs/etcd.md has the figures). What the peer does against the rules ends the connection.
 */
export class Http2Connection {
  #socket: Socket | undefined;
  readonly #givenUp = new AbortController();
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #frames = new FrameReader();
  readonly #blocks = new HeaderBlocks();
  readonly #streams = new Map<number, Http2Stream>();
  readonly #connectTimer: Timer;
  #nextStreamId = 1;
  /** Streams opened beyond what the peer allows at once: they are begun as others end. */
  #waiting: WaitingStream[] = [];
  #maxStreams = Infinity;
  #sendWindowBytes = DEFAULT_WINDOW_BYTES;
  #initialStreamWindowBytes = DEFAULT_WINDOW_BYTES;
  #receivableBytes = CONNECTION_WINDOW_BYTES;
  #unwritten: Buffer[] = [];
  /** The socket holds more than it likes to. */
  #isCongested = false;
  #waitingReplies = 0;
  #isConnected = false;
  #takesStreams = true;
  #failure = '';
  #lastReceivedMs: number;
  #lastUsedMs: number;
  #keepalive: Timer | undefined;
  #onPong: (() => void) | undefined;

  /** `connect` resolves with a socket that stands, its TLS handshake done, and gives up when the signal aborts. */
  constructor(connect: (signal: AbortSignal) => Promise<Socket>, options: ConnectionOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#lastReceivedMs = this.#lastUsedMs = options.clock.now();
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
        [Setting.initialWindowSize, options.streamWindowBytes],
        [Setting.maxHeaderListSize, MAX_LIST_BYTES],
      ]),
    );
    this.#write(numberFrame(FrameType.windowUpdate, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
  }

  get openStreams(): number {
    return this.#streams.size + this.#waiting.length;
  }

  /** A stream that is opened now is begun at once. */
  get hasRoom(): boolean {
    return this.#takesStreams && this.#streams.size < this.#maxStreams && this.#nextStreamId <= MAX_STREAM_ID;
  }

  /** Undefined, and `onFailure` is called, when it takes no more. `isLast`: nothing is sent behind the headers. */
  open(block: Buffer, events: StreamEvents, isLast = false): Http2Stream | undefined {
    if (!this.#takesStreams || this.#nextStreamId > MAX_STREAM_ID) {
      events.onFailure({ reason: this.#reason, wasNotSent: true, resetCode: undefined });
      return undefined;
    }
    this.#keepalive ??= this.#watchOver();
    const stream = new Http2Stream(events, this.#options.streamWindowBytes);
    if (this.#streams.size < this.#maxStreams) this.#begin({ stream, block, isLast });
    else this.#waiting.push({ stream, block, isLast });
    return stream;
  }

  /** Empty `bytes` only where they are the last; nothing may follow those. False where they wait for the peer: `onDrain` tells when it has caught up. */
  send(stream: Http2Stream, bytes: Buffer, isLast: boolean): boolean {
    if (stream.isOver) return true;
    stream.body.add(bytes, isLast);
    if (stream.id !== 0) this.#pump(stream);
    stream.wantsDrain = this.#isCongested || !stream.body.isEmpty;
    return !stream.wantsDrain;
  }

  /** Nothing is told after. */
  cancel(stream: Http2Stream, code: number = ResetCode.cancel): void {
    if (stream.isOver) return;
    stream.isOver = true;
    if (stream.id === 0) {
      this.#waiting = this.#waiting.filter((one) => one.stream !== stream);
      return;
    }
    this.#write(numberFrame(FrameType.rstStream, stream.id, code));
    this.#forget(stream);
  }

  /** So much of the data was taken in: as much more may come. */
  release(stream: Http2Stream, sizeBytes: number): void {
    stream.unreturnedBytes += sizeBytes;
    if (stream.isOver || stream.unreturnedBytes < this.#options.streamWindowBytes / 2) return;
    this.#write(numberFrame(FrameType.windowUpdate, stream.id, stream.unreturnedBytes));
    stream.receivableBytes += stream.unreturnedBytes;
    stream.unreturnedBytes = 0;
  }

  /** Takes no more streams, and ends with the last of them. */
  finish(): void {
    this.#endOpening();
    this.#endIfDone();
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

  #begin({ stream, block, isLast }: WaitingStream): void {
    stream.id = this.#nextStreamId;
    this.#nextStreamId += 2;
    stream.body.widen(this.#initialStreamWindowBytes);
    if (isLast) stream.body.skip();
    this.#streams.set(stream.id, stream);
    this.#write(headersFrames(stream.id, block, isLast));
    if (!isLast) this.#pump(stream);
  }

  #forget(stream: Http2Stream): void {
    stream.isOver = true;
    this.#streams.delete(stream.id);
    this.#lastUsedMs = this.#options.clock.now();
    while (this.#waiting.length > 0 && this.hasRoom) this.#begin(this.#waiting.shift()!);
    if (!this.#takesStreams) this.#endIfDone();
  }

  /** The peer has a little time to take what is still to be written. */
  #endIfDone(): void {
    const socket = this.#socket;
    if (this.#streams.size > 0 || socket?.destroyed || socket?.writableEnded) return;
    if (!socket) return this.destroy(this.#reason);
    if (this.#unwritten.length > 0) this.#flush();
    const timer = this.#options.clock.after(this.#options.keepaliveTimeoutMs, () => socket.destroy());
    socket.once('close', () => timer.cancel());
    socket.destroySoon();
  }

  #fail(stream: Http2Stream, failure: StreamFailure): void {
    if (stream.isOver) return;
    this.#forget(stream);
    stream.events.onFailure(failure);
  }

  /** What is written in one turn goes out together. */
  #write(bytes: Buffer): void {
    if (this.#unwritten.push(bytes) === 1 && this.#socket) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const unwritten = this.#unwritten;
    const socket = this.#socket!;
    this.#unwritten = [];
    if (unwritten.length === 0 || socket.destroyed || socket.writableEnded) return;
    this.#isCongested = !socket.write(unwritten.length === 1 ? unwritten[0]! : Buffer.concat(unwritten));
  }

  #onDrain(): void {
    this.#isCongested = false;
    this.#waitingReplies = 0;
    for (const stream of this.#streams.values()) this.#pump(stream);
  }

  /** To what the peer has asked. One that asks without end, and reads nothing, is not waited for. */
  #reply(bytes: Buffer): void {
    if (this.#isCongested && ++this.#waitingReplies > MAX_WAITING_REPLIES) throw new Error('too many answers that nobody reads');
    this.#write(bytes);
  }

  /** Sends what the peer's windows and the socket allow. */
  #pump(stream: Http2Stream): void {
    while (!this.#isCongested) {
      const next = stream.body.next(stream.id, this.#sendWindowBytes);
      if (!next) break;
      this.#sendWindowBytes -= next.sizeBytes;
      this.#write(next.frame);
    }
    if (!stream.wantsDrain || this.#isCongested || !stream.body.isEmpty) return;
    stream.wantsDrain = false;
    stream.events.onDrain?.();
  }

  #onConnect(socket: Socket): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => this.#receive(piece));
    // 'close' follows.
    socket.on('error', (error) => (this.#failure ||= error.message));
    socket.on('close', () => this.#onClose());
    socket.on('drain', () => this.#onDrain());
    if (this.#givenUp.signal.aborted) socket.destroy();
    if (socket.closed) return this.#onClose();
    this.#flush();
    this.#isConnected = true;
    this.#connectTimer.cancel();
    this.#received();
    if (this.#options.idleTimeoutMs !== undefined) this.#keepalive ??= this.#watchOver();
    this.#events.onConnect?.();
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
    if (this.#blocks.isUnfinished && received.type !== FrameType.continuation) throw new Error('header frames in the wrong order');
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

  /** Undefined for one that is over; throws for one that was never begun. */
  #streamOf({ streamId }: Frame): Http2Stream | undefined {
    const stream = this.#streams.get(streamId);
    if (!stream && (streamId >= this.#nextStreamId || streamId % 2 === 0)) throw new Error(`a frame of stream ${streamId}, which nobody has opened`);
    return stream;
  }

  #onData(received: Frame): void {
    const { flags, payload } = received;
    this.#takeFromWindow(payload.length);
    const stream = this.#streamOf(received);
    if (!stream) return;
    stream.receivableBytes -= payload.length;
    if (stream.receivableBytes < 0) return this.#reset(stream, ResetCode.flowControlError, 'more data than was allowed');
    const data = unpadded(received);
    if (data.length < payload.length) this.release(stream, payload.length - data.length);
    if (data.length > 0) stream.events.onData(data);
    if (flags & Flag.endStream) this.#onStreamEnd(stream);
  }

  /** Bytes count against the connection's window whether their stream still is of interest or not. */
  #takeFromWindow(sizeBytes: number): void {
    this.#receivableBytes -= sizeBytes;
    if (this.#receivableBytes < 0) throw new Error('more data than was allowed');
    if (this.#receivableBytes > CONNECTION_WINDOW_BYTES / 2) return;
    this.#write(numberFrame(FrameType.windowUpdate, 0, CONNECTION_WINDOW_BYTES - this.#receivableBytes));
    this.#receivableBytes = CONNECTION_WINDOW_BYTES;
  }

  #onHeaderFrame(received: Frame): void {
    const stream = this.#streamOf(received);
    const block = this.#blocks.push(received);
    if (!block || !stream) return;
    stream.events.onHeaders(this.#blocks.read(block));
    if (this.#blocks.endsStream) this.#onStreamEnd(stream);
  }

  #onStreamEnd(stream: Http2Stream): void {
    if (stream.isOver) return;
    // The peer has answered without hearing us out: it may be told that nothing more comes.
    if (!stream.body.isDone) this.#write(numberFrame(FrameType.rstStream, stream.id, ResetCode.cancel));
    this.#forget(stream);
    stream.events.onEnd();
  }

  #onWindowUpdate(received: Frame): void {
    const increment = received.payload.readUInt32BE(0) & MAX_WINDOW_BYTES;
    if (increment === 0) throw new Error('a window that is not widened');
    if (received.streamId === 0) {
      this.#sendWindowBytes += increment;
      if (this.#sendWindowBytes > MAX_WINDOW_BYTES) throw new Error('a window that is too large');
      for (const stream of this.#streams.values()) {
        if (this.#sendWindowBytes <= 0) break;
        this.#pump(stream);
      }
      return;
    }
    const stream = this.#streamOf(received);
    if (!stream) return;
    if (stream.body.widen(increment) > MAX_WINDOW_BYTES) return this.#reset(stream, ResetCode.flowControlError, 'a window that is too large');
    this.#pump(stream);
  }

  #reset(stream: Http2Stream, resetCode: number, reason: string): void {
    this.#write(numberFrame(FrameType.rstStream, stream.id, resetCode));
    this.#fail(stream, { reason, wasNotSent: false, resetCode });
  }

  #onReset(received: Frame): void {
    const stream = this.#streamOf(received);
    if (!stream) return;
    const resetCode = received.payload.readUInt32BE(0);
    const reason = `stream terminated by RST_STREAM with error code: ${resetCode}`;
    this.#fail(stream, { reason, wasNotSent: resetCode === ResetCode.refusedStream, resetCode });
  }

  #onSettings({ flags, payload }: Frame): void {
    if (flags & Flag.ack) return;
    for (const [id, value] of readSettings(payload)) {
      if (id === Setting.maxConcurrentStreams) this.#maxStreams = value;
      if (id === Setting.initialWindowSize) this.#changeStreamWindows(value);
    }
    this.#reply(frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)));
    for (const stream of this.#streams.values()) this.#pump(stream);
    this.#events.onSettings?.();
  }

  #changeStreamWindows(sizeBytes: number): void {
    if (sizeBytes > MAX_WINDOW_BYTES) throw new Error('a window that is too large');
    const change = sizeBytes - this.#initialStreamWindowBytes;
    this.#initialStreamWindowBytes = sizeBytes;
    for (const stream of this.#streams.values()) if (stream.body.widen(change) > MAX_WINDOW_BYTES) throw new Error('a window that is too large');
  }

  #onPing({ flags, payload }: Frame): void {
    if (flags & Flag.ack) this.#onPong?.();
    else if (payload.length !== 8) throw new Error('a ping of another size');
    else this.#reply(frame(FrameType.ping, Flag.ack, 0, payload));
  }

  /** No more streams; those that the peer has looked at may end. */
  #onGoaway({ payload }: Frame): void {
    const lastId = payload.readUInt32BE(0) & MAX_WINDOW_BYTES;
    this.#endOpening();
    const failure = { reason: 'the server is going away', wasNotSent: true, resetCode: undefined };
    for (const stream of this.#streams.values()) if (stream.id > lastId) this.#fail(stream, failure);
    this.#endIfDone();
  }

  #endOpening(): void {
    if (!this.#takesStreams) return;
    this.#takesStreams = false;
    this.#connectTimer.cancel();
    this.#events.onEnd(this.#reason, this.#isConnected);
    const failure = { reason: this.#reason, wasNotSent: true, resetCode: undefined };
    for (const { stream } of this.#waiting.splice(0)) {
      stream.isOver = true;
      stream.events.onFailure(failure);
    }
  }

  #onClose(): void {
    this.#keepalive?.cancel();
    this.#onPong?.();
    this.#endOpening();
    const failure = { reason: this.#reason, wasNotSent: !this.#isConnected, resetCode: undefined };
    for (const stream of this.#streams.values()) this.#fail(stream, failure);
  }

  #watchOver(): Timer {
    const { clock, keepaliveTimeMs } = this.#options;
    const quietMs = clock.now() - this.#lastReceivedMs;
    return clock.after(Math.max(keepaliveTimeMs - quietMs, keepaliveTimeMs / 10), () => this.#lookAfter());
  }

  /** Servers of gRPC forbid pings when no stream is open. */
  #lookAfter(): void {
    const { clock, keepaliveTimeMs, idleTimeoutMs } = this.#options;
    this.#keepalive = undefined;
    const isIdle = this.#streams.size === 0;
    if (this.#socket?.destroyed || (isIdle && idleTimeoutMs === undefined)) return;
    if (isIdle && clock.now() - this.#lastUsedMs >= idleTimeoutMs!) return this.finish();
    this.#keepalive = this.#watchOver();
    if (this.#isConnected && !this.#onPong && clock.now() - this.#lastReceivedMs >= keepaliveTimeMs) this.#ping();
  }

  #ping(): void {
    const { clock, keepaliveTimeoutMs } = this.#options;
    const deadline = clock.after(keepaliveTimeoutMs, () => this.destroy('keepalive ping failed to receive ACK within timeout'));
    this.#onPong = () => {
      this.#onPong = undefined;
      deadline.cancel();
    };
    this.#write(frame(FrameType.ping, 0, 0, Buffer.alloc(8)));
  }
}
