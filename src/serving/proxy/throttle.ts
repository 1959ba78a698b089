import { Duplex } from 'node:stream';

/** Bytes are counted by the tenth of a second, as go-flowrate counts them. */
const SAMPLE_MS = 100;

/** What one direction may still carry. */
class Allowance {
  readonly #bytesPerSample: number;
  #sampleEndsMs = 0;
  #leftBytes = 0;

  constructor(bytesPerSecond: number) {
    // A byte at least, or nothing would ever move.
    this.#bytesPerSample = Math.max(1, Math.round((bytesPerSecond * SAMPLE_MS) / 1000));
  }

  /** Bytes that may pass now; 0 until `waitMs` have gone by. */
  get leftBytes(): number {
    if (performance.now() >= this.#sampleEndsMs) {
      this.#sampleEndsMs = performance.now() + SAMPLE_MS;
      this.#leftBytes = this.#bytesPerSample;
    }
    return this.#leftBytes;
  }
  get waitMs(): number {
    return Math.max(1, Math.ceil(this.#sampleEndsMs - performance.now()));
  }
  take(sizeBytes: number): void {
    this.#leftBytes -= sizeBytes;
  }
}

/** A connection of which neither direction carries more than so many bytes a second. It owns the socket, whose reading must not have begun. */
export class ThrottledConnection extends Duplex {
  readonly #socket: Duplex;
  readonly #incoming: Allowance;
  readonly #outgoing: Allowance;
  readonly #timers = new Set<NodeJS.Timeout>();
  #isPulling = false;

  constructor(socket: Duplex, bytesPerSecond: number) {
    super();
    this.#socket = socket;
    this.#incoming = new Allowance(bytesPerSecond);
    this.#outgoing = new Allowance(bytesPerSecond);
    socket.on('readable', () => this.#pull());
    socket.once('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.once('close', () => {
      // What was read before a proper end is still to be delivered.
      if (!socket.readableEnded) this.destroy();
    });
  }

  override _read(): void {
    this.#beginPull();
  }

  #beginPull(): void {
    this.#isPulling = true;
    this.#pull();
  }

  #pull(): void {
    if (!this.#isPulling) return;
    const { leftBytes } = this.#incoming;
    if (leftBytes === 0) {
      this.#isPulling = false;
      return this.#later(this.#incoming.waitMs, () => this.#beginPull());
    }
    // Where there is nothing, asking for nothing is what brings the end of the socket about.
    const chunk = this.#socket.read(Math.min(leftBytes, this.#socket.readableLength)) as Buffer | null;
    if (chunk === null) return;
    this.#incoming.take(chunk.length);
    this.#isPulling = false;
    this.push(chunk);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk, done);
  }

  #send(chunk: Buffer, done: (error?: Error | null) => void): void {
    const { leftBytes } = this.#outgoing;
    if (leftBytes === 0) return this.#later(this.#outgoing.waitMs, () => this.#send(chunk, done));
    const now = chunk.subarray(0, leftBytes);
    this.#outgoing.take(now.length);
    this.#socket.write(now, (error) => {
      if (error || now.length === chunk.length) done(error);
      else this.#send(chunk.subarray(now.length), done);
    });
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#socket.destroy();
    done(error);
  }

  #later(afterMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, afterMs);
    this.#timers.add(timer);
  }
}
