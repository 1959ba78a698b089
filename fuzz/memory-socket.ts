import { Duplex } from 'node:stream';

/** A socket whose other end is the fuzzer. */
export class MemorySocket extends Duplex {
  constructor() {
    super();
    // What makes a socket fail is not the parser's.
    this.on('error', () => {});
  }
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
  setNoDelay(): void {}
  destroySoon(): void {
    this.destroy();
  }
}

/** A connection that begins so, then brings the input in two pieces, and ends. */
export async function feedConnection(socket: MemorySocket, start: Buffer, input: Buffer): Promise<void> {
  const middle = input.length >> 1;
  for (const piece of [start, input.subarray(0, middle), input.subarray(middle)]) socket.push(piece);
  await turn();
  await turn();
  socket.destroy();
  await turn();
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
