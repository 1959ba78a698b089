import { type DeflatedBlock, gzipStream } from '../../encoding/gzip-blocks.ts';
import type { Handler } from '../../endpoints/request.ts';
import { writeAll } from '../../endpoints/respond.ts';
import type { ExpositionFormat } from '../../metrics/page.ts';
import { parsePage } from '../../metrics/parse-text.ts';
import { encodeHead, encodeSeries, protobufFormat } from '../../metrics/protobuf.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { acceptsGzip, metricsFormat } from './metrics-format.ts';

export interface MetricsEndpointOptions {
  canReset?: boolean;
  /** When the process started, which every answer says then. */
  processStartMs?: number;
  /** Where there is more to show than the registry has: the page as text. */
  print?: (() => Promise<string>) | undefined;
  /** Where others count too. */
  reset?: (() => void) | undefined;
}

type Parts = AsyncIterable<Buffer | DeflatedBlock>;

/** Serves `/metrics` or `/metrics/slis`, piece by piece. With `canReset` (profiling is on) a DELETE begins all counts anew. */
export function metricsEndpoint(
  registry: Pick<MetricRegistry, 'printParts' | 'reset'>,
  { canReset = false, processStartMs, print, reset = () => registry.reset() }: MetricsEndpointOptions = {},
): Handler {
  const partsIn = (format: ExpositionFormat): Parts => {
    if (!print) return registry.printParts(format);
    return format === protobufFormat ? encodedPage(print()) : chunksOf(print());
  };
  const startHeader = processStartMs !== undefined && { 'process-start-time-unix': String(Math.floor(processStartMs / 1000)) };
  return async ({ exchange }) => {
    if (canReset && exchange.method === 'DELETE') {
      reset();
      exchange.respond(200, { 'content-type': 'text/plain; charset=utf-8' }, 'metrics reset\n');
      return;
    }
    const { format, contentType } = metricsFormat(exchange.headers.accept);
    const isCompressed = acceptsGzip(exchange.headers['accept-encoding']);
    const headers = { 'content-type': contentType, ...startHeader, ...(isCompressed && { 'content-encoding': 'gzip' }) };
    const parts = partsIn(format);
    await writeAll(exchange, exchange.startStream(200, headers), isCompressed ? gzipStream(parts) : inflated(parts));
  };
}

async function* inflated(parts: Parts): AsyncGenerator<Buffer> {
  const slice = new TimeSlice();
  for await (const part of parts) {
    yield Buffer.isBuffer(part) ? part : part.inflate();
    if (slice.isSpent) await slice.next();
  }
}

const CHUNK_BYTES = 64 * 1024;
const ENCODED_AT_ONCE = 100;

async function* chunksOf(page: Promise<string>): AsyncGenerator<Buffer> {
  const slice = new TimeSlice();
  const bytes = Buffer.from(await page);
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    yield bytes.subarray(start, start + CHUNK_BYTES);
    if (slice.isSpent) await slice.next();
  }
}

async function* encodedPage(page: Promise<string>): AsyncGenerator<Buffer> {
  const slice = new TimeSlice();
  for (const { series, ...head } of await parsePage(await page, slice)) {
    const parts: Buffer[] = [];
    for (let start = 0; start < series.length; start += ENCODED_AT_ONCE) {
      parts.push(encodeSeries(head.type, series.slice(start, start + ENCODED_AT_ONCE)));
      if (slice.isSpent) await slice.next();
    }
    const encoded = Buffer.concat(parts);
    yield Buffer.concat([encodeHead(head, encoded.length), encoded]);
  }
}
