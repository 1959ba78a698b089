import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { LARGE_BYTES } from '../registry/request-context.ts';
import type { Exchange, ResponseHeaders, ResponseStream } from '../serving/exchange.ts';
import { parseOwnJson, prettyJson } from '../encoding/json.ts';
import type { Json } from '../encoding/json-types.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { type Body, CHUNK_BYTES, type ChunkedBody, type PiecedBody, wholeBody } from './body.ts';
import { JsonList, prettyList, yamlList } from './json-list.ts';
import { CBOR_TYPE, JSON_TYPE, type MediaType, type OutputForm, PROTOBUF_TYPE, YAML_TYPE, isPretty } from './negotiation.ts';
import type { AuditRecorder, ServerRequest } from './request.ts';

/** Shorter answers are not worth a compressor's time (responsewriters' defaultGzipThresholdBytes). */
const GZIP_THRESHOLD_BYTES = 128 * 1024;
/** Longer ones are written as the client reads, so that one chunk is held instead of the whole. */
const STREAM_THRESHOLD_BYTES = 1024 * 1024;

const NEWLINE = Buffer.from('\n');

const HEADERS: Record<MediaType, ResponseHeaders> = {
  [JSON_TYPE]: { 'content-type': JSON_TYPE },
  [YAML_TYPE]: { 'content-type': YAML_TYPE },
  [PROTOBUF_TYPE]: { 'content-type': PROTOBUF_TYPE },
  [CBOR_TYPE]: { 'content-type': CBOR_TYPE },
};

/**
 * Makes the body of an object's answer, and notes how long that took. Objects become what their clients see as bytes, so that encoding is part of it; most of
 * a list is made as it is written.
 */
export function transformed<Made extends Body>(request: ServerRequest, make: () => Made): Made {
  if (request.audit === undefined) return make();
  const startMs = performance.now();
  const body = make();
  request.noteLatency?.('transform-response-object', performance.now() - startMs);
  return body;
}

/**
 * Answers with a body that is JSON, or protobuf or CBOR where the form is; pretty-printing, YAML and compression happen here. `asJson` makes the same body as
 * JSON, which the audit log has of all answers.
 */
export function respond(request: ServerRequest, status: number, form: OutputForm, body: Body, asJson?: () => Body): void | Promise<void> {
  const { audit } = request;
  if (audit?.keepsResponse) {
    const json = asJson ? asJson() : body;
    const recorded = Buffer.isBuffer(json) ? audit.responseObject([json]) : recordInSlices(audit, json);
    if (recorded instanceof Promise) return recorded.then(() => respondIn(request, status, form, body));
  }
  return respondIn(request, status, form, body);
}

/** The audit log has the whole of a list, which is put together before any of it is sent, whether or not there is still a client. */
async function recordInSlices(audit: AuditRecorder, json: ChunkedBody | PiecedBody): Promise<void> {
  const gathering = new Gathering({ pieces: () => ('chunks' in json ? json.chunks() : json.pieces()) });
  const chunks: Buffer[] = [];
  while (!gathering.isDone) {
    if (gathering.isSpent) await gathering.nextSlice();
    else gathering.goOn();
    if (gathering.sizeBytes > 0) chunks.push(gathering.take());
  }
  await audit.responseObject(chunks);
}

function respondIn(request: ServerRequest, status: number, form: OutputForm, body: Body): void | Promise<void> {
  const answer: Answer = { request, status, mediaType: form.mediaType, startMs: performance.now() };
  if (form.mediaType === YAML_TYPE) return respondYaml(answer, body);
  if (form.mediaType === PROTOBUF_TYPE || form.mediaType === CBOR_TYPE) return send(answer, body);
  // Upstream's indenting encoder writes no line end, the other one does.
  if (isPretty(request, form))
    return send(answer, body instanceof JsonList ? prettyList(body) : rewritten(wholeBody(body), prettyJson, (value) => [prettyJson(value)]));
  return send(answer, withNewline(body));
}

