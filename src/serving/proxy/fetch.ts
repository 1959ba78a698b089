import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { BytePieces } from '../../util/byte-pieces.ts';
import { hostPort } from '../../net/dial.ts';
import { quote } from '../../util/go-quote.ts';
import { goNetworkError } from '../../net/network-error.ts';
import type { ResponseHeaders } from '../exchange.ts';
import { StaleConnection } from './stale-connection.ts';
import type { BackendCall, BackendResponse, Transport } from './transport.ts';

export interface FetchRequest {
  host: string;
  port: number;
  /** GET where absent. */
  method?: string;
  path: string;
  headers: OutgoingHttpHeaders;
  body?: Buffer | undefined;
  /** For all of it, from the connection to the answer's last byte. */
  timeoutMs: number;
  /** A longer answer is an error, unless nobody wants to know what it says. */
  limitBytes: number;
  /** Whether an answer came is the question: of a longer one the body is left empty. */
  wantsStatusOnly?: boolean;
}

export interface Fetched {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
}

/** Reads an answer whole. Any answer is one; redirects are not followed. Throws an Error in the words of Go's http.Client. */
export async function fetchWhole(transport: Transport, request: FetchRequest): Promise<Fetched> {
  const { host, port, method = 'GET', path, headers, body, timeoutMs } = request;
  const sized = body ? { ...headers, 'content-length': body.length } : headers;
  const call = transport.send({ host, port, path, method, headers: sized, body: body && Readable.from([body], { objectMode: false }) });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    call.cancel();
  }, timeoutMs);
  try {
    return await whole(call, request);
  } catch (error) {
    const cause = error instanceof StaleConnection ? error.cause : (error as Error);
    const reason = isLate ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)' : goNetworkError(cause);
    throw new Error(`${method.charAt(0)}${method.slice(1).toLowerCase()} ${quote(`https://${hostPort(host, port)}${path}`)}: ${reason}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function whole(call: BackendCall, { limitBytes, wantsStatusOnly }: FetchRequest): Promise<Fetched> {
  const { status, headers, body } = await call.response;
  try {
    return { status, headers, body: await readBody(body, limitBytes) };
  } catch (error) {
    call.cancel();
    if (wantsStatusOnly && error instanceof AnswerTooLong) return { status, headers, body: Buffer.alloc(0) };
    throw error;
  }
}

class AnswerTooLong extends Error {
  constructor(limitBytes: number) {
    super(`the answer is longer than ${limitBytes} bytes`);
  }
}

function readBody(body: BackendResponse['body'], limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Buffer.isBuffer(body)) return body.length <= limitBytes ? resolve(body) : reject(new AnswerTooLong(limitBytes));
    const pieces = new BytePieces();
    let sizeBytes = 0;
    body.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) return pieces.add(chunk);
      reject(new AnswerTooLong(limitBytes));
    });
    body.on('error', reject);
    body.once('end', () => sizeBytes <= limitBytes && resolve(pieces.take()));
    body.once('close', () => reject(new Error('unexpected EOF')));
  });
}
