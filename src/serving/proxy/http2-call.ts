import { UNSAFE_VALUE, fieldName } from '../../http1/fields.ts';
import type { ClientConnection, ClientStream, ClientStreamEvents, StreamFailure } from '../../http2/client-connection.ts';
import { ErrorCode } from '../../http2/frames.ts';
import type { HeaderFields } from '../../http2/hpack.ts';
import type { ResponseHeaders } from '../exchange.ts';
import { hasNoBody } from '../headers.ts';
import { Answer, type AnswerSource } from './answer.ts';
import { BodyPump, type BodySink } from './body-pump.ts';
import { addField, lengthIn } from './fields.ts';
import { StaleConnection } from './stale-connection.ts';
import type { BackendCall, BackendRequest } from './transport.ts';

const NOTHING = Buffer.alloc(0);
/** Answers before the answer, as Go's transport takes them. */
const MAX_INTERIM_ANSWERS = 5;
/** By code, as Go names them (RFC 9113 §7). */
const CODE_NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
];

/** A request on a stream of HTTP/2, and its answer. */
export class Http2Call implements BackendCall, ClientStreamEvents, AnswerSource, BodySink {
  readonly #connection: ClientConnection;
  readonly #method: string;
  readonly #answer: Answer;
  /** The connection has carried others before. */
  readonly #isReused: boolean;
  #stream: ClientStream | undefined;
  #requestBody: BodyPump | undefined;
  /** Of the answer's body, what is still to come; Infinity where that is not known. */
  #remainingBytes = Infinity;
  /** Pushed, and not yet taken by the reader. */
  #heldBytes = 0;
  #interimAnswers = 0;
  #trailers: ResponseHeaders | undefined;

  /** The connection has room. */
  constructor(connection: ClientConnection, isReused: boolean, block: Buffer, { method, body }: BackendRequest) {
    this.#connection = connection;
    this.#method = method;
    this.#isReused = isReused;
    this.#answer = new Answer(this);
    this.#stream = connection.open(block, this, body === undefined);
    if (body && this.#stream) this.#requestBody = new BodyPump(body, this);
  }

  get response(): BackendCall['response'] {
    return this.#answer.response;
  }

  cancel(): void {
    if (!this.#answer.isOver) this.#giveUp(ErrorCode.cancel, new Error('context canceled'));
  }

  onRoom(): void {
    if (this.#heldBytes === 0) return;
    const heldBytes = this.#heldBytes;
    this.#heldBytes = 0;
    this.#connection.release(this.#stream!, heldBytes);
  }

  abandon(): void {
    this.cancel();
  }

  write(chunk: Buffer): boolean {
    return chunk.length === 0 || this.#connection.send(this.#stream!, chunk, false);
  }

  end(): void {
    this.#connection.send(this.#stream!, NOTHING, true);
  }

  breakOff(): void {
    this.cancel();
  }

  onDrain(): void {
    this.#requestBody?.resume();
  }

  onHeaders(fields: HeaderFields): void {
    try {
      if (!this.#answer.hasBegun) this.#onHead(fields);
      else if (!this.#trailers) this.#trailers = headersOf(fields, 0);
      else this.#refuse();
    } catch {
      this.#refuse();
    }
  }

  onData(piece: Buffer): void {
    this.#remainingBytes -= piece.length;
    // A length that is not kept to would make two answers of one further on.
    if (!this.#answer.hasBegun || this.#trailers || this.#remainingBytes < 0) return this.#refuse();
    if (this.#answer.push(piece)) this.#connection.release(this.#stream!, piece.length);
    else this.#heldBytes += piece.length;
  }

  onEnd(): void {
    this.#requestBody?.stop();
    const isWhole = this.#answer.hasBegun && (this.#remainingBytes === 0 || this.#remainingBytes === Infinity);
    if (isWhole) this.#answer.end(this.#trailers);
    else this.#answer.fail(new Error('unexpected EOF'));
  }

  onFailure({ wasNotSent, resetCode }: StreamFailure): void {
    this.#requestBody?.stop();
    if (this.#answer.hasBegun) return this.#answer.fail(new Error('unexpected EOF'));
    const error = resetCode === undefined ? Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }) : this.#resetError(resetCode);
    const isStale = wasNotSent || (resetCode === undefined && this.#isReused);
    this.#answer.fail(isStale ? new StaleConnection(error) : error);
  }

  #onHead(fields: HeaderFields): void {
    const status = Number(fields[1]);
    if (fields[0] !== ':status' || !Number.isInteger(status) || status < 100 || status > 999) throw new Error('an answer without a status');
    if (status < 200) {
      if (status === 101 || ++this.#interimAnswers > MAX_INTERIM_ANSWERS) throw new Error('too many answers before the answer');
      return;
    }
    const headers = headersOf(fields, 2);
    const lengthBytes = lengthIn(headers);
    this.#remainingBytes = this.#method === 'HEAD' || hasNoBody(status) ? 0 : (lengthBytes ?? Infinity);
    this.#answer.begin(status, headers, this.#remainingBytes === Infinity ? undefined : this.#remainingBytes);
  }

  /** The answer breaks a rule (RFC 9113 §8.1.1). */
  #refuse(): void {
    this.#giveUp(ErrorCode.protocolError, this.#resetError(ErrorCode.protocolError));
  }

  #giveUp(code: number, error: Error): void {
    this.#requestBody?.stop();
    if (this.#stream) this.#connection.cancel(this.#stream, code);
    this.#answer.fail(error);
  }

  #resetError(code: number): Error {
    return new Error(`stream error: stream ID ${this.#stream?.id ?? 0}; code ${CODE_NAMES[code] ?? `unknown error code 0x${code.toString(16)}`}`);
  }
}

/** What belongs to one connection has no place here (RFC 9113 §8.2.2). */
const CONNECTION_FIELDS = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Throws where one is no field of HTTP/2: all of their names are lower case, and behind the status no more are HTTP/2's own. */
function headersOf(fields: HeaderFields, start: number): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (let index = start; index < fields.length; index += 2) {
    const name = fields[index]!;
    const value = fields[index + 1]!;
    if (fieldName(name) !== name || CONNECTION_FIELDS.has(name) || UNSAFE_VALUE.test(value)) throw new Error('malformed headers');
    addField(headers, name, value);
  }
  return headers;
}
