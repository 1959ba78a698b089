import type { Socket } from 'node:net';
import type { UnsentClaim } from '../net/unsent-answers.ts';
import {
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  FrameFlag,
  type Frame,
  Http2FrameReader,
  FrameType,
  Http2Error,
  MAX_WINDOW_BYTES,
  Setting,
  checkPriority,
  checkSize,
  frame,
  numberFrame,
  readSettings,
  unpadded,
} from './frames.ts';
import { HeaderBlocks } from './header-blocks.ts';
import type { HeaderFields, HeaderLimits } from './hpack.ts';
import { Outbox, giveBack, isReusable } from './outbox.ts';
import { StreamTable } from './stream-table.ts';
import type { Http2Stream, StreamEvents } from './stream.ts';

/** All streams together. It is given back as soon as it is used, so that no stream stops another: what bounds memory is the window of each. */
export const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;
/** Answers to pings and settings that wait for a peer that does not read them. */
const MAX_WAITING_REPLIES = 1000;
/** So much is given to the socket at a time. */
const FLUSH_BYTES = 128 * 1024;
/** Of one that is held back. Less is not worth the stopping, which costs more than the reading. */
const MAX_UNHEARD_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * What both ends of an HTTP/2 connection do (RFC 9113): frames in and out, flow control, settings and pings. Node's own costs several times the CPU, in
 * streams, headers and timers that nobody has use for here (docs/etcd.md has the figures). What is sent in one turn of the loop goes out together.
 */
export abstract class Http2Connection<Stream extends Http2Stream<StreamEvents>> {
  protected readonly streams = new StreamTable<Stream>();
  protected socket: Socket | undefined;
  /** The sizes of all that waits on streams for the peer to read. */
  protected unsentBytes = 0;
  /** Given to the socket so far. */
  protected handedBytes = 0;
  /** What still comes is not listened to. */
  protected hasStoppedReading = false;
  readonly #streamWindowBytes: number;
  readonly #frames = new Http2FrameReader();
  readonly #blocks: HeaderBlocks;
  #sendWindowBytes = DEFAULT_WINDOW_BYTES;
  #initialStreamWindowBytes = DEFAULT_WINDOW_BYTES;
  #receivableBytes = CONNECTION_WINDOW_BYTES;
  /** What is sent, until the next flush. */
  protected readonly outbox = new Outbox();
  #flushes = 0;
  /** Those that have to be told of the next flush. */
  #settling: Stream[] = [];
  /** The peer has widened a window since we last sent. */
  #hasNewRoom = false;
  /** The socket holds more than it likes to. */
  #isCongested = false;
  #waitingReplies = 0;
  #isFlushComing = false;
  readonly #onFlushTime = (): void => this.#flush();
  #isHeldBack = false;
  /** So much came meanwhile that the rest stays in the socket. */
  #isPaused = false;
  /** It reads frames, and sends what was written when it has. */
  #isListening = false;
  #hasSettings = false;
  /** Where the streams' turns have come to. */
  #lastTurnId = 0;

  constructor(streamWindowBytes: number, limits: HeaderLimits) {
    this.#streamWindowBytes = streamWindowBytes;
    this.#blocks = new HeaderBlocks(limits);
  }

  /** False where some of it waits for the peer: `onDrain` tells when it has caught up. Nothing may follow the last. */
  send(stream: Stream, bytes: Buffer, isLast: boolean): boolean {
    if (stream.isOver) return true;
    stream.body.add(bytes);
    if (isLast) stream.body.complete();
    return this.sendOn(stream, bytes.length);
  }

  /** Sends what was added to its body, of such a size. */
  protected sendOn(stream: Stream, addedBytes: number): boolean {
    this.unsentBytes += addedBytes;
    if (stream.id !== 0) this.pump(stream);
    const isWaiting = this.#isCongested || stream.body.unsentBytes > 0;
    // One who was told to wait before is still told of the end of it.
    if (isWaiting) stream.wantsDrain = true;
    if (stream.body.unsentBytes > 0) this.onWaiting(stream);
    return !isWaiting;
  }

