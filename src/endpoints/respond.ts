import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Exchange, ResponseHeaders, ResponseStream } from '../serving/exchange.ts';
import { parseOwnJson, prettyJson } from '../util/json.ts';
import { type Body, type ChunkedBody, wholeBody } from './body.ts';
import { CBOR_TYPE, JSON_TYPE, type MediaType, type OutputForm, PROTOBUF_TYPE, YAML_TYPE, isPretty } from './negotiation.ts';
import type { ServerRequest } from './request.ts';

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
  request.audit?.responseObject(() => wholeBody(asJson ? asJson() : body));
  const answer: Answer = { request, status, mediaType: form.mediaType, startMs: performance.now() };
  if (form.mediaType === YAML_TYPE) return respondYaml(answer, body);
  if (form.mediaType === PROTOBUF_TYPE || form.mediaType === CBOR_TYPE) return send(answer, body);
  // Upstream's indenting encoder writes no line end, the other one does.
  if (isPretty(request, form)) return send(answer, Buffer.from(prettyJson(parseOwnJson(wholeBody(body)))));
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
  const { toYaml } = await import('../util/yaml.ts');
  return send(answer, Buffer.from(toYaml(parseOwnJson(wholeBody(body)))));
}

function withNewline(body: Body): Body {
  if (!Buffer.isBuffer(body)) return { sizeBytes: body.sizeBytes + 1, chunks: (reuse) => chunksWithNewline(body, reuse) };
  return { sizeBytes: body.length + 1, chunks: () => [body, NEWLINE] };
}

function* chunksWithNewline(body: ChunkedBody, reuse: 'reuse-large' | undefined): Iterable<Buffer> {
  yield* body.chunks(reuse);
  yield NEWLINE;
}

function send(answer: Answer, body: Body): void | Promise<void> {
  const { request, status, mediaType } = answer;
  const { exchange } = request;
  const sizeBytes = Buffer.isBuffer(body) ? body.length : body.sizeBytes;
  if (sizeBytes > GZIP_THRESHOLD_BYTES && acceptsGzip(exchange.headers['accept-encoding'])) {
    const headers = { ...HEADERS[mediaType], 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
    return writeGzip(exchange, exchange.startStream(status, headers), body).then(() => noteSerialization(answer));
  }
  if (!Buffer.isBuffer(body) && sizeBytes > STREAM_THRESHOLD_BYTES)
    return writeAll(exchange, exchange.startStream(status, HEADERS[mediaType]), body).then(() => noteSerialization(answer));
  const whole = Buffer.isBuffer(body) ? body : partsOf(body.chunks());
  if (request.audit !== undefined) noteSerialization(answer);
  return exchange.respond(status, HEADERS[mediaType], whole);
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

async function writeAll(exchange: Exchange, stream: ResponseStream, body: ChunkedBody): Promise<void> {
  const gone = new Promise<void>((resolve) => exchange.onClose(resolve));
  for (const chunk of body.chunks('reuse-large')) {
    if (stream.write(chunk)) continue;
    await Promise.race([new Promise<void>((resolve) => stream.onDrain(resolve)), gone]);
    if (exchange.isClosed) return;
  }
  stream.end();
}

/** The fastest level: the others gain little for much (kubernetes/kubernetes#112296). */
const GZIP_LEVEL = 1;

function writeGzip(exchange: Exchange, stream: ResponseStream, body: Body): Promise<void> {
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
    Readable.from(Buffer.isBuffer(body) ? [body] : body.chunks(), { objectMode: true }).pipe(gzip);
  });
}
