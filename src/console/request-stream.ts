import type { ServerRequest } from '../endpoints/request.ts';
import { LineRing } from './line-ring.ts';
import { onAbort } from '../util/on-abort.ts';
import type { ResponseStream } from '../serving/exchange.ts';

/** What is kept for whoever comes later. */
const MAX_LINES = 1_000;
const MAX_BYTES = 512 * 1024;
/** Lines of so long are sent together. */
const FLUSH_MS = 50;
const MAX_CHUNK_BYTES = 64 * 1024;
const MAX_READERS = 50;
/** As watches end now and then, so that those who lost the right to see this lose it for good. */
const MAX_STREAM_MS = 30 * 60_000;

const HEADERS = { 'content-type': 'application/x-ndjson', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/**
 * The last lines, and those who read them as they come. A reader has a place in the list and nothing of its own: one that reads slower than lines come finds its
 * place gone, and is told how many it has missed.
 */
export class RequestStream {
  /** Made when the first line comes. */
  #ring: LineRing | undefined;
  /** Lines that were forgotten: numbers go on behind them. */
  #forgotten = 0;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;

  add(line: string): void {
    this.#ring ??= new LineRing(MAX_LINES, MAX_BYTES);
    this.#ring.add(line);
    if (this.#readers.size === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const reader of this.#readers) reader.wake();
    }, FLUSH_MS).unref();
  }

  get #first(): number {
    return this.#forgotten + (this.#ring?.first ?? 0);
  }

  get end(): number {
    return this.#forgotten + (this.#ring?.end ?? 0);
  }

  /** What there is from a place on, up to a size, with what was missed before it; and the next place. */
  read(from: number, maxBytes = MAX_CHUNK_BYTES): { bytes: Buffer; next: number } {
    const missed = this.#first - from;
    if (missed > 0) return { bytes: Buffer.from(`{"dropped":${missed}}\n`), next: this.#first };
    const { bytes, next } = this.#ring?.read(from - this.#forgotten, maxBytes) ?? { bytes: Buffer.alloc(0), next: 0 };
    return { bytes, next: this.#forgotten + next };
  }

  serve(request: ServerRequest): void {
    if (request.query.get('watch') !== 'true') return request.exchange.respond(200, HEADERS, this.read(this.#first, MAX_BYTES).bytes);
    const oldest = this.#readers.size >= MAX_READERS ? this.#readers.values().next().value : undefined;
    if (oldest) this.#end(oldest);
    const reader = new Reader(this, request.exchange.startStream(200, HEADERS), this.#first);
    this.#readers.add(reader);
    const end = (): void => this.#end(reader);
    const timer = setTimeout(end, MAX_STREAM_MS).unref();
    const stopWaiting = request.signal && onAbort(request.signal, end);
    request.exchange.onClose(() => {
      clearTimeout(timer);
      stopWaiting?.();
      this.#readers.delete(reader);
    });
    reader.wake();
  }

  #end(reader: Reader): void {
    this.#readers.delete(reader);
    reader.end();
  }

  /** Nothing is kept while nobody is signed in. */
  clear(): void {
    this.#forgotten = this.end;
    this.#ring = undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const reader of this.#readers) this.#end(reader);
  }
}

class Reader {
  readonly #source: RequestStream;
  readonly #stream: ResponseStream;
  #place: number;
  #isBlocked = false;
  #isEnded = false;

  constructor(source: RequestStream, stream: ResponseStream, place: number) {
    this.#source = source;
    this.#stream = stream;
    this.#place = place;
  }

  wake(): void {
    while (!this.#isBlocked && !this.#isEnded && this.#place < this.#source.end) {
      const { bytes, next } = this.#source.read(this.#place);
      this.#place = next;
      if (this.#stream.write(bytes)) continue;
      this.#isBlocked = true;
      this.#stream.onDrain(() => {
        this.#isBlocked = false;
        this.wake();
      });
    }
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stream.end();
  }
}
