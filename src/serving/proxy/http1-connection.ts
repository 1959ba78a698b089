import type { Socket } from 'node:net';
import { type BodyReader, LengthBody } from '../../http1/body-reader.ts';
import { ChunkedBody } from '../../http1/chunked-body.ts';
import { HeadReader } from '../../http1/head-reader.ts';
import { unknownError } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { ResponseHeaders } from '../exchange.ts';
import { hasNoBody } from '../headers.ts';
import { Answer, type AnswerSource } from './answer.ts';
import { BodyPump, type BodySink } from './body-pump.ts';
import { declaredLength, headersOf, lengthIn } from './fields.ts';
import { RESPONSE_HEAD_RULES, type ResponseHead, parseHead, requestHead } from './http1-head.ts';
import { StaleConnection } from './stale-connection.ts';
import type { BackendCall, BackendRequest } from './transport.ts';

/** Answers before the answer (`100 Continue` and its like), as Go's transport takes them. */
const MAX_INTERIM_ANSWERS = 5;
const LAST_CHUNK = '0\r\n\r\n';
/** Methods of which a server expects a body: that there is none is said. */
const BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);

/** A request of HTTP/1.1, from before it has a connection until its answer is over. */
export class Http1Call implements BackendCall, AnswerSource {
  readonly request: BackendRequest;
  readonly answer: Answer;
  /** Set while it is under way there. */
  connection: Http1Connection | undefined;

  constructor(request: BackendRequest) {
    this.request = request;
    this.answer = new Answer(this);
  }

  get response(): BackendCall['response'] {
    return this.answer.response;
  }

  cancel(): void {
    if (this.answer.isOver) return;
    this.answer.fail(new Error('context canceled'));
    this.connection?.destroy();
  }

  onRoom(): void {
    this.connection?.resume();
  }

  abandon(): void {
    this.cancel();
  }
}

export interface ConnectionOwner {
  /** It may be used again. */
  onIdle(connection: Http1Connection): void;
  onClose(connection: Http1Connection): void;
}

/**
 * A connection that carries one request of HTTP/1.1 after another. One that has been used in any other way than it should is never used again: whose request
 * a byte answers must be beyond doubt.
 */
export class Http1Connection implements BodySink {
  /** When it was last given back. */
  idleSinceMs = 0;
  readonly #socket: Socket;
  readonly #authority: string;
  readonly #owner: ConnectionOwner;
  readonly #heads = new HeadReader(RESPONSE_HEAD_RULES);
  #call: Http1Call | undefined;
  #requestBody: BodyPump | undefined;
  /** Of the request's body, where its length was said before it; undefined for one in chunks. */
  #unsentBytes: number | undefined;
  #body: BodyReader | undefined;
  #interimAnswers = 0;
  #isUsed = false;
  #isReused = false;
  #hasReceived = false;
  #isKept = true;
  #failure: Error | undefined;

