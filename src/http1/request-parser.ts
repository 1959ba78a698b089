import { type IncomingMessage, METHODS, type Server, type ServerResponse, createServer } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { type HeaderLines, fieldName, readFields } from './fields.ts';
import { BadRequest, type HeadLimits, tooLarge, unsupportedVersion } from './request-head.ts';

/** A request as llhttp read it; its head is still to be checked (request-head.ts). */
export interface ParsedRequest {
  method: string;
  target: string;
  version: string;
  fields: HeaderLines;
  /** Flows as other streams do. It is at its end at once where there is no body, and `complete` once all of it was parsed. */
  body: Readable & { readonly complete: boolean };
  /** What came behind a request to change the protocol, or behind one that the parser cannot go on after. */
  rest: Buffer | undefined;
  /** The answer was written: the parser's account of open requests is closed. */
  finish(): void;
}

/** Who is told what was read from a connection. */
export interface RequestReceiver {
  /** What came last began behind a whole request that was answered, or with the connection. */
  readonly isAtStart: boolean;
  onParsed(request: ParsedRequest): void;
  /** What came is no HTTP. Nothing is read after it. */
  onParseError(error: Error): void;
}

/** Of llhttp: `bytesParsed` of the packet were good. */
interface ParseError extends Error {
  code?: string;
  rawPacket?: Buffer;
  bytesParsed?: number;
}

/**
 * Reads requests from connections with node:http: the framing of requests is llhttp's, since it is security code. Answers are not written by Node's ServerResponse, which cannot say
 * what waits for a client: its only part here is to tell Node's server that a request was answered.
 */
export class RequestParser {
  readonly #server: Server;
  readonly #receivers = new WeakMap<Duplex, RequestReceiver>();

  constructor({ headerBytes, headerCount }: HeadLimits) {
    // Timeouts are the connection's own (server-connection.ts), as is the check for a host.
    this.#server = createServer({ maxHeaderSize: headerBytes, headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0, requireHostHeader: false });
    // Node leaves out what is beyond this without a word: one more than the limit, so that the check of heads sees it.
    this.#server.maxHeadersCount = headerCount + 1;
    const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
      this.#receivers.get(request.socket)?.onParsed(parsed(request, undefined, () => void response.emit('finish')));
    for (const event of ['request', 'checkContinue', 'checkExpectation']) this.#server.on(event, onRequest);
    const onUpgrade = (request: IncomingMessage, socket: Duplex, rest: Buffer): void => this.#receivers.get(socket)?.onParsed(parsed(request, rest, () => {}));
    for (const event of ['upgrade', 'connect']) this.#server.on(event, onUpgrade);
    this.#server.on('clientError', (error: ParseError, socket: Duplex) => this.#failed(error, socket));
  }

  /** Node's server listens to the socket from now on. */
  read(socket: Duplex, receiver: RequestReceiver): void {
    this.#receivers.set(socket, receiver);
    this.#server.emit('connection', socket);
  }

  #failed(error: ParseError, socket: Duplex): void {
    const receiver = this.#receivers.get(socket);
    // Others are the socket's own.
    if (!receiver || !error.code?.startsWith('HPE_')) return void socket.destroy();
    const unknown = receiver.isAtStart ? withUnknownMethod(error) : undefined;
    if (unknown) receiver.onParsed(unknown);
    else receiver.onParseError(refusalOf(error));
  }
}

function parsed(request: IncomingMessage, rest: Buffer | undefined, finish: () => void): ParsedRequest {
  const { method = '', url = '', httpVersion, rawHeaders } = request;
  const fields: HeaderLines = rawHeaders;
  for (let index = 0; index < fields.length; index += 2) fields[index] = fieldName(fields[index]!) ?? fields[index]!;
  return { method, target: url, version: httpVersion, fields, body: request, rest, finish };
}

/** In the words of Go's server (net/http/server.go). */
function refusalOf({ code, message, rawPacket, bytesParsed = 0 }: ParseError): Error {
  if (code === 'HPE_HEADER_OVERFLOW') return tooLarge('the head is too long');
  const version =
    code === 'HPE_INVALID_VERSION' ? / HTTP\/(\d\.\d)\r\n/.exec(rawPacket?.toString('latin1', Math.max(0, bytesParsed - 10), bytesParsed + 4) ?? '') : null;
  return version ? unsupportedVersion(version[1]!) : new BadRequest(message);
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (\/[\x21-\x7e]*) HTTP\/(1\.[01])\r\n/;

/**
 * llhttp refuses methods that it does not know, where upstream lets the handlers say 405. A head that comes in one packet of its own is read here; its body is not,
 * and its answer is the connection's last, since llhttp cannot go on.
 */
function withUnknownMethod({ code, rawPacket }: ParseError): ParsedRequest | undefined {
  const text = code === 'HPE_INVALID_METHOD' ? (rawPacket?.toString('latin1') ?? '') : '';
  const line = REQUEST_LINE.exec(text);
  const end = text.indexOf('\r\n\r\n');
  if (!line || end === -1 || METHODS.includes(line[1]!)) return undefined;
  try {
    const fields = readFields(text.slice(0, end), line[0].length);
    if (fields.some((name, index) => index % 2 === 0 && name === 'upgrade')) return undefined;
    fields.push('connection', 'close');
    return {
      method: line[1]!,
      target: line[2]!,
      version: line[3]!,
      fields,
      body: Object.assign(Readable.from([]), { complete: true }),
      rest: rawPacket!.subarray(end + 4),
      finish: () => {},
    };
  } catch {
    return undefined;
  }
}
