import type { Duplex } from 'node:stream';
import { RateLimit } from '../../http2/rate-limit.ts';
import { endSocket } from '../end-socket.ts';
import { CONTROL, controlFrame, dataHeader, FIN, SpdyFrameReader, RESET } from './frames.ts';
import { SpdyHeaderReader, type SpdyHeaders, HeaderWriter } from './header-block.ts';
import { SpdyStream, type StreamCarrier } from './stream.ts';

export interface SpdyOptions {
  /** Clients open streams with odd numbers, servers with even ones. */
  role: 'client' | 'server';
  /** Takes a stream that the other side has opened: it is accepted unless this destroys it. Where absent, all are refused. */
  onStream?: (stream: SpdyStream) => void;
  /** Keeps a quiet connection alive on its way; none where absent. */
  pingPeriodMs?: number;
  /** How long the other side may take to accept a stream. Upstream's where absent. */
  openTimeoutMs?: number;
}

const OPEN_TIMEOUT_MS = 30_000;
const MAX_STREAMS = 1000;
/** Replies to pings and to streams that are refused wait for a peer that does not read them; one that has so many waiting is let go. */
const MAX_UNREAD_REPLY_BYTES = 256 * 1024;
/**
 * Of the other side, each second. A kubelet answers each of our streams once, and pings now and then; a block of headers in 90 bytes takes 0.26 ms to inflate, and
 * 64 KiB of them come at once. Who is called opens as many streams as the other side has ports to forward.
 */
const CONTROL_FRAMES_PER_SECOND = { client: 1_000, server: 20_000 };
const HEADER_BLOCKS_PER_SECOND = { client: 100, server: 10_000 };
const CLOSED = 'the SPDY connection is closed';

/** A stream that was asked for and not yet answered. */
interface Opening {
  stream: SpdyStream;
  resolve(stream: SpdyStream): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Either side of a SPDY/3.1 connection, on a socket that was upgraded to it. Whatever the other side does wrong ends the connection and nothing else. */
export class SpdyConnection implements StreamCarrier {
  readonly #socket: Duplex;
  readonly #options: SpdyOptions;
  readonly #frames: SpdyFrameReader;
  readonly #headerWriter = new HeaderWriter();
  readonly #headerReader = new SpdyHeaderReader();
  readonly #streams = new Map<number, SpdyStream>();
  readonly #opening = new Map<number, Opening>();
  /** Streams that have as much unread as they take; the socket is not read while there are any. */
  readonly #full = new Set<SpdyStream>();
  readonly #pings: NodeJS.Timeout | undefined;
  readonly #controlFrames: RateLimit;
  readonly #headerBlocks: RateLimit;
  #waiting: (() => void)[] = [];
  #closeListeners: (() => void)[] = [];
  #nextId: number;
  #lastReceivedId = 0;
  #nextPing: number;
  #isClosed = false;
  /** Written since the other side was last known to read. */
  #replyBytes = 0;

