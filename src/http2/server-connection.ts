import type { Socket } from 'node:net';
import type { Clock, Timer } from '../util/clock.ts';
import type { Requester, UnsentClaim, UnsentHolder, UnsentLedger } from '../net/unsent-answers.ts';
import { type AbuseLimits, AbuseGuard } from './abuse-guard.ts';
import { CONNECTION_WINDOW_BYTES, Http2Connection } from './connection.ts';
import { DEFAULT_WINDOW_BYTES, ErrorCode, FrameType, Http2Error, PREFACE, Setting, goawayFrame, headersFrames, numberFrame, settingsFrame } from './frames.ts';
import { type BlockWriter, type HeaderFields, withoutTable } from './hpack.ts';
import { type Http2RequestHead, areTrailers, readRequestHead } from './request-head.ts';
import { type StreamEvents, Http2Stream } from './stream.ts';

/** What one connection may cost. */
export interface ConnectionLimits extends AbuseLimits {
  /** TLS handshake, and a request's head from its first byte or the connection's start; of HTTP/2, the client's first settings. */
  headerTimeoutMs: number;
  /** A connection without a request. */
  idleTimeoutMs: number;
  /** All header lines of a request, in bytes and in number. */
  headerBytes: number;
  headerCount: number;
  /** Requests that it may have open; `--http2-max-streams-per-connection`. */
  streamsPerConnection: number;
  /** Of each request's body: so much may be under way to us, or wait with its owner, who releases it. */
  streamWindowBytes: number;
  /** Of answers whose client does not read them: past the first, it has to read before it may ask for more; past the second, answers are reset. */
  unsentBytesPerConnection: number;
  maxUnsentBytesPerConnection: number;
}

export interface ServerConnectionOptions extends ConnectionLimits {
  clock: Clock;
  unsent: UnsentLedger;
}

export interface ServerConnectionEvents {
  /** Gives the stream its `events` before anything else. `hasBody`: something may follow the headers. */
  onRequest(stream: ServerStream, head: Http2RequestHead, fields: HeaderFields, hasBody: boolean): void;
  /** More headers than are allowed; to be answered as such. */
  onOversizedHead(stream: ServerStream): void;
  /** The client does what no honest one does; the connection is cut off. */
  onAbuse(message: string): void;
  /** An answer, or the connection, was given up because its client does not read. */
  onUnread(message: string): void;
  /** The client has broken a rule; the connection ends. */
  onViolation(message: string): void;
}

/** What the owner of a request is told. `onOver` is the last. */
export interface ServerStreamEvents extends StreamEvents {
  readonly requester?: Requester | undefined;
  /** The request's body is whole. */
  onBodyEnd(): void;
  /** The answer has left, or the client has gone. */
  onOver(): void;
}

/** One request and its answer. */
export class ServerStream extends Http2Stream<ServerStreamEvents> {
  /** Of the request's body, what is still to come; Infinity where that is not known. */
  remainingBytes = Infinity;
  /** Nothing more comes from the client. */
  isHalfClosedRemote = false;
  isAnswered = false;
}

/** What a client may remember with us, as the RFC sets it before anything is said of it. */
const HEADER_TABLE_BYTES = 4096;
/** What else we have to say waits in the socket: no client that keeps to its number of streams leaves so much unread. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** For the client to close in turn, once it was told all. */
const GOAWAY_LINGER_MS = 1000;
/** For a client that reads slowly to take what it was told. */
const LAST_READ_MS = 30_000;
/** A client that keeps to its number of streams has no more of them on its way. */
const MAX_UNHEARD_STREAMS = 1000;

/** An answer that waits for its client's windows or for the connection. */
class WaitingAnswer implements UnsentHolder {
  readonly userName: string;
  readonly isLongRunning: boolean;
  readonly #connection: ServerConnection;
  readonly #stream: ServerStream;
  /** What others on the connection were given while this one waited for nothing but the connection: it is not its reader who is slow. */
  #othersBytes = 0;
  #lastTakenBytes: number;

  constructor(connection: ServerConnection, stream: ServerStream) {
    const { requester } = stream.events;
    this.userName = requester?.clientName ?? '';
    this.isLongRunning = requester?.isLongRunning ?? false;
    this.#connection = connection;
    this.#stream = stream;
    this.#lastTakenBytes = connection.takenBytes();
  }

