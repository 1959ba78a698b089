import type { Socket } from 'node:net';
import type { MonotonicClock, Timer } from '../util/clock.ts';
import { withListener } from '../util/listeners.ts';
import type { Requester, UnsentClaim, UnsentHolder, UnsentLedger } from '../net/unsent-answers.ts';
import { BadRequest, type HeadLimits, type Http1RequestHead, checkedHead } from './request-head.ts';
import type { ParsedRequest, RequestParser, RequestReceiver } from './request-parser.ts';

/** What one connection may cost. */
export interface ConnectionLimits extends HeadLimits {
  /** For a request's head, from its first byte or the connection's start. */
  headerTimeoutMs: number;
  /** A connection without a request. */
  idleTimeoutMs: number;
  /** Of each request's body: so much may wait with its owner, who releases it. */
  streamWindowBytes: number;
  /** How long a client that is still sending what we did not want may go on, so that it gets to read our answer. */
  lingerMs: number;
}

export interface ServerConnectionOptions extends ConnectionLimits {
  /** One for all connections. */
  parser: RequestParser;
  clock: MonotonicClock;
  unsent: UnsentLedger;
}

export interface ServerConnectionEvents {
  /** Gives the connection its `owner` before anything else. `hasBody`: something follows the head. */
  onRequest(head: Http1RequestHead, hasBody: boolean): void;
  /** The connection was given up because its client does not read. */
  onUnread(message: string): void;
  /** What came was no request, or none came in time; the connection ends. */
  onBadRequest(message: string): void;
}

/** What the owner of a request is told. `onOver` is the last. */
export interface RequestEvents {
  readonly requester?: Requester | undefined;
  onData(piece: Buffer): void;
  /** The request's body is whole. */
  onBodyEnd(): void;
  /** The answer has left, or the client has gone. */
  onOver(): void;
}

/** Go's server reads this much of an unwanted body to keep a connection; beyond it, the connection is closed. */
export const UNWANTED_BODY_BYTES = 256 * 1024;
/** So much is given to the socket at once, rather than at the end of the turn: it would say that this is enough. */
const FLUSH_BYTES = 16 * 1024;
/** Up to this size, what goes out together is copied together: one write costs more than the copy. */
const JOINED_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);
const EXPECTATION_FAILED = 'HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * The server's end of a connection of HTTP/1.1 (RFC 9112). Requests are read by node:http (request-parser.ts), and written and timed here. One request is given out
 * at a time, as Go's server does: what was parsed behind it waits, and the socket is paused. What is written in one turn of the loop goes out together.
 */
export class ServerConnection implements UnsentHolder, RequestReceiver {
  /** Of the request that is open. */
  owner: RequestEvents | undefined;
  /** No request follows the one that is open. */
  isClosing = false;
  readonly #socket: Socket;
  readonly #options: ServerConnectionOptions;
  readonly #events: ServerConnectionEvents;
  readonly #onBytes = (): void => this.#received();
  readonly #onParsedBytes = (): void => this.#parsed();
  readonly #onResume = (): void => void (this.#isPaused && this.#socket.pause());
  readonly #onDrain = (): void => this.#drained();
  readonly #onEnd = (): void => this.#hungUp();
  /** The last request, until its answer has left and its body has come. */
  #request: ParsedRequest | undefined;
  /** Of its body: what it says to have, what came, and what its reader has not taken. */
  #bodyBytes = 0;
  #receivedBytes = 0;
  #heldBytes = 0;
  /** Of it, what nobody wanted. */
  #unwantedBytes = 0;
  /** Behind the last request: requests that were parsed with it, and what is no request. */
  #waiting: ParsedRequest[] = [];
  #parseError: Error | undefined;
  isAtStart = true;
  /** Bytes came that are no whole head yet. */
  #isHeadPending = false;
  #isPaused = false;
  #isHeldBack = false;
  /** What still comes is thrown away. */
  #isDiscarding = false;

  #unwritten: Buffer | undefined;
  #unwrittenMore: Buffer[] | undefined;
  #unwrittenBytes = 0;
  #isFlushing = false;
  /** Of an answer that is at hand, what its owner has still to write. */
  #plannedBytes = 0;
  /** Given to the socket so far. */
  #handedBytes = 0;
  /** Where all that is counted while the client is behind. */
  #unsentClaim: UnsentClaim | undefined;
  /** The socket holds more than it likes to. */
  #isCongested = false;
  #drainListeners: readonly (() => void)[] | undefined;
  /** All of the answer was written; with the last one, the connection ends. */
  #isAnswered = false;
  #isLast = false;