  /** `head` is what came behind the upgrade. */
  constructor(socket: Duplex, head: Buffer, options: SpdyOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#nextId = options.role === 'client' ? 1 : 2;
    this.#nextPing = this.#nextId;
    this.#controlFrames = new RateLimit(CONTROL_FRAMES_PER_SECOND[options.role]);
    this.#headerBlocks = new RateLimit(HEADER_BLOCKS_PER_SECOND[options.role]);
    this.#frames = new SpdyFrameReader({ control: (...frame) => this.#control(...frame), data: (...frame) => this.#data(...frame) });
    socket.on('data', (chunk: Buffer) => this.#feed(chunk));
    socket.on('drain', () => this.#drained());
    socket.on('error', () => this.#end());
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
    if (options.pingPeriodMs) this.#pings = setInterval(() => this.#ping(), options.pingPeriodMs);
    if (head.length > 0) this.#feed(head);
  }

  /** Resolves once the other side has accepted the stream; rejects where it does not, or the connection ends. */
  open(headers: SpdyHeaders): Promise<SpdyStream> {
    if (this.#isClosed) return Promise.reject(new Error(CLOSED));
    const stream = new SpdyStream(this.#nextId, headers, this);
    this.#nextId += 2;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#refused(stream.id, new Error('Timeout occurred')), this.#options.openTimeoutMs ?? OPEN_TIMEOUT_MS);
      this.#opening.set(stream.id, { stream, resolve, reject, timer });
      this.#streams.set(stream.id, stream);
      // Associated with no stream; then priority and slot, which nobody uses.
      this.#send(controlFrame(CONTROL.SYN_STREAM, 0, stream.id, 0, Buffer.alloc(2), this.#headerWriter.write(headers)));
    });
  }

  /** Called once, when the connection has ended, from whichever side; at once if it has. */
  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#closeListeners.push(listener);
  }

  /** Ends all streams and the connection. */
  close(): void {
    if (this.#isClosed) return;
    for (const stream of [...this.#streams.values()]) stream.destroy();
    this.#send(controlFrame(CONTROL.GOAWAY, 0, this.#lastReceivedId, 0));
    this.#end();
  }

  sendData(stream: SpdyStream, chunk: Buffer, isLast: boolean, done: () => void): void {
    if (this.#isClosed || this.#streams.get(stream.id) !== stream) return done();
    this.#socket.cork();
    this.#socket.write(dataHeader(stream.id, isLast ? FIN : 0, chunk.length));
    if (chunk.length > 0) this.#socket.write(chunk);
    this.#socket.uncork();
    if (this.#socket.writableNeedDrain) this.#waiting.push(done);
    else done();
  }

  wantsMore(stream: SpdyStream): void {
    if (this.#full.delete(stream) && this.#full.size === 0) this.#socket.resume();
  }

  isGone(stream: SpdyStream): void {
    if (!this.#streams.delete(stream.id)) return;
    this.wantsMore(stream);
    if (stream.isComplete || this.#isClosed) return;
    try {
      this.#reset(stream.id, RESET.CANCEL);
    } catch {
      // The caller destroys a stream, and is not to be told of what its connection has come to.
      this.#end();
    }
  }

  #send(frame: Buffer): void {
    if (!this.#isClosed) this.#socket.write(frame);
  }

  /** To what the other side did, as often as it likes: throws where it leaves too much of that unread. Data waits beside it, but is bounded by its senders. */
  #reply(frame: Buffer): void {
    this.#replyBytes = this.#socket.writableNeedDrain ? this.#replyBytes + frame.length : 0;
    if (this.#replyBytes > MAX_UNREAD_REPLY_BYTES) throw new Error('the other side does not read');
    this.#send(frame);
  }

  #reset(streamId: number, reason: number): void {
    this.#reply(controlFrame(CONTROL.RST_STREAM, 0, streamId, reason));
  }

  #ping(): void {
    this.#send(controlFrame(CONTROL.PING, 0, this.#nextPing));
    this.#nextPing = this.#nextPing > 0x7ffffffd ? 1 + (this.#nextPing & 1) : this.#nextPing + 2;
  }

  #feed(chunk: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#frames.feed(chunk);
    } catch {
      this.#end();
    }
  }

  #control(type: number, flags: number, payload: Buffer): void {
    if (!this.#controlFrames.allow(performance.now())) throw new Error('the other side sends too many control frames');
    if (type === CONTROL.PING) return this.#pinged(payload);
    if (type === CONTROL.GOAWAY) return this.#end();
    if (type === CONTROL.SETTINGS || type === CONTROL.WINDOW_UPDATE) return;
    const streamId = payload.readUInt32BE(0) & 0x7fffffff;
    if (type === CONTROL.SYN_STREAM) this.#opened(streamId, flags, payload.subarray(10));
    else if (type === CONTROL.SYN_REPLY) this.#replied(streamId, flags, payload.subarray(4));
    else if (type === CONTROL.RST_STREAM) this.#wasReset(streamId);
    // Headers in mid-stream say nothing to us, but later blocks build on them.
    else if (type === CONTROL.HEADERS) this.#readHeaders(payload.subarray(4));
    else throw new Error('the control frame is of no known type');
  }

  /** Whoever began a ping counts in its own numbers: those of the other side are answered. */
  #pinged(payload: Buffer): void {
    const id = payload.readUInt32BE(0);
    if (id % 2 !== this.#nextPing % 2) this.#reply(controlFrame(CONTROL.PING, 0, id));
  }

  #opened(streamId: number, flags: number, block: Buffer): void {
    const headers = this.#readHeaders(block);
    if (streamId <= this.#lastReceivedId || streamId % 2 === this.#nextId % 2) return this.#reset(streamId, RESET.PROTOCOL_ERROR);
    this.#lastReceivedId = streamId;
    if (!this.#options.onStream || this.#streams.size >= MAX_STREAMS) return this.#reset(streamId, RESET.REFUSED_STREAM);
    const stream = new SpdyStream(streamId, headers, this);
    this.#streams.set(streamId, stream);
    this.#forgetWhenOver(stream);
    stream.cork(); // what is written at once goes out behind the reply
    this.#options.onStream(stream);
    if (stream.destroyed) return;
    this.#send(controlFrame(CONTROL.SYN_REPLY, 0, streamId, this.#headerWriter.write({})));
    stream.uncork();
    if (flags & FIN) stream.receiveEnd();
  }

  #readHeaders(block: Buffer): SpdyHeaders {
    if (!this.#headerBlocks.allow(performance.now())) throw new Error('the other side sends too many headers');
    return this.#headerReader.read(block);
  }

  #replied(streamId: number, flags: number, block: Buffer): void {
    this.#readHeaders(block);
    const opening = this.#opening.get(streamId);
    if (!opening) return;
    this.#opening.delete(streamId);
    clearTimeout(opening.timer);
    this.#forgetWhenOver(opening.stream);
    if (flags & FIN) opening.stream.receiveEnd();
    opening.resolve(opening.stream);
  }

  #forgetWhenOver(stream: SpdyStream): void {
    stream.on('close', () => this.#streams.delete(stream.id));
    // Its user may have gone; what it is told then is nobody's business.
    stream.on('error', () => {});
  }

  #refused(streamId: number, error: Error): void {
    const opening = this.#opening.get(streamId);
    if (!opening) return;
    this.#opening.delete(streamId);
    clearTimeout(opening.timer);
    opening.stream.destroy();
    opening.reject(error);
  }

  #wasReset(streamId: number): void {
    const stream = this.#streams.get(streamId);
    this.#streams.delete(streamId);
    this.#refused(streamId, new Error('Stream reset'));
    if (!stream) return;
    this.wantsMore(stream);
    // What came before it is still to be read (github.com/moby/spdystream closes the reading side, and no more).
    stream.receiveEnd();
    stream.end();
  }

  #data(streamId: number, bytes: Buffer, isLast: boolean): void {
    const stream = this.#streams.get(streamId);
    if (!stream) return;
    if (bytes.length > 0 && !stream.receive(bytes)) {
      this.#full.add(stream);
      this.#socket.pause();
    }
    if (isLast) stream.receiveEnd();
  }

  #drained(): void {
    for (const done of this.#waiting.splice(0)) done();
  }

  /** Whatever ended it: streams are at their end, and those still to be opened fail. */
  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pings);
    for (const id of [...this.#opening.keys()]) this.#refused(id, new Error(CLOSED));
    for (const stream of this.#streams.values()) stream.cutOff();
    this.#streams.clear();
    this.#full.clear();
    this.#drained();
    endSocket(this.#socket);
    for (const listener of this.#closeListeners.splice(0)) listener();
  }
}
