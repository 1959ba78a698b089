import type { ServerRequest } from '../endpoints/request.ts';
import { onAbort } from '../util/on-abort.ts';
import type { ResponseStream } from '../serving/exchange.ts';

/** What is kept for whoever comes later. */
const MAX_LINES = 1_000;
const MAX_CHARACTERS = 512 * 1024;
/** Lines of so long are sent together. */
const FLUSH_MS = 50;
const MAX_CHUNK_CHARACTERS = 64 * 1024;
const MAX_READERS = 50;
/** As watches end now and then, so that those who lost the right to see this lose it for good. */
const MAX_STREAM_MS = 30 * 60_000;

const HEADERS = { 'content-type': 'application/x-ndjson', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/**
 * The last lines, and those who read them as they come. A reader has a place in the list and nothing of its own: one that reads slower than lines come finds its
 * place gone, and is told how many it has missed.
 */
export class RequestStream {
  #lines: string[] = [];
  #characters = 0;
  /** The number of the first line. */
  #first = 0;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;

  add(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    this.#dropOldest();
    if (this.#readers.size === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const reader of this.#readers) reader.wake();
    }, FLUSH_MS).unref();
  }

  /** Twice as much may wait to be dropped, so that a line costs no copy of the list. */
  #dropOldest(): void {
    if (this.#lines.length < 2 * MAX_LINES && this.#characters < 2 * MAX_CHARACTERS) return;
    let count = Math.max(0, this.#lines.length - MAX_LINES);
    let characters = 0;
    for (let at = 0; at < count || (this.#characters - characters > MAX_CHARACTERS && at < this.#lines.length); at++) {
      characters += this.#lines[at]!.length;
      count = Math.max(count, at + 1);
    }
    this.#lines = this.#lines.slice(count);
    this.#characters -= characters;
    this.#first += count;
  }

  get #start(): number {
    return Math.max(this.#first, this.end - MAX_LINES);
  }

  get end(): number {
    return this.#first + this.#lines.length;
  }

  /** What there is from a place on, up to a size, with what was missed before it; and the next place. */
  read(from: number): { text: string; next: number } {
    const start = Math.max(from, this.#start);
    let text = start > from ? `{"dropped":${start - from}}\n` : '';
    let next = start;
    for (; next < this.end && text.length < MAX_CHUNK_CHARACTERS; next++) text += this.#lines[next - this.#first]!;
    return { text, next };
  }

  serve(request: ServerRequest): void {
    const isFollowed = request.query.get('watch') === 'true';
    const from = this.#start;
    if (!isFollowed) return request.exchange.respond(200, HEADERS, this.#lines.slice(from - this.#first).join(''));
    const oldest = this.#readers.size >= MAX_READERS ? this.#readers.values().next().value : undefined;
    oldest?.end();
    const reader = new Reader(this, request.exchange.startStream(200, HEADERS), from);
    this.#readers.add(reader);
    const end = (): void => reader.end();
    const timer = setTimeout(end, MAX_STREAM_MS).unref();
    const stopWaiting = request.signal && onAbort(request.signal, end);
    request.exchange.onClose(() => {
      clearTimeout(timer);
      stopWaiting?.();
      this.#readers.delete(reader);
    });
    reader.wake();
  }

  /** Nothing is kept while nobody is signed in. */
  clear(): void {
    this.#first = this.end;
    this.#lines = [];
    this.#characters = 0;
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const reader of this.#readers) reader.end();
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
      const { text, next } = this.#source.read(this.#place);
      this.#place = next;
      if (this.#stream.write(Buffer.from(text))) continue;
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