  /** Since when a head is awaited, or comes; undefined where none is due. */
  #headSinceMs: number | undefined;
  #lastUsedMs: number;
  #timer: Timer;

  /** The socket's TLS handshake is done. */
  constructor(socket: Socket, options: ServerConnectionOptions, events: ServerConnectionEvents) {
    this.#socket = socket;
    this.#options = options;
    this.#events = events;
    this.#headSinceMs = this.#lastUsedMs = options.clock.nowMs();
    this.#timer = this.#lookAgainIn(Infinity);
    socket.on('data', this.#onBytes).on('drain', this.#onDrain).on('end', this.#onEnd).on('resume', this.#onResume);
    socket.once('close', () => this.#closed());
    options.parser.read(socket, this);
    socket.on('data', this.#onParsedBytes);
  }

  /** What has not been handed to the network. */
  get bufferedBytes(): number {
    return this.#unwrittenBytes + this.#socket.writableLength;
  }

  /** Of the request's body, what has not come; Infinity where that is not known. */
  get missingBytes(): number {
    if (this.#bodyBytes === 0 || this.#request?.body.complete !== false) return 0;
    return this.#bodyBytes - this.#receivedBytes;
  }

  get userName(): string {
    return this.owner?.requester?.clientName ?? '';
  }

  get isLongRunning(): boolean {
    return this.owner?.requester?.isLongRunning ?? false;
  }

  takenBytes(): number {
    return this.#handedBytes - this.#socket.writableLength;
  }

  cutOff(message: string): void {
    this.#events.onUnread(message);
    this.#socket.destroy();
  }

  /** So much of an answer is in memory already, and will be written as the client reads. */
  plan(sizeBytes: number): void {
    this.#plannedBytes = sizeBytes;
  }

  /** False where the client is behind: `onceDrained` tells when it has caught up. The bytes are not copied. */
  write(bytes: Buffer): boolean {
    this.#unwrittenBytes += bytes.length;
    if (this.#plannedBytes > 0) this.#plannedBytes = Math.max(0, this.#plannedBytes - bytes.length);
    if (!this.#unwritten) this.#unwritten = bytes;
    else if (!this.#unwrittenMore) this.#unwrittenMore = [bytes];
    else this.#unwrittenMore.push(bytes);
    if (this.#unwrittenBytes >= FLUSH_BYTES) this.#hand();
    else this.#flushLater();
    return !this.#isCongested;
  }

  onceDrained(listener: () => void): void {
    this.#drainListeners = withListener(this.#drainListeners, listener);
  }

  /** The answer is whole. Its request is over when it has left. */
  complete(isLast: boolean): void {
    this.#isAnswered = true;
    this.#isLast = isLast;
    this.#flushLater();
  }

  /** Cuts the answer off, behind what was written. */
  cut(): void {
    this.#hand();
    this.#socket.destroy();
  }

  /** So much of the body was taken by its reader. */
  release(sizeBytes: number): void {
    this.#heldBytes -= sizeBytes;
    if (this.#heldBytes < this.#options.streamWindowBytes && this.#request?.body.isPaused()) this.#request.body.resume();
  }

  /** Leaves the requests that follow unread until `resumeReading`. False where they are already. */
  pauseReading(): boolean {
    if (this.#isHeldBack) return false;
    this.#isHeldBack = true;
    return true;
  }

  resumeReading(): void {
    this.#isHeldBack = false;
    if (!this.owner && !this.#isDiscarding) this.#next();
  }

  /** Ends when idle: now, or behind the answer to the request that is open. */
  finish(): void {
    this.isClosing = true;
    if (!this.owner) this.#end();
  }

  /** Lets go of the socket, of which nothing was read behind `head`. Its request is over when it closes. */
  detach(): { socket: Socket; head: Buffer } {
    const socket = this.#socket;
    this.#hand();
    this.#isDiscarding = true;
    this.#timer.cancel();
    this.#unsentClaim?.close();
    this.#unsentClaim = undefined;
    socket.off('data', this.#onBytes).off('data', this.#onParsedBytes).off('drain', this.#onDrain).off('end', this.#onEnd).off('resume', this.#onResume);
    // As if nobody had ever listened: the first who does sets it going. Node has no other way to say so (its own server does the same).
    socket.pause();
    (socket as { readableFlowing: boolean | null }).readableFlowing = null;
    return { socket, head: this.#request?.rest ?? NOTHING };
  }

  #flushLater(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    if (unflushed.push(this) === 1) setImmediate(flushAll);
  }

  /** At the end of the turn. */
  flush(): void {
    this.#isFlushing = false;
    this.#hand();
    if (!this.#isAnswered || this.#socket.destroyed) return;
    this.#isAnswered = false;
    this.#answered();
  }

  /** Gives the socket all that was written so far. */
  #hand(): void {
    const first = this.#unwritten;
    if (!first) return;
    const more = this.#unwrittenMore;
    const sizeBytes = this.#unwrittenBytes;
    this.#unwritten = this.#unwrittenMore = undefined;
    this.#unwrittenBytes = 0;
    // Nobody is told to go on.
    if (this.#socket.destroyed || this.#socket.writableEnded) return void (this.#isCongested = true);
    if (!more) this.#isCongested = !this.#socket.write(first);
    else if (sizeBytes <= JOINED_BYTES) this.#isCongested = !this.#socket.write(Buffer.concat([first, ...more], sizeBytes));
    else for (const bytes of [first, ...more]) this.#isCongested = !this.#socket.write(bytes);
    this.#handedBytes += sizeBytes;
    this.#countUnsent();
    if (!this.#isCongested && this.#drainListeners) this.#tellDrained();
  }

  #countUnsent(): void {
    if (this.#isCongested) (this.#unsentClaim ??= this.#options.unsent.open(this)).set(this.#plannedBytes + this.bufferedBytes);
    else if (this.#unsentClaim) {
      this.#unsentClaim.close();
      this.#unsentClaim = undefined;
    }
  }

  #drained(): void {
    this.#isCongested = false;
    this.#countUnsent();
    this.#tellDrained();
    if (!this.owner && !this.#isDiscarding) this.#next();
  }

  #tellDrained(): void {
    const listeners = this.#drainListeners;
    this.#drainListeners = undefined;
    for (const listener of listeners ?? []) listener();
  }

  /** The answer has left. A body that nobody has read is thrown away before the next request. */
  #answered(): void {
    const owner = this.owner!;
    this.owner = undefined;
    this.#drainListeners = undefined;
    this.#heldBytes = 0;
    this.#lastUsedMs = this.#options.clock.nowMs();
    owner.onOver();
    if (this.#isLast || this.isClosing) return this.#end();
    if (this.#hasBodyToCome) this.#request!.body.resume();
    else this.#requestOver();
  }

  get #hasBodyToCome(): boolean {
    return this.#bodyBytes > 0 && this.#request?.body.readableEnded === false;
  }

  /** Its answer has left and its body has come. */
  #requestOver(): void {
    this.#request?.finish();
    this.#request = undefined;
    this.#next();
  }

  /** Goes on with what was parsed behind the last request, once the client has read the answer: one that never reads must not be given ever more. */
  #next(): void {
    if (this.#isCongested || this.#isHeldBack || this.#isDiscarding || this.#request) return;
    const request = this.#waiting.shift();
    if (request) this.#begin(request);
    else if (this.#parseError) this.#refuse(this.#parseError);
    this.#adjustReading();
  }

  /** No request follows: the connection ends behind what was written. A client that is still sending is let, for a while, or it would lose the answer to a reset. */
  #end(): void {
    if (this.#isDiscarding) return;
    const isSending = this.#hasBodyToCome || (this.#request?.rest?.length ?? 0) > 0 || this.#waiting.length > 0 || this.#isHeadPending;
    this.#isDiscarding = true;
    this.#waiting = [];
    if (isSending) this.#linger();
    else this.#socket.destroySoon();
  }

  #linger(): void {
    const { clock, lingerMs } = this.#options;
    this.#socket.end();
    this.#adjustReading();
    this.#request?.body.resume();
    this.#socket.resume();
    this.#timer.cancel();
    this.#timer = clock.after(lingerMs, () => {
      this.#lastUsedMs = clock.nowMs();
      this.#timer = this.#lookAgainIn(Infinity);
      this.#socket.destroySoon();
    });
  }

  /** Before the parser sees what came. What is answered at once leaves at once: it does not wait for what others have to do in this turn. */
  #received(): void {
    if (this.#isDiscarding) return;
    this.#isFlushing = true;
    this.isAtStart = !this.#request && !this.#isHeadPending && this.#waiting.length === 0;
    if (this.#request) return;
    this.#headSinceMs ??= this.#options.clock.nowMs();
    this.#isHeadPending = true;
  }

  /** After the parser has seen it. */
  #parsed(): void {
    if (!this.#isDiscarding) this.flush();
  }

  onParsed(request: ParsedRequest): void {
    this.isAtStart = false;
    this.#isHeadPending = false;
    this.#headSinceMs = undefined;
    if (this.#isDiscarding) return;
    this.#waiting.push(request);
    this.#next();
  }

  onParseError(error: Error): void {
    if (this.#isDiscarding || this.#parseError) return;
    this.#parseError = error;
    // An error in a body is its request's. One behind it waits until that is answered.
    if (this.#waiting.length === 0 && (!this.#request || this.missingBytes > 0)) this.#refuse(error);
  }

  /** Reading goes on where there is room for what comes. Behind a request that waits, the client's end is not seen before its turn has come: it wants the answers. */
  #adjustReading(): void {
    const isFull = !this.#isDiscarding && this.#waiting.length > 0;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) this.#socket.pause();
    else this.#socket.resume();
  }

  #begin(request: ParsedRequest): void {
    this.#request = request;
    this.#bodyBytes = this.#receivedBytes = this.#unwantedBytes = 0;
    let head: Http1RequestHead;
    try {
      head = checkedHead(request, this.#options);
    } catch (error) {
      this.#request = undefined;
      return this.#refuse(error as Error);
    }
    const { expect } = head.headers;
    if (expect !== undefined && expect !== '' && expect.toLowerCase() !== '100-continue') return this.#refuseExpectation();
    const hasBody = head.bodyBytes > 0 && request.rest === undefined;
    if (hasBody) this.#readBody(request, head.bodyBytes);
    this.#events.onRequest(head, hasBody);
  }

  #refuseExpectation(): void {
    this.write(Buffer.from(EXPECTATION_FAILED, 'latin1'));
    this.#hand();
    this.#end();
  }

  #readBody(request: ParsedRequest, sizeBytes: number): void {
    this.#bodyBytes = sizeBytes;
    request.body.on('data', (piece: Buffer) => this.#take(request, piece));
    request.body.once('end', () => {
      if (this.owner) this.owner.onBodyEnd();
      else if (this.#request === request && !this.#isDiscarding) this.#requestOver();
    });
  }

  #take({ body }: ParsedRequest, data: Buffer): void {
    this.#receivedBytes += data.length;
    if (this.owner) {
      this.#heldBytes += data.length;
      if (this.#heldBytes >= this.#options.streamWindowBytes) body.pause();
      return this.owner.onData(data);
    }
    this.#unwantedBytes += data.length;
    if (this.#unwantedBytes > UNWANTED_BODY_BYTES) this.#end();
  }

  /** What came is no request, or not its body. Behind a head that was taken for one, there is no place to say anything. */
  #refuse(error: Error): void {
    if (this.owner || this.#request) return this.cut();
    this.#events.onBadRequest(error.message);
    const { reason, body } = error instanceof BadRequest ? error : new BadRequest(error.message);
    this.write(Buffer.from(`HTTP/1.1 ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${body}`, 'latin1'));
    this.#hand();
    this.#isDiscarding = true;
    this.#linger();
  }

  /** The client sends no more. As for Go's server and for Node's, it has gone then; what was written still goes out. */
  #hungUp(): void {
    this.#hand();
    this.#isDiscarding = true;
    this.#lastUsedMs = this.#options.clock.nowMs();
    this.#socket.destroySoon();
  }

  #closed(): void {
    this.#timer.cancel();
    this.#unsentClaim?.close();
    this.#unsentClaim = undefined;
    this.#isDiscarding = true;
    this.owner?.onOver();
    this.owner = undefined;
  }

  #lookAgainIn(delayMs: number): Timer {
    const { headerTimeoutMs, idleTimeoutMs } = this.#options;
    return this.#options.clock.after(Math.min(delayMs, headerTimeoutMs, idleTimeoutMs), () => this.#lookAfter());
  }

  /** One timer for all that a connection may be waited for, which looks now and then: none is set for a request. */
  #lookAfter(): void {
    const remainingMs = this.#dueMs() - this.#options.clock.nowMs();
    this.#timer = this.#lookAgainIn(remainingMs > 0 ? remainingMs : Infinity);
    if (remainingMs > 0) return;
    if (this.#isDiscarding) return void this.#socket.destroy();
    if (this.#headSinceMs === undefined) return this.#end();
    this.#events.onBadRequest('no request came in time');
    this.#socket.destroy();
  }

  #dueMs(): number {
    const { headerTimeoutMs, idleTimeoutMs } = this.#options;
    if (this.#isDiscarding) return this.#lastUsedMs + idleTimeoutMs;
    if (this.#headSinceMs !== undefined) return this.#headSinceMs + headerTimeoutMs;
    return this.owner ? Infinity : this.#lastUsedMs + idleTimeoutMs;
  }
}

let unflushed: ServerConnection[] = [];

/** What is written later in a turn leaves one right after the other: each would have to wake its client anew, with work of ours before the next. */
function flushAll(): void {
  const connections = unflushed;
  unflushed = [];
  for (const connection of connections) connection.flush();
}
