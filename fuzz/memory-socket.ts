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
  destroySoon(): void {
    this.destroy();
  }
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
