import type { Socket } from 'node:net';
import type { Clock, Timer } from '../util/clock.ts';
import { CONNECTION_WINDOW_BYTES, Http2Connection } from './connection.ts';
import { DEFAULT_WINDOW_BYTES, ErrorCode, FrameType, Http2Error, PREFACE, Setting, frame, headersFrames, numberFrame, settingsFrame } from './frames.ts';
import { type HeaderFields, withoutTable } from './hpack.ts';
import { RateLimit } from './rate-limit.ts';
import { type StreamEvents, Http2Stream } from './stream.ts';

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

export interface StreamFailure {
  /** In grpc-go's words. */
  reason: string;
  /** The peer has certainly not looked at it. */
  wasNotSent: boolean;
  /** Why the stream alone ended; undefined where the connection did. */
  resetCode: number | undefined;
}

/** What the owner of a stream is told; `onEnd` or `onFailure` is the last. */
export interface ClientStreamEvents extends StreamEvents {
  /** At the beginning, and again for each interim answer and for trailers. */
  onHeaders(fields: HeaderFields): void;
  onEnd(): void;
  onFailure(failure: StreamFailure): void;
}

export type ClientStream = Http2Stream<ClientStreamEvents>;

interface WaitingStream {
  stream: ClientStream;
  block: Buffer;
  isLast: boolean;
}

const MAX_STREAM_ID = 2 ** 31 - 1;
/** Blocks of answers stand for themselves: nothing is remembered from one to the next. */
const HEADER_LIMITS = { tableBytes: 0, listBytes: 256 * 1024, fieldCount: 4_096 };

/** Frames that bring nothing, each second: pings, settings, empty ones, those of streams that are over, and headers; beyond what calls bring by themselves. */
const IDLE_FRAMES_PER_SECOND = 20_000;
/** Of one call: the headers of its answer, and a ping, which gRPC servers in Go send once for every message that they are sent (BDP estimation). */
const IDLE_FRAMES_A_CALL = 2;

/** The client's end of an HTTP/2 connection. What the peer does against the rules ends the connection. */
export class ClientConnection extends Http2Connection<ClientStream> {
  readonly #givenUp = new AbortController();
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #connectTimer: Timer;
  #nextStreamId = 1;
  /** Streams opened beyond what the peer allows at once: they are begun as others end. */
  #waiting: WaitingStream[] = [];
  #maxStreams = Infinity;
  #isConnected = false;
  #takesStreams = true;
  #failure = '';
  #lastReceivedMs: number;
  #lastUsedMs: number;
  #keepalive: Timer | undefined;
  #onPong: (() => void) | undefined;
  readonly #idleFrames = new RateLimit(IDLE_FRAMES_PER_SECOND);

