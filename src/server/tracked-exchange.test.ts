import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ResponseStream } from '../serving/exchange.ts';
import { FakeExchange } from './testing/fake-exchange.ts';
import { TrackedExchange } from './tracked-exchange.ts';

/** A client that takes `takeMs` over each piece, on a clock of its own; what it is told to wait for comes with `drain`. */
class SlowClient extends FakeExchange {
  nowMs = 1000;
  drain = (): void => {};
  readonly #takeMs: number;

  constructor(takeMs: number) {
    super('/');
    this.#takeMs = takeMs;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => this.nowMs);
    onTestFinished(() => clock.mockRestore());
  }
  override startStream(status: number, headers: Record<string, string>): ResponseStream {
    return {
      ...super.startStream(status, headers),
      write: () => {
        this.nowMs += this.#takeMs;
        return false;
      },
      onDrain: (listener) => void (this.drain = listener),
    };
  }
}

describe('the time that writing takes', () => {
  test('is that of every piece, and of the wait for the client', async () => {
    const client = new SlowClient(5);
    const exchange = new TrackedExchange(client, { responseHeaders: {}, isLongRunning: false, clientName: '' });
    const stream = exchange.startStream(200, {});
    for (const waitMs of [100, 200]) {
      expect(stream.write(Buffer.from('abc'))).toBe(false);
      const drained = new Promise<void>((resolve) => stream.onDrain(resolve));
      client.nowMs += waitMs;
      client.drain();
      await drained;
    }
    expect([exchange.sentBytes, exchange.writeMs]).toEqual([6, 310]);
  });

  test('is known of a whole answer before it leaves', () => {
    const exchange = new TrackedExchange(new FakeExchange('/'), { responseHeaders: {}, isLongRunning: false, clientName: '' });
    let knownMs = 0;
    exchange.beforeAnswer = () => void (knownMs = exchange.writeMs);
    exchange.respond(200, {}, 'x');
    expect(knownMs).toBeGreaterThan(0);
  });
});