  takenBytes(): number {
    const takenBytes = this.#connection.takenBytes();
    if (this.#stream.body.hasRoom) this.#othersBytes += takenBytes - this.#lastTakenBytes;
    this.#lastTakenBytes = takenBytes;
    return this.#stream.body.sentBytes + this.#othersBytes;
  }

  cutOff(message: string): void {
    this.#connection.giveUp(this.#stream, message);
  }
}

/** The server's end of an HTTP/2 connection. */
export class ServerConnection extends Http2Connection<ServerStream> {
  readonly #options: ServerConnectionOptions;
  readonly #events: ServerConnectionEvents;
  readonly #guard: AbuseGuard;
  #preface = PREFACE;
  #lastStreamId = 0;
  /** Streams that we ended before the client did, the oldest first: what it sent before it heard of that still comes. */
  #resetStreams: Set<number> | undefined;
  #hasSentHeaders = false;
  #hasBegun = false;
  #isClosing = false;
  /** While the socket holds what the client has not taken. */
  #congestion: UnsentClaim | undefined;
  #lastUsedMs: number;
  #idleTimer: Timer;

  /** The socket's TLS handshake is done. */
  constructor(socket: Socket, options: ServerConnectionOptions, events: ServerConnectionEvents) {
    super(options.streamWindowBytes, { tableBytes: HEADER_TABLE_BYTES, listBytes: options.headerBytes, fieldCount: options.headerCount });
    this.#options = options;
    this.#events = events;
    this.#guard = new AbuseGuard(options);
    this.#lastUsedMs = options.clock.now();
    this.#idleTimer = options.clock.after(Math.min(options.headerTimeoutMs, options.idleTimeoutMs), () => this.#lookAfter());
    this.write(
      settingsFrame([
        [Setting.maxConcurrentStreams, options.streamsPerConnection],
        [Setting.initialWindowSize, options.streamWindowBytes],
        [Setting.maxHeaderListSize, options.headerBytes],
      ]),
    );
    this.write(numberFrame(FrameType.windowUpdate, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
    this.useSocket(socket);
  }

  /** The block in `writer` is the beginning of the answer, and with `isLast` all of it. */
  answer(stream: ServerStream, writer: BlockWriter, isLast: boolean): void {
    if (stream.isOver) return writer.clear();
    stream.isAnswered = true;
    this.#writeHeaders(stream, writer, isLast);
    if (isLast) this.#finishSending(stream);
  }

  /** Headers that come before the answer's. */
  inform(stream: ServerStream, writer: BlockWriter): void {
    if (stream.isOver) writer.clear();
    else this.#writeHeaders(stream, writer, false);
  }

  /** All of a body in one call, behind the answer's headers. The parts are not copied. */
  sendAll(stream: ServerStream, parts: readonly Buffer[], sizeBytes: number): void {
    if (stream.isOver) return;
    stream.body.addAll(parts, sizeBytes);
    this.sendOn(stream, sizeBytes);
  }

  /** Ends what was sent piece by piece, with the trailers in `writer` where there are some. */
  end(stream: ServerStream, writer: BlockWriter | undefined): void {
    if (stream.isOver || stream.body.isComplete) return writer?.clear();
    stream.body.complete(writer && headersFrames(stream.id, writer.take(), true));
    this.sendOn(stream, 0);
  }

  /** Cuts the answer off. */
  cut(stream: ServerStream): void {
    if (!stream.isOver) this.#reset(stream, ErrorCode.internalError);
  }

  /** Takes no more requests, and ends with the last of those that are open. Streams that come in the meantime were not looked at: the client may send them elsewhere. */
  finish(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.write(goawayFrame(this.#lastStreamId, ErrorCode.noError, ''));
    this.#endIfDone();
  }

  /** The client learns once that we remember nothing: one that has allowed us less than the RFC does waits for a word on it (RFC 7541 §4.2). */
  #writeHeaders(stream: ServerStream, writer: BlockWriter, isLast: boolean): void {
    if (this.#hasSentHeaders) writer.moveTo(this.outbox, stream.id, isLast);
    else this.outbox.add(headersFrames(stream.id, withoutTable(writer.take()), isLast));
    this.#hasSentHeaders = true;
    this.flushLater();
  }

  #finishSending(stream: ServerStream): void {
    stream.body.skip();
    this.settleLater(stream);
  }

  #reset(stream: ServerStream, code: number): void {
    this.#writeReset(stream.id, code, stream.isHalfClosedRemote);
    this.#close(stream);
  }

  #writeReset(streamId: number, code: number, isHalfClosedRemote: boolean): void {
    this.write(numberFrame(FrameType.rstStream, streamId, code));
    if (isHalfClosedRemote) return;
    const resetStreams = (this.#resetStreams ??= new Set());
    resetStreams.add(streamId);
    if (resetStreams.size > MAX_UNHEARD_STREAMS) resetStreams.delete(resetStreams.values().next().value!);
  }

  #close(stream: ServerStream): void {
    this.drop(stream);
    this.#lastUsedMs = this.#options.clock.now();
    stream.events.onOver();
    if (this.#isClosing) this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.streams.size === 0) this.#closeAfterGoAway(LAST_READ_MS);
  }

  /** What was written still goes out; what still comes is read, since closing on it would reset the connection and lose what is on its way. */
  #closeAfterGoAway(readMs: number): void {
    const socket = this.socket!;
    if (socket.destroyed || socket.writableEnded) return;
    this.flushNow();
    let timer = this.#options.clock.after(readMs, () => socket.destroy());
    socket.once('close', () => timer.cancel());
    socket.end(() => {
      timer.cancel();
      if (!socket.destroyed) timer = this.#options.clock.after(GOAWAY_LINGER_MS, () => socket.destroy());
    });
  }

  #lookAfter(): void {
    const { clock, idleTimeoutMs } = this.#options;
    const quietMs = this.streams.size > 0 ? 0 : clock.now() - this.#lastUsedMs;
    if (!this.#hasBegun) return void this.socket!.destroy();
    if (quietMs >= idleTimeoutMs) return this.finish();
    this.#idleTimer = clock.after(idleTimeoutMs - quietMs, () => this.#lookAfter());
  }

  protected override receive(piece: Buffer): void {
    const rest = this.#preface.length > 0 && !this.hasStoppedReading ? this.#afterPreface(piece) : piece;
    if (rest.length > 0) super.receive(rest);
  }

  /** One that does not begin as clients do is no client of HTTP/2 (§3.4). */
  #afterPreface(piece: Buffer): Buffer {
    const length = Math.min(this.#preface.length, piece.length);
    if (this.#preface.compare(piece, 0, length, 0, length) !== 0) {
      this.#violated(ErrorCode.protocolError, 'the connection does not begin as one of HTTP/2');
      return piece.subarray(piece.length);
    }
    this.#preface = this.#preface.subarray(length);
    return piece.subarray(length);
  }

  protected override wasBegun(streamId: number): boolean {
    return streamId % 2 === 1 && (streamId <= this.#lastStreamId || this.#isClosing);
  }

  /** What was on its way when we ended a stream, or said that we take no more, is passed over. A client that has ended one may say nothing more on it (§5.1). */
  #passOver(streamId: number, endsStream: boolean, code: number): void {
    if (streamId > this.#lastStreamId) return;
    if (!this.#resetStreams?.has(streamId)) throw new Http2Error(`a frame of stream ${streamId}, which is over`, code);
    if (endsStream) this.#resetStreams.delete(streamId);
  }

  protected override onLateData(streamId: number, endsStream: boolean): void {
    this.#passOver(streamId, endsStream, ErrorCode.streamClosed);
  }

  protected override onHeaders(streamId: number, stream: ServerStream | undefined, fields: HeaderFields, endsStream: boolean, isTooLarge: boolean): void {
    if (stream) return this.#onTrailers(stream, endsStream && !isTooLarge && areTrailers(fields));
    if (streamId % 2 === 0) throw new Http2Error('a stream of a number that is not the client’s');
    if (streamId <= this.#lastStreamId || this.#isClosing) return this.#passOver(streamId, endsStream, ErrorCode.protocolError);
    this.#lastStreamId = streamId;
    if (this.socket!.writableLength > MAX_UNREAD_BYTES) return this.#cutOff('too many answers that nobody reads');
    if (this.streams.size >= this.#options.streamsPerConnection || this.unsentBytes > this.#options.unsentBytesPerConnection) {
      return this.#writeReset(streamId, ErrorCode.refusedStream, endsStream);
    }
    this.#onRequest(streamId, fields, endsStream, isTooLarge);
  }

  #onRequest(streamId: number, fields: HeaderFields, endsStream: boolean, isTooLarge: boolean): void {
    const head = isTooLarge ? undefined : readRequestHead(fields);
    if (!isTooLarge && (!head || (endsStream && head.contentLength))) return this.#refuse(streamId, endsStream);
    const stream = new ServerStream(this.#options.streamWindowBytes);
    this.begin(stream, streamId);
    stream.isHalfClosedRemote = endsStream;
    if (!head) return this.#events.onOversizedHead(stream);
    stream.remainingBytes = head.contentLength ?? Infinity;
    this.#events.onRequest(stream, head, fields, !endsStream);
  }

  /** A request that is none. */
  #refuse(streamId: number, isHalfClosedRemote: boolean): void {
    this.#writeReset(streamId, ErrorCode.protocolError, isHalfClosedRemote);
    this.#countReset(false);
  }

  #onTrailers(stream: ServerStream, areGood: boolean): void {
    if (stream.isHalfClosedRemote) return this.onStreamError(stream, ErrorCode.streamClosed);
    if (!areGood) return this.onStreamError(stream, ErrorCode.protocolError);
    this.#onBodyEnd(stream);
  }

  protected override onData(stream: ServerStream, piece: Buffer, endsStream: boolean): void {
    if (stream.isHalfClosedRemote) return this.onStreamError(stream, ErrorCode.streamClosed);
    stream.remainingBytes -= piece.length;
    if (stream.remainingBytes < 0) return this.onStreamError(stream, ErrorCode.protocolError);
    if (piece.length > 0) stream.events.onData(piece);
    if (endsStream && !stream.isOver) this.#onBodyEnd(stream);
  }

  #onBodyEnd(stream: ServerStream): void {
    if (stream.remainingBytes > 0 && stream.remainingBytes !== Infinity) return this.onStreamError(stream, ErrorCode.protocolError);
    stream.isHalfClosedRemote = true;
    stream.events.onBodyEnd();
  }

  /** The answer is out. A client that has more to say is told to stop (RFC 9113 §8.1), as Go's server does. */
  protected override onSent(stream: ServerStream): void {
    if (stream.isHalfClosedRemote) this.#close(stream);
    else this.#reset(stream, ErrorCode.noError);
  }

  protected override onReset(stream: ServerStream): void {
    this.#close(stream);
    this.#countReset(stream.isAnswered);
  }

  protected override onStreamError(stream: ServerStream, code: number): void {
    this.#reset(stream, code);
    this.#countReset(stream.isAnswered);
  }

  #countReset(wasAnswered: boolean): void {
    if (!this.#guard.allowReset(this.#options.clock.now(), wasAnswered)) this.#cutOff('too many streams reset');
  }

  protected override onControlFrame(): void {
    if (!this.#guard.allowControlFrame(this.#options.clock.now())) this.#cutOff('too many control frames');
  }

  #cutOff(message: string): void {
    if (this.hasStoppedReading) return;
    this.hasStoppedReading = true;
    this.#events.onAbuse(message);
    this.write(goawayFrame(this.#lastStreamId, ErrorCode.enhanceYourCalm, ''));
    this.flushNow();
    this.socket!.destroy();
  }

  protected override onWaiting(stream: ServerStream): void {
    const { maxUnsentBytesPerConnection, unsent } = this.#options;
    // One that is alone may be of any size: it has no other to wait for.
    if (this.unsentBytes > maxUnsentBytesPerConnection && stream.body.unsentBytes < this.unsentBytes) {
      return this.giveUp(stream, 'too many answers that nobody reads', ErrorCode.enhanceYourCalm);
    }
    stream.unsentClaim ??= unsent.open(new WaitingAnswer(this, stream));
    stream.unsentClaim.set(stream.body.unsentBytes);
  }

  /** An answer that its client does not read is reset, and what it holds is let go. */
  giveUp(stream: ServerStream, message: string, code: number = ErrorCode.cancel): void {
    if (stream.isOver) return;
    this.#events.onUnread(message);
    this.#reset(stream, code);
  }

  /** What the client has taken of all that was sent. */
  takenBytes(): number {
    return this.handedBytes - this.socket!.writableLength;
  }

  protected override onCongestion(isCongested: boolean): void {
    if (!isCongested) {
      this.#congestion?.close();
      this.#congestion = undefined;
      return;
    }
    this.#congestion ??= this.#options.unsent.open(this.#asHolder());
    this.#congestion.set(this.socket!.writableLength);
  }

  /** The socket's own buffer. It is all connections' and no user's: what the answers hold beside it is counted for their users. */
  #asHolder(): UnsentHolder {
    const isLongRunning = (): boolean => this.streams.values().some(({ events }) => events.requester?.isLongRunning);
    return {
      userName: '',
      get isLongRunning() {
        return isLongRunning();
      },
      takenBytes: () => this.takenBytes(),
      cutOff: (message) => {
        this.#events.onUnread(message);
        this.socket!.destroy();
      },
    };
  }

  protected override onSettings(): void {
    this.#hasBegun = true;
  }

  /** The client opens no more; what is open ends as it would. */
  protected override onGoaway(): void {
    this.finish();
  }

  protected override onViolation({ code, message }: Http2Error): void {
    this.#violated(code, message);
  }

  #violated(code: number, message: string): void {
    this.hasStoppedReading = this.#isClosing = true;
    this.#events.onViolation(message);
    // What went wrong with us is not the client's to know.
    this.write(goawayFrame(this.#lastStreamId, code, code === ErrorCode.internalError ? '' : message));
    this.#closeAfterGoAway(GOAWAY_LINGER_MS);
    this.#closeAll();
  }

  protected override onSocketClose(): void {
    this.#idleTimer.cancel();
    this.onCongestion(false);
    this.#closeAll();
  }

  #closeAll(): void {
    for (const stream of this.streams.values()) if (!stream.isOver) this.#close(stream);
  }
}