  /** `connect` resolves with a socket that stands, its TLS handshake done, and gives up when the signal aborts. */
  constructor(connect: (signal: AbortSignal) => Promise<Socket>, options: ConnectionOptions, events: ConnectionEvents) {
    super(options.streamWindowBytes, HEADER_LIMITS);
    this.#options = options;
    this.#events = events;
    this.#lastReceivedMs = this.#lastUsedMs = options.clock.now();
    this.#connectTimer = options.clock.after(options.connectTimeoutMs, () => this.destroy('the connection took too long to stand'));
    connect(this.#givenUp.signal).then(
      (socket) => this.#onConnect(socket),
      (error: Error) => this.onSocketClose(error),
    );
    this.write(PREFACE);
    this.write(
      settingsFrame([
        [Setting.headerTableSize, HEADER_LIMITS.tableBytes],
        [Setting.enablePush, 0],
        [Setting.initialWindowSize, options.streamWindowBytes],
        [Setting.maxHeaderListSize, HEADER_LIMITS.listBytes],
      ]),
    );
    this.write(numberFrame(FrameType.windowUpdate, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
  }

  get openStreams(): number {
    return this.streams.size + this.#waiting.length;
  }

  /** A stream that is opened now is begun at once. */
  get hasRoom(): boolean {
    return this.#takesStreams && this.streams.size < this.#maxStreams && this.#nextStreamId <= MAX_STREAM_ID;
  }

  /** Undefined, and `onFailure` is called, when it takes no more. `isLast`: nothing is sent behind the headers. */
  open(block: Buffer, events: ClientStreamEvents, isLast = false): ClientStream | undefined {
    if (!this.#takesStreams || this.#nextStreamId > MAX_STREAM_ID) {
      events.onFailure({ reason: this.#reason, wasNotSent: true, resetCode: undefined });
      return undefined;
    }
    this.#keepalive ??= this.#watchOver();
    const stream: ClientStream = new Http2Stream(this.#options.streamWindowBytes);
    stream.events = events;
    if (this.streams.size < this.#maxStreams) this.#begin({ stream, block, isLast });
    else this.#waiting.push({ stream, block, isLast });
    return stream;
  }

  /** Nothing is told after. */
  cancel(stream: ClientStream, code: number = ErrorCode.cancel): void {
    if (stream.isOver) return;
    if (stream.id === 0) {
      this.drop(stream);
      this.#waiting = this.#waiting.filter((one) => one.stream !== stream);
      return;
    }
    this.write(numberFrame(FrameType.rstStream, stream.id, code));
    this.#forget(stream);
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
    this.socket?.destroy();
  }

  /** Why it ended, in grpc-go's words. */
  get #reason(): string {
    const failure = this.#failure || 'transport is closing';
    return this.#isConnected ? failure : `connection error: desc = "${failure}"`;
  }

  #begin({ stream, block, isLast }: WaitingStream): void {
    const isFirst = this.#nextStreamId === 1;
    this.begin(stream, this.#nextStreamId);
    this.#nextStreamId += 2;
    this.#idleFrames.expect(IDLE_FRAMES_A_CALL);
    if (isLast) stream.body.skip();
    this.write(headersFrames(stream.id, isFirst ? withoutTable(block) : block, isLast));
    if (!isLast) this.pump(stream);
  }

  #forget(stream: ClientStream): void {
    this.drop(stream);
    this.#lastUsedMs = this.#options.clock.now();
    while (this.#waiting.length > 0 && this.hasRoom) this.#begin(this.#waiting.shift()!);
    if (!this.#takesStreams) this.#endIfDone();
  }

  /** The peer has a little time to take what is still to be written. */
  #endIfDone(): void {
    const { socket } = this;
    if (this.streams.size > 0 || socket?.destroyed || socket?.writableEnded) return;
    if (!socket) return this.destroy(this.#reason);
    this.flushNow();
    const timer = this.#options.clock.after(this.#options.keepaliveTimeoutMs, () => socket.destroy());
    socket.once('close', () => timer.cancel());
    socket.destroySoon();
  }

  #fail(stream: ClientStream, failure: StreamFailure): void {
    if (stream.isOver) return;
    this.#forget(stream);
    stream.events.onFailure(failure);
  }

  #onConnect(socket: Socket): void {
    socket.setNoDelay(true);
    this.useSocket(socket);
    if (this.#givenUp.signal.aborted) socket.destroy();
    if (socket.closed) return this.onSocketClose(undefined);
    this.#isConnected = true;
    this.#connectTimer.cancel();
    this.onReceive();
    if (this.#options.idleTimeoutMs !== undefined) this.#keepalive ??= this.#watchOver();
    this.#events.onConnect?.();
  }

  protected override onReceive(): void {
    this.#lastReceivedMs = this.#options.clock.now();
  }

  protected override wasBegun(streamId: number): boolean {
    return streamId < this.#nextStreamId && streamId % 2 === 1;
  }

  protected override onHeaders(streamId: number, stream: ClientStream | undefined, fields: HeaderFields, endsStream: boolean, isTooLarge: boolean): void {
    if (isTooLarge) return this.destroy('protocol error: headers are too large');
    if (!endsStream || !stream) this.onControlFrame();
    if (!stream && !this.wasBegun(streamId)) return this.destroy(`protocol error: a frame of stream ${streamId}, which nobody has opened`);
    if (!stream) return;
    stream.events.onHeaders(fields);
    if (endsStream) this.#onStreamEnd(stream);
  }

  protected override onControlFrame(): void {
    if (!this.#idleFrames.allow(this.#lastReceivedMs)) throw new Http2Error('too many frames that bring nothing', ErrorCode.enhanceYourCalm);
  }

  protected override onLateFrame(): void {
    this.onControlFrame();
  }

  protected override onLateData(): void {
    this.onControlFrame();
  }

  protected override onData(stream: ClientStream, piece: Buffer, endsStream: boolean): void {
    if (piece.length > 0) stream.events.onData(piece);
    if (endsStream) this.#onStreamEnd(stream);
  }

  #onStreamEnd(stream: ClientStream): void {
    if (stream.isOver) return;
    // The peer has answered without hearing us out: it may be told that nothing more comes.
    if (!stream.body.isDone) this.write(numberFrame(FrameType.rstStream, stream.id, ErrorCode.cancel));
    this.#forget(stream);
    stream.events.onEnd();
  }

  protected override onStreamError(stream: ClientStream, code: number, reason: string): void {
    this.write(numberFrame(FrameType.rstStream, stream.id, code));
    this.#fail(stream, { reason, wasNotSent: false, resetCode: code });
  }

  protected override onReset(stream: ClientStream, code: number): void {
    const reason = `stream terminated by RST_STREAM with error code: ${code}`;
    this.#fail(stream, { reason, wasNotSent: code === ErrorCode.refusedStream, resetCode: code });
  }

  protected override onSettings(maxStreams: number | undefined): void {
    this.#maxStreams = maxStreams ?? this.#maxStreams;
    this.#events.onSettings?.();
  }

  protected override onPong(): void {
    if (this.#onPong) this.#onPong();
    else this.onControlFrame();
  }

  /** No more streams; those that the peer has looked at may end. */
  protected override onGoaway(lastStreamId: number): void {
    this.#endOpening();
    const failure = { reason: 'the server is going away', wasNotSent: true, resetCode: undefined };
    for (const stream of this.streams.values()) if (stream.id > lastStreamId) this.#fail(stream, failure);
    this.#endIfDone();
  }

  protected override onViolation({ message }: Http2Error): void {
    this.destroy(`protocol error: ${message}`);
  }

  #endOpening(): void {
    if (!this.#takesStreams) return;
    this.#takesStreams = false;
    this.#connectTimer.cancel();
    this.#events.onEnd(this.#reason, this.#isConnected);
    const failure = { reason: this.#reason, wasNotSent: true, resetCode: undefined };
    for (const { stream } of this.#waiting.splice(0)) {
      this.drop(stream);
      stream.events.onFailure(failure);
    }
  }

  protected override onSocketClose(error: Error | undefined): void {
    if (error) this.#failure ||= error.message;
    this.#keepalive?.cancel();
    this.#onPong?.();
    this.#endOpening();
    const failure = { reason: this.#reason, wasNotSent: !this.#isConnected, resetCode: undefined };
    for (const stream of this.streams.values()) this.#fail(stream, failure);
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
    const isIdle = this.streams.size === 0;
    if (this.socket?.destroyed || (isIdle && idleTimeoutMs === undefined)) return;
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
    this.write(frame(FrameType.ping, 0, 0, Buffer.alloc(8)));
  }
}