/** An answer on its way, but for its body. */
interface Answer {
  readonly request: ServerRequest;
  readonly status: number;
  readonly mediaType: MediaType;
  /** When it began to be put into its final form. */
  readonly startMs: number;
}

async function respondYaml(answer: Answer, body: Body): Promise<void> {
  const { toYaml, toYamlInPieces, toYamlPieces } = await import('../encoding/yaml.ts');
  return send(answer, body instanceof JsonList ? yamlList(body, toYamlPieces) : rewritten(wholeBody(body), toYaml, toYamlInPieces));
}

/** A body of JSON in another text; of a large one, that is made in slices. */
function rewritten(json: Buffer, write: (value: Json) => string, writePieces: (value: Json) => Iterable<string | undefined>): Body {
  if (json.length <= LARGE_BYTES) return Buffer.from(write(parseOwnJson(json)));
  return { pieces: () => rewrittenPieces(json, writePieces) };
}

function* rewrittenPieces(json: Buffer, write: (value: Json) => Iterable<string | undefined>): Iterable<Buffer | undefined> {
  const value = parseOwnJson(json);
  yield undefined;
  for (const piece of write(value)) yield piece === undefined ? undefined : Buffer.from(piece);
}

function withNewline(body: Body): Body {
  if (Buffer.isBuffer(body)) return { sizeBytes: body.length + 1, chunks: () => [body, NEWLINE] };
  if ('chunks' in body) return { sizeBytes: body.sizeBytes + 1, chunks: (reuse) => withNewlineBehind(body.chunks(reuse)) };
  return { pieces: () => withNewlineBehind(body.pieces()) };
}

function* withNewlineBehind<Piece>(pieces: Iterable<Piece>): Iterable<Piece | Buffer> {
  yield* pieces;
  yield NEWLINE;
}

function send(answer: Answer, body: Body): void | Promise<void> {
  const { request, status, mediaType } = answer;
  const { exchange } = request;
  if (!Buffer.isBuffer(body) && 'pieces' in body) return sendPieces(answer, body);
  const sizeBytes = Buffer.isBuffer(body) ? body.length : body.sizeBytes;
  if (sizeBytes > GZIP_THRESHOLD_BYTES && acceptsGzip(exchange.headers['accept-encoding']))
    return sendGzip(answer, Buffer.isBuffer(body) ? [body] : body.chunks()).then(() => noteSerialization(answer));
  if (!Buffer.isBuffer(body) && sizeBytes > STREAM_THRESHOLD_BYTES)
    return writeAll(exchange, exchange.startStream(status, HEADERS[mediaType]), body.chunks('reuse-large')).then(() => noteSerialization(answer));
  return sendWhole(answer, Buffer.isBuffer(body) ? body : partsOf(body.chunks()));
}

function sendWhole(answer: Answer, whole: Buffer | readonly Buffer[]): void {
  const { request, status, mediaType } = answer;
  if (request.audit !== undefined) noteSerialization(answer);
  request.exchange.respond(status, HEADERS[mediaType], whole);
}

/** What is made within one slice, as most are, is sent whole and at once. */
function sendPieces(answer: Answer, body: PiecedBody): void | Promise<void> {
  const gathering = new Gathering(body);
  gathering.goOn();
  return gathering.isDone && !isCompressed(answer, gathering) ? sendWhole(answer, gathering.take()) : sendInSlices(answer, gathering);
}

async function sendInSlices(answer: Answer, gathering: Gathering): Promise<void> {
  const { exchange } = answer.request;
  // Whether it is worth compressing shows when so much is made, as it does upstream.
  while (!gathering.isDone && gathering.sizeBytes <= GZIP_THRESHOLD_BYTES) {
    await gathering.nextSlice();
    if (exchange.isClosed) return;
  }
  if (isCompressed(answer, gathering)) await sendGzip(answer, chunksOf(exchange, gathering));
  else if (gathering.isDone) return sendWhole(answer, gathering.take());
  else await writeAll(exchange, exchange.startStream(answer.status, HEADERS[answer.mediaType]), chunksOf(exchange, gathering));
  noteSerialization(answer);
}

