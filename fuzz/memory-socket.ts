import { Duplex } from 'node:stream';
import type { Timer } from '../src/util/clock.ts';

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

/** Time stands still; what waits for it is counted. */
export class CountingClock {
  openTimers = 0;
  now(): number {
    return 0;
  }
  nowMs(): number {
    return 0;
  }
  after(): Timer {
    let isOpen = true;
    this.openTimers++;
    return {
      cancel: () => {
        if (isOpen) this.openTimers--;
        isOpen = false;
      },
    };
  }
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