  /** What of a stream has not been handed to the network. */
  bufferedBytes(stream: Stream): number {
    return stream.body.unsentBytes + (stream.flush === this.#flushes ? stream.unflushedBytes : 0);
  }

  /** So much of the data was taken in: as much more may come. */
  release(stream: Stream, sizeBytes: number): void {
    stream.unreturnedBytes += sizeBytes;
    if (stream.isOver || stream.unreturnedBytes < this.#streamWindowBytes / 2) return;
    this.write(numberFrame(FrameType.windowUpdate, stream.id, stream.unreturnedBytes));
    stream.receivableBytes += stream.unreturnedBytes;
    stream.unreturnedBytes = 0;
  }

  /** Whether a stream of this number was ever begun, by either end. */
  protected abstract wasBegun(streamId: number): boolean;
  /** A block of headers; `stream` is undefined where it is not open. Not all are there where it `isTooLarge`. */
  protected abstract onHeaders(streamId: number, stream: Stream | undefined, fields: HeaderFields, endsStream: boolean, isTooLarge: boolean): void;
  /** Without its padding; may be empty. */
  protected abstract onData(stream: Stream, piece: Buffer, endsStream: boolean): void;
  /** Without its padding, of one that is over. */
  protected onLateData(_streamId: number, _endsStream: boolean): void {}
  /** The peer has reset it. */
  protected abstract onReset(stream: Stream, code: number): void;
  /** The peer has broken a rule of one stream alone: it is to be reset. */
  protected abstract onStreamError(stream: Stream, code: number, message: string): void;
  protected abstract onGoaway(lastStreamId: number): void;
  /** The peer has broken a rule: the connection is to be ended. */
  protected abstract onViolation(error: Http2Error): void;
  protected abstract onSocketClose(error: Error | undefined): void;
  /** All that a stream had to say has been handed to the network. */
  protected onSent(_stream: Stream): void {}
  /** Some of a body waits for the peer, and may be more than before. */
  protected onWaiting(_stream: Stream): void {}
  /** The socket holds more than the peer has taken, or no longer does. */
  protected onCongestion(_isCongested: boolean): void {}
  /** A frame that brings nothing: a ping, settings, an empty one. */
  protected onControlFrame(): void {}
  /** A frame of a stream that is over, which may have been on its way when it ended. */
  protected onLateFrame(): void {}
  /** The peer has said what it takes. */
  protected onSettings(_maxStreams: number | undefined): void {}
  protected onPong(): void {}
  /** Something was received. */
  protected onReceive(): void {}

  protected useSocket(socket: Socket): void {
    let failure: Error | undefined;
    this.socket = socket;
    socket.on('data', (piece: Buffer) => this.receive(piece));
    // 'close' follows.
    socket.on('error', (error) => (failure ??= error));
    socket.on('close', () => this.onSocketClose(failure));
    socket.on('drain', () => this.#onSocketDrain());
    this.#flush();
  }

  protected begin(stream: Stream, id: number): void {
    stream.id = id;
    stream.body.widen(this.#initialStreamWindowBytes);
    this.streams.add(stream);
  }

  protected drop(stream: Stream): void {
    stream.isOver = true;
    if (stream.id !== 0) this.streams.delete(stream);
    this.unsentBytes -= stream.body.unsentBytes;
    stream.unsentClaim?.close();
    stream.unsentClaim = undefined;
  }

  protected write(bytes: Buffer): void {
    this.outbox.add(bytes);
    this.flushLater();
  }

  /** Something is in the outbox. */
  protected flushLater(): void {
    if (this.#isFlushComing || this.#isListening || !this.socket) return;
    this.#isFlushComing = true;
    setImmediate(this.#onFlushTime);
  }

  /** To what the peer has asked. One that asks without end, and reads nothing, is not waited for. */
  #reply(bytes: Buffer): void {
    if (this.#isCongested && ++this.#waitingReplies > MAX_WAITING_REPLIES) {
      throw new Http2Error('too many answers that nobody reads', ErrorCode.enhanceYourCalm);
    }
    this.write(bytes);
  }

  /** Hands over all that was written so far. */
  protected flushNow(): void {
    if (this.outbox.sizeBytes > 0) this.#flush();
  }

  #flush(): void {
    const socket = this.socket!;
    this.#isFlushComing = false;
    if (this.outbox.sizeBytes === 0 || socket.destroyed || socket.writableEnded) return;
    const bytes = this.outbox.take();
    this.#flushes++;
    const onWritten = (error?: Error | null): void => {
      if (!error) giveBack(bytes);
    };
    this.#isCongested = !(isReusable(bytes) ? socket.write(bytes, onWritten) : socket.write(bytes));
    this.handedBytes += bytes.length;
    if (this.#isCongested) this.onCongestion(true);
    this.#settle();
    if (!this.#isCongested && this.unsentBytes > 0) this.#pumpAll();
  }

  #onSocketDrain(): void {
    this.#isCongested = false;
    this.onCongestion(false);
    this.#waitingReplies = 0;
    this.#settle();
    this.#pumpAll();
  }

  /** Sends what the peer's windows and the socket allow. */
  protected pump(stream: Stream): void {
    while (!stream.isOver && this.#pumpOnce(stream));
  }

  /** A turn for every stream, from where the last ones have come to, so that none has to wait for another's end. */
  #pumpAll(): void {
    const streams = this.streams.values();
    const start = Math.max(
      streams.findIndex(({ id }) => id > this.#lastTurnId),
      0,
    );
    let hasMore = true;
    while (hasMore) {
      hasMore = false;
      for (let index = 0; index < streams.length; index++) {
        const stream = streams[(start + index) % streams.length]!;
        if (!stream.isOver && this.#pumpOnce(stream)) hasMore = true;
      }
    }
  }

  /** False where nothing could be sent. */
  #pumpOnce(stream: Stream): boolean {
    if (this.#isCongested || this.outbox.sizeBytes >= FLUSH_BYTES) return false;
    const { body } = stream;
    const sizeBytes = body.readyBytes(this.#sendWindowBytes);
    if (sizeBytes === undefined) return false;
    body.moveTo(this.outbox, stream.id, sizeBytes);
    this.flushLater();
    this.#sendWindowBytes -= sizeBytes;
    this.unsentBytes -= sizeBytes;
    if (stream.unsentClaim) this.#countDown(stream, stream.unsentClaim);
    this.#lastTurnId = stream.id;
    if (stream.flush !== this.#flushes) stream.unflushedBytes = 0;
    stream.flush = this.#flushes;
    stream.unflushedBytes += sizeBytes;
    if (body.unsentBytes === 0 && (stream.wantsDrain || body.isDone)) this.settleLater(stream);
    return true;
  }

  #countDown(stream: Stream, claim: UnsentClaim): void {
    if (stream.body.unsentBytes > 0) return claim.set(stream.body.unsentBytes);
    claim.close();
    stream.unsentClaim = undefined;
  }

  protected settleLater(stream: Stream): void {
    if (stream.isSettling) return;
    stream.isSettling = true;
    this.#settling.push(stream);
  }

  /** Tells streams what has become of their data, now that it has left. */
  #settle(): void {
    if (this.#settling.length === 0) return;
    const settling = this.#settling;
    this.#settling = [];
    for (const stream of settling) {
      stream.isSettling = false;
      if (stream.isOver) continue;
      if (stream.body.isDone) this.onSent(stream);
      else if (this.#isCongested) this.settleLater(stream);
      else if (stream.wantsDrain && stream.body.unsentBytes === 0) {
        stream.wantsDrain = false;
        stream.events.onDrain?.();
      }
    }
  }

  /**
   * Leaves what still comes unread until `resumeReading`: requests that would only wait take a fiftieth of the memory in the socket. False where it is left so
   * already.
   */
  pauseReading(): boolean {
    if (this.#isHeldBack) return false;
    this.#isHeldBack = true;
    return true;
  }

  resumeReading(): void {
    this.#isHeldBack = false;
    if (this.socket!.destroyed) return;
    this.#listen();
    if (this.#isHeldBack || !this.#isPaused) return;
    this.#isPaused = false;
    this.socket!.resume();
  }

  protected receive(piece: Buffer): void {
    this.onReceive();
    if (this.hasStoppedReading) return;
    this.#frames.add(piece);
    if (!this.#isHeldBack) this.#listen();
    else if (this.#frames.unreadBytes > MAX_UNHEARD_BYTES) {
      this.#isPaused = true;
      this.socket!.pause();
    }
  }

  /** What was answered at once leaves at once: it does not wait for what others have to do in this turn. */
  #listen(): void {
    this.#isListening = true;
    this.#readFrames();
    this.#isListening = false;
    this.flushNow();
  }

  #readFrames(): void {
    try {
      while (!this.hasStoppedReading && !this.#isHeldBack) {
        const received = this.#frames.next();
        if (!received) break;
        this.#onFrame(received);
      }
      if (this.#hasNewRoom && !this.hasStoppedReading) this.#useNewRoom();
    } catch (error) {
      this.hasStoppedReading = true;
      this.onViolation(error instanceof Http2Error ? error : new Http2Error((error as Error).message, ErrorCode.internalError));
    }
  }

  /** Once for all frames that came together: a peer that opens its windows byte by byte does not make us look at every stream each time (CVE-2019-9511). */
  #useNewRoom(): void {
    this.#hasNewRoom = false;
    this.#pumpAll();
  }

  #onFrame(received: Frame): void {
    const { type, streamId } = received;
    if (this.#blocks.isUnfinished && type !== FrameType.continuation) throw new Http2Error('header frames in the wrong order');
    if (!this.#hasSettings && (type !== FrameType.settings || received.flags & FrameFlag.ack)) throw new Http2Error('the first frame is not settings');
    switch (type) {
      case FrameType.data:
        return this.#onDataFrame(received);
      case FrameType.headers:
      case FrameType.continuation:
        return this.#onHeaderFrame(received);
      case FrameType.windowUpdate:
        return this.#onWindowUpdate(received);
      case FrameType.rstStream:
        return this.#onResetFrame(received);
      case FrameType.settings:
        return this.#onSettingsFrame(received);
      case FrameType.ping:
        return this.#onPing(received);
      case FrameType.goaway:
        if (streamId !== 0) throw new Http2Error('GOAWAY on a stream');
        if (received.payload.length < 8) throw new Http2Error('GOAWAY that ends too early', ErrorCode.frameSizeError);
        return this.onGoaway(received.payload.readUInt32BE(0) & MAX_WINDOW_BYTES);
      case FrameType.pushPromise:
        throw new Http2Error('a push that was forbidden');
      case FrameType.priority:
        checkPriority(received);
        return this.onControlFrame();
      default:
        // To be passed over (§4.1).
        return this.onControlFrame();
    }
  }

  /** Undefined for one that is over; throws for one that was never begun. */
  #streamOf({ streamId }: Frame): Stream | undefined {
    const stream = this.streams.get(streamId);
    if (!stream && !this.wasBegun(streamId)) throw new Http2Error(`a frame of stream ${streamId}, which nobody has opened`);
    return stream;
  }

  #onDataFrame(received: Frame): void {
    const { flags, payload, streamId } = received;
    this.#takeFromWindow(payload.length);
    const stream = this.#streamOf(received);
    const endsStream = (flags & FrameFlag.endStream) !== 0;
    const data = flags & FrameFlag.padded ? unpadded(received) : payload;
    if (data.length === 0 && !endsStream) this.onControlFrame();
    if (!stream) return this.onLateData(streamId, endsStream);
    stream.receivableBytes -= payload.length;
    if (stream.receivableBytes < 0) return this.onStreamError(stream, ErrorCode.flowControlError, 'more data than was allowed');
    if (data.length < payload.length) this.release(stream, payload.length - data.length);
    this.onData(stream, data, endsStream);
  }

  /** Bytes count against the connection's window whether their stream still is of interest or not. */
  #takeFromWindow(sizeBytes: number): void {
    this.#receivableBytes -= sizeBytes;
    if (this.#receivableBytes < 0) throw new Http2Error('more data than was allowed', ErrorCode.flowControlError);
    if (this.#receivableBytes > CONNECTION_WINDOW_BYTES / 2) return;
    this.write(numberFrame(FrameType.windowUpdate, 0, CONNECTION_WINDOW_BYTES - this.#receivableBytes));
    this.#receivableBytes = CONNECTION_WINDOW_BYTES;
  }

  #onHeaderFrame(received: Frame): void {
    const block = this.#blocks.push(received);
    if (!block) return received.payload.length === 0 ? this.onControlFrame() : undefined;
    const { streamId } = received;
    // Read in any case: later blocks may depend on it.
    const fields = this.#blocks.read(block);
    this.onHeaders(streamId, this.streams.get(streamId), fields, this.#blocks.endsStream, this.#blocks.isTooLarge);
  }

  #onWindowUpdate(received: Frame): void {
    checkSize(received, 4);
    const increment = received.payload.readUInt32BE(0) & MAX_WINDOW_BYTES;
    if (received.streamId === 0) {
      if (increment === 0) throw new Http2Error('a window that is not widened');
      this.#sendWindowBytes += increment;
      if (this.#sendWindowBytes > MAX_WINDOW_BYTES) throw new Http2Error('a window that is too large', ErrorCode.flowControlError);
      this.#hasNewRoom ||= this.unsentBytes > 0;
      return;
    }
    const stream = this.#streamOf(received);
    if (!stream) return this.onLateFrame();
    if (increment === 0) return this.onStreamError(stream, ErrorCode.protocolError, 'a window that is not widened');
    if (stream.body.widen(increment) > MAX_WINDOW_BYTES) return this.onStreamError(stream, ErrorCode.flowControlError, 'a window that is too large');
    this.#hasNewRoom ||= stream.body.unsentBytes > 0;
  }

  #onResetFrame(received: Frame): void {
    checkSize(received, 4);
    const stream = this.#streamOf(received);
    if (stream) this.onReset(stream, received.payload.readUInt32BE(0));
    else this.onLateFrame();
  }

  #onSettingsFrame(received: Frame): void {
    if (received.streamId !== 0) throw new Http2Error('settings of a stream');
    if (received.flags & FrameFlag.ack) return checkSize(received, 0);
    const settings = readSettings(received.payload);
    const windowBytes = settings.get(Setting.initialWindowSize);
    if (windowBytes !== undefined) this.#changeStreamWindows(windowBytes);
    this.#hasSettings = this.#hasNewRoom = true;
    this.#reply(frame(FrameType.settings, FrameFlag.ack, 0, NOTHING));
    this.onControlFrame();
    this.onSettings(settings.get(Setting.maxConcurrentStreams));
  }

  #changeStreamWindows(sizeBytes: number): void {
    const change = sizeBytes - this.#initialStreamWindowBytes;
    this.#initialStreamWindowBytes = sizeBytes;
    for (const stream of this.streams.values()) {
      if (stream.body.widen(change) > MAX_WINDOW_BYTES) throw new Http2Error('a window that is too large', ErrorCode.flowControlError);
    }
  }

  #onPing(received: Frame): void {
    const { flags, streamId, payload } = received;
    if (streamId !== 0) throw new Http2Error('a ping of a stream');
    checkSize(received, 8);
    if (flags & FrameFlag.ack) return this.onPong();
    this.onControlFrame();
    this.#reply(frame(FrameType.ping, FrameFlag.ack, 0, payload));
  }
}
