import type { ResponseStream } from '../serving/exchange.ts';
import type { FaultRule } from './rule.ts';

interface WatchEnd {
  stop(): void;
  isStopped(): boolean;
}

/** The stream of a watch, as the rule disturbs it. Each chunk is one event. */
export function disturbedStream(stream: ResponseStream, rule: FaultRule, end: WatchEnd): ResponseStream {
  const { afterEvents = 0, watch, lateBy = 1_000 } = rule;
  switch (watch) {
    case 'duplicate':
      return withWrite(stream, afterEvents, (chunk, write) => write(chunk) && write(chunk));
    case 'silence':
      return withWrite(stream, afterEvents, () => true);
    case 'late':
      return new LateStream(stream, afterEvents, lateBy);
    default:
      return endingStream(stream, afterEvents, end);
  }
}

type Write = (chunk: Buffer) => boolean;

/** After so many events, `later` has them. */
function withWrite(stream: ResponseStream, afterEvents: number, later: (chunk: Buffer, write: Write) => boolean): ResponseStream {
  let eventCount = 0;
  const write: Write = (chunk) => stream.write(chunk);
  return {
    get bufferedBytes() {
      return stream.bufferedBytes;
    },
    write: (chunk) => (eventCount++ < afterEvents ? write(chunk) : later(chunk, write)),
    onDrain: (listener) => stream.onDrain(listener),
    end: (trailers) => stream.end(trailers),
    destroy: () => stream.destroy(),
  };
}

/** The client is to see exactly as many events as the rule says: one that comes before the watch has been stopped is one too many. */
function endingStream(stream: ResponseStream, afterEvents: number, { stop, isStopped }: WatchEnd): ResponseStream {
  let eventCount = 0;
  if (afterEvents === 0) setImmediate(stop);
  return withWrite(stream, 0, (chunk, write) => {
    eventCount++;
    if (eventCount === afterEvents) setImmediate(stop);
    return eventCount > afterEvents && !isStopped() ? true : write(chunk);
  });
}

/** Holds events back, and what follows them: their order stays. */
class LateStream implements ResponseStream {
  readonly #stream: ResponseStream;
  readonly #afterEvents: number;
  readonly #lateMs: number;
  #eventCount = 0;
  #heldBytes = 0;
  #held: { dueMs: number; sizeBytes: number; release: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: ResponseStream, afterEvents: number, lateMs: number) {
    this.#stream = stream;
    this.#afterEvents = afterEvents;
    this.#lateMs = lateMs;
  }

  /** What is held back counts: a watch that has too much of it is ended as one whose client does not read. */
  get bufferedBytes(): number {
    return this.#heldBytes + this.#stream.bufferedBytes;
  }

  write(chunk: Buffer): boolean {
    if (this.#eventCount++ < this.#afterEvents) return this.#stream.write(chunk);
    this.#hold(chunk.length, () => void this.#stream.write(chunk));
    return true;
  }

  onDrain(listener: () => void): void {
    this.#stream.onDrain(listener);
  }

  end(trailers?: Parameters<ResponseStream['end']>[0]): void {
    if (this.#held.length === 0) this.#stream.end(trailers);
    else this.#hold(0, () => this.#stream.end(trailers));
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#held = [];
    this.#stream.destroy();
  }

  #hold(sizeBytes: number, release: () => void): void {
    this.#heldBytes += sizeBytes;
    this.#held.push({ dueMs: performance.now() + this.#lateMs, sizeBytes, release });
    this.#timer ??= this.#arm();
  }

  /** It must not keep a program running whose test is over. */
  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.#release(), Math.max(this.#held[0]!.dueMs - performance.now(), 0)).unref();
  }

  #release(): void {
    const nowMs = performance.now();
    const due = this.#held.findIndex(({ dueMs }) => dueMs > nowMs);
    const released = this.#held.splice(0, due === -1 ? this.#held.length : due);
    this.#timer = this.#held.length > 0 ? this.#arm() : undefined;
    for (const { sizeBytes, release } of released) {
      this.#heldBytes -= sizeBytes;
      release();
    }
  }
}