const isCompressed = ({ request: { exchange } }: Answer, { sizeBytes }: Gathering): boolean =>
  sizeBytes > GZIP_THRESHOLD_BYTES && acceptsGzip(exchange.headers['accept-encoding']);

/** Ends early where the client has gone. */
async function* chunksOf(exchange: Exchange, gathering: Gathering): AsyncGenerator<Buffer> {
  for (;;) {
    if (gathering.sizeBytes > 0) yield gathering.take();
    if (gathering.isDone || exchange.isClosed) return;
    if (gathering.isSpent) await gathering.nextSlice();
    else gathering.goOn();
  }
}

/** The pieces of a body, made in slices of the thread's time and gathered to chunks. */
class Gathering {
  /** Of what is gathered and not taken. */
  sizeBytes = 0;
  isDone = false;
  readonly #pieces: Iterator<Buffer | undefined>;
  readonly #slice = new TimeSlice();
  #gathered: Buffer[] = [];

  constructor(body: PiecedBody) {
    this.#pieces = body.pieces()[Symbol.iterator]();
  }

  get isSpent(): boolean {
    return this.#slice.isSpent;
  }

  /** Until there is a chunk, the slice is spent or nothing is left to be made. */
  goOn(): void {
    do {
      const { done, value } = this.#pieces.next();
      if (done) this.isDone = true;
      else if (value !== undefined) this.sizeBytes += this.#gathered[this.#gathered.push(value) - 1]!.length;
    } while (!this.isDone && this.sizeBytes < CHUNK_BYTES && !this.#slice.isSpent);
  }

  async nextSlice(): Promise<void> {
    await this.#slice.next();
    this.goOn();
  }

  /** What was gathered, as one: thousands of small pieces cost more than the copy. */
  take(): Buffer {
    const chunk = this.#gathered.length === 1 ? this.#gathered[0]! : Buffer.concat(this.#gathered, this.sizeBytes);
    this.#gathered = [];
    this.sizeBytes = 0;
    return chunk;
  }
}

const partsOf = (chunks: Iterable<Buffer>): readonly Buffer[] => (Array.isArray(chunks) ? chunks : [...chunks]);

/**
 * Of a stream when it has ended: it is made as it is written, so that this holds the time of writing, as upstream's does. Of a whole answer before it
 * leaves, since its audit event is stored then.
 */
const noteSerialization = ({ request, startMs }: Answer): void => request.noteLatency?.('serialize-response-object', performance.now() - startMs);

/** Upstream looks for the bare word; `gzip;q=1` is not it. */
const acceptsGzip = (header: string | string[] | undefined): boolean =>
  typeof header === 'string' && header.split(',').some((token) => token.trim() === 'gzip');

/** At the client's pace. */
export async function writeAll(exchange: Exchange, stream: ResponseStream, chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
  const gone = new Promise<void>((resolve) => exchange.onClose(resolve));
  for await (const chunk of chunks) {
    if (stream.write(chunk)) continue;
    await Promise.race([new Promise<void>((resolve) => stream.onDrain(resolve)), gone]);
    if (exchange.isClosed) return;
  }
  stream.end();
}

/** The fastest level: the others gain little for much (kubernetes/kubernetes#112296). */
const GZIP_LEVEL = 1;

function sendGzip({ request: { exchange }, status, mediaType }: Answer, chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
  const stream = exchange.startStream(status, { ...HEADERS[mediaType], 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  const gzip = createGzip({ level: GZIP_LEVEL });
  return new Promise((resolve, reject) => {
    gzip.on('data', (chunk: Buffer) => {
      if (stream.write(chunk)) return;
      gzip.pause();
      stream.onDrain(() => gzip.resume());
    });
    gzip.on('end', () => {
      stream.end();
      resolve();
    });
    gzip.on('error', reject);
    exchange.onClose(() => {
      gzip.destroy();
      resolve();
    });
    // A compressor would wait for ever for the rest of what cannot be made.
    Readable.from(chunks, { objectMode: true }).on('error', reject).pipe(gzip);
  });
}
