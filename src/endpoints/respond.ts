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
/** Up to here one buffer with the line end copied in leaves faster than two. */
const COPY_THRESHOLD_BYTES = 64 * 1024;

const NEWLINE = Buffer.from('\n');

const HEADERS: Record<MediaType, ResponseHeaders> = {
  [JSON_TYPE]: { 'content-type': JSON_TYPE },
  [YAML_TYPE]: { 'content-type': YAML_TYPE },
  [PROTOBUF_TYPE]: { 'content-type': PROTOBUF_TYPE },
  [CBOR_TYPE]: { 'content-type': CBOR_TYPE },
};

/**
 * Answers with a body that is JSON, or protobuf or CBOR where the form is; pretty-printing, YAML and compression happen here. `asJson` makes the same body as
 * JSON, which the audit log has of all answers.
 */
export function respond(request: ServerRequest, status: number, form: OutputForm, body: Body, asJson?: () => Body): void | Promise<void> {
  request.audit?.responseObject(() => wholeBody(asJson ? asJson() : body));
  if (form.mediaType === YAML_TYPE) return respondYaml(request, status, body);
  if (form.mediaType === PROTOBUF_TYPE || form.mediaType === CBOR_TYPE) return send(request, status, form.mediaType, body);
  // Upstream's indenting encoder writes no line end, the other one does.
  if (isPretty(request, form)) return send(request, status, form.mediaType, Buffer.from(prettyJson(parseOwnJson(wholeBody(body)))));
  return send(request, status, form.mediaType, withNewline(body));
}

async function respondYaml(request: ServerRequest, status: number, body: Body): Promise<void> {
  const { toYaml } = await import('../util/yaml.ts');
  return send(request, status, YAML_TYPE, Buffer.from(toYaml(parseOwnJson(wholeBody(body)))));
}

function withNewline(body: Body): Body {
  if (!Buffer.isBuffer(body)) return { sizeBytes: body.sizeBytes + 1, chunks: (reuse) => chunksWithNewline(body, reuse) };
  if (body.length <= COPY_THRESHOLD_BYTES) {
    const line = Buffer.allocUnsafe(body.length + 1);
    body.copy(line);
    line[body.length] = 0x0a;
    return line;
  }
  return { sizeBytes: body.length + 1, chunks: () => [body, NEWLINE] };
}

function* chunksWithNewline(body: ChunkedBody, reuse: 'reuse-large' | undefined): Iterable<Buffer> {
  yield* body.chunks(reuse);
  yield NEWLINE;
}

function send(request: ServerRequest, status: number, mediaType: MediaType, body: Body): void | Promise<void> {
  const { exchange } = request;
  const sizeBytes = Buffer.isBuffer(body) ? body.length : body.sizeBytes;
  if (sizeBytes > GZIP_THRESHOLD_BYTES && acceptsGzip(exchange.headers['accept-encoding'])) {
    const headers = { ...HEADERS[mediaType], 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
    return timed(request, () => writeGzip(exchange, exchange.startStream(status, headers), body));
  }
  if (Buffer.isBuffer(body)) return exchange.respond(status, HEADERS[mediaType], body);
  if (sizeBytes <= STREAM_THRESHOLD_BYTES) return exchange.respond(status, HEADERS[mediaType], [...body.chunks()]);
  return timed(request, () => writeAll(exchange, exchange.startStream(status, HEADERS[mediaType]), body));
}

/**
 * Only what is written as the client reads takes time that its audit event can tell: it is encoded as it is written, so that both parts are one. The event of
 * a whole answer is stored before it leaves.
 */
async function timed(request: ServerRequest, write: () => Promise<void>): Promise<void> {
  const startMs = performance.now();
  await write();
  const durationMs = performance.now() - startMs;
  request.noteLatency?.('serialize-response-object', durationMs);
  request.noteLatency?.('response-write', durationMs);
}

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