  constructor(socket: Socket, authority: string, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#authority = authority;
    this.#owner = owner;
    socket.on('data', (piece: Buffer) => this.#onData(piece));
    socket.on('drain', () => this.#requestBody?.resume());
    socket.on('error', (error) => (this.#failure ??= error)); // 'close' follows
    socket.once('end', () => this.#onEnd());
    socket.once('close', () => this.#onClose());
  }

  get isUsable(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded;
  }

  /** Sends a request; the connection is idle. Throws, and stays so, where it cannot be written as one. */
  start(call: Http1Call): void {
    const { method, path, headers, hostHeader, body } = call.request;
    const lengthBytes = body ? declaredLength(headers) : undefined;
    const head = requestHead({ method, path, host: hostHeader ?? this.#authority, headers, framing: framingOf(method, body !== undefined, lengthBytes) });
    this.#call = call;
    call.connection = this;
    this.#isReused = this.#isUsed;
    this.#isUsed = true;
    this.#hasReceived = false;
    if (!body) return writeSoon(this.#socket, head);
    this.#socket.write(head, 'latin1');
    this.#unsentBytes = lengthBytes;
    this.#requestBody = new BodyPump(body, this);
  }

  write(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    if (this.#unsentBytes === undefined) {
      return this.#socket.write(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'), chunk, Buffer.from('\r\n')]));
    }
    this.#unsentBytes -= chunk.length;
    if (this.#unsentBytes >= 0) return this.#socket.write(chunk);
    // What is too much would be the next request.
    this.breakOff();
    return false;
  }

  end(): void {
    if (this.#unsentBytes === undefined) this.#socket.write(LAST_CHUNK, 'latin1');
    else if (this.#unsentBytes > 0) this.breakOff();
  }

  breakOff(): void {
    this.#call?.cancel();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #onData(piece: Buffer): void {
    const call = this.#call;
    // Nobody has asked, or nobody listens any more.
    if (!call || call.answer.isOver) return this.destroy();
    this.#hasReceived = true;
    try {
      const at = this.#body ? 0 : this.#readHead(call, piece);
      if (this.#body) this.#readBody(call, this.#body, piece, at);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Where the body begins; `#body` is set when there is a whole head. */
  #readHead(call: Http1Call, piece: Buffer): number {
    for (let at = 0; at < piece.length;) {
      const found = this.#heads.read(piece, at);
      if (!found) return piece.length;
      at = found.end;
      const head = parseHead(found.text);
      if (head.status >= 200) {
        this.#begin(call, head);
        return at;
      }
      if (head.status === 101) throw unknownError(`backend tried to switch protocol ${quote(String(head.headers['upgrade'] ?? ''))} when "" was requested`);
      if (++this.#interimAnswers > MAX_INTERIM_ANSWERS) throw new Error('net/http: too many 1xx informational responses');
    }
    return piece.length;
  }

  #begin(call: Http1Call, { status, minorVersion, headers }: ResponseHead): void {
    const lengthBytes = lengthIn(headers);
    const encoding = headers['transfer-encoding'];
    if (encoding !== undefined && (minorVersion === 0 || lengthBytes !== undefined || String(encoding).toLowerCase() !== 'chunked'))
      throw new Error(`unsupported transfer encoding: ${quote(String(encoding))}`);
    this.#isKept = minorVersion === 1 && !saysClose(headers['connection']);
    const isBodiless = call.request.method === 'HEAD' || hasNoBody(status);
    this.#body = encoding !== undefined && !isBodiless ? new ChunkedBody() : new LengthBody(isBodiless ? 0 : (lengthBytes ?? Infinity));
    call.answer.begin(status, headers, isBodiless ? 0 : lengthBytes);
  }

  #readBody({ answer }: Http1Call, body: BodyReader, piece: Buffer, start: number): void {
    let hasRoom = true;
    const end = body.read(piece, start, (data) => (hasRoom = answer.push(data)));
    if (body.isDone) this.#complete(end < piece.length);
    else if (!hasRoom) this.#socket.pause();
  }

  /** The answer is over. `hasMore`: something came behind it that nobody has asked for. */
  #complete(hasMore: boolean): void {
    const { answer } = this.#call!;
    const trailers = this.#body instanceof ChunkedBody && this.#body.trailers ? headersOf(this.#body.trailers) : undefined;
    const isSent = this.#requestBody?.isOver ?? true;
    const isReusable = this.#isKept && !hasMore && isSent && this.isUsable;
    this.#release();
    answer.end(trailers);
    if (!isReusable) return this.destroy();
    this.#socket.resume();
    this.#owner.onIdle(this);
  }

  #release(): void {
    this.#requestBody?.stop();
    this.#requestBody = undefined;
    if (this.#call) this.#call.connection = undefined;
    this.#call = undefined;
    this.#body = undefined;
    this.#interimAnswers = 0;
  }

  /** The answer breaks a rule. */
  #fail(error: Error): void {
    const call = this.#call;
    this.#release();
    const isOurs = error.message.startsWith('net/http: ') || 'code' in error;
    call?.answer.fail(isOurs ? error : new Error(`net/http: HTTP/1.x transport connection broken: ${error.message}`, { cause: error }));
    this.destroy();
  }

  #onEnd(): void {
    if (this.#body instanceof LengthBody && this.#body.remainingBytes === Infinity) this.#complete(false);
    this.destroy();
  }

  #onClose(): void {
    const call = this.#call;
    this.#release();
    this.#owner.onClose(this);
    if (!call) return;
    const cutOff = Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
    const failure = this.#failure && !isCut(this.#failure) ? this.#failure : cutOff;
    if (this.#hasReceived) call.answer.fail(new Error('unexpected EOF'));
    else call.answer.fail(this.#isReused && failure === cutOff ? new StaleConnection(failure) : failure);
  }
}

interface Unwritten {
  socket: Socket;
  head: string;
}

let unwritten: Unwritten[] = [];

/**
 * Requests of one turn leave one right after the other. Sent each as it comes, with some work before the next, each would have to wake the backend anew, and
 * that costs more than the rest of the sending.
 */
function writeSoon(socket: Socket, head: string): void {
  if (unwritten.push({ socket, head }) === 1) setImmediate(writeAll);
}

function writeAll(): void {
  const requests = unwritten;
  unwritten = [];
  for (const { socket, head } of requests) socket.write(head, 'latin1');
}

const saysClose = (connection: ResponseHeaders[string] | undefined): boolean =>
  connection !== undefined && connection !== 'keep-alive' && /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(String(connection));

const isCut = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

/** What is said of the body that follows. */
function framingOf(method: string, hasBody: boolean, lengthBytes: number | undefined): string {
  if (hasBody) return lengthBytes === undefined ? 'transfer-encoding: chunked\r\n' : `content-length: ${lengthBytes}\r\n`;
  return BODY_METHODS.has(method) ? 'content-length: 0\r\n' : '';
}
