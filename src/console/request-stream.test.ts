import { expect, test, vi } from 'vitest';
import type { ServerRequest } from '../endpoints/request.ts';
import type { ResponseStream } from '../serving/exchange.ts';
import { RequestStream } from './request-stream.ts';

/** A client that reads when it is told to. */
class SlowClient implements ResponseStream {
  readonly bufferedBytes = 0;
  text = '';
  isSlow = false;
  isEnded = false;
  whole = '';
  #drained: (() => void) | undefined;

  request(isFollowed: boolean): ServerRequest {
    const exchange = {
      startStream: () => this,
      onClose: () => undefined,
      respond: (_status: number, _headers: object, body: Buffer) => void (this.whole = body.toString()),
    };
    return { query: new URLSearchParams(isFollowed ? 'watch=true' : ''), exchange, signal: undefined } as unknown as ServerRequest;
  }
  write(chunk: Buffer): boolean {
    this.text += chunk.toString();
    return !this.isSlow;
  }
  onDrain(listener: () => void): void {
    this.#drained = listener;
  }
  drain(): void {
    this.#drained?.();
  }
  end(): void {
    this.isEnded = true;
  }
  destroy(): void {}

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }
}

const fill = (stream: RequestStream, from: number, to: number): void => {
  for (let line = from; line < to; line++) stream.add(`${line}\n`);
};

test('the last thousand are kept', () => {
  const stream = new RequestStream();
  fill(stream, 0, 2_500);
  const client = new SlowClient();
  stream.serve(client.request(false));
  const lines = client.whole.trim().split('\n');
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([1_000, '1500', '2499']);
});

test('long lines are fewer', () => {
  const stream = new RequestStream();
  const line = `${'x'.repeat(2_000)}\n`;
  for (let count = 0; count < 3_000; count++) stream.add(line);
  const client = new SlowClient();
  stream.serve(client.request(false));
  expect(client.whole.length).toBeLessThanOrEqual(512 * 1024);
});

test('a reader that does not read loses the oldest, and is told how many', () => {
  vi.useFakeTimers();
  try {
    const stream = new RequestStream();
    fill(stream, 0, 10);
    const client = new SlowClient();
    client.isSlow = true;
    stream.serve(client.request(true));
    expect(client.lines).toEqual(Array.from({ length: 10 }, (_, line) => String(line)));
    fill(stream, 10, 5_000);
    vi.advanceTimersByTime(1_000);
    expect(client.lines).toHaveLength(10);
    client.isSlow = false;
    client.drain();
    expect(client.lines.slice(10, 12)).toEqual(['{"dropped":3990}', '4000']);
    expect(client.lines).toHaveLength(10 + 1 + 1_000);
    fill(stream, 5_000, 5_001);
    vi.advanceTimersByTime(100);
    expect(client.lines.at(-1)).toBe('5000');
  } finally {
    vi.useRealTimers();
  }
});

test('there are so many readers; the one that came first makes room', () => {
  const stream = new RequestStream();
  const first = new SlowClient();
  stream.serve(first.request(true));
  for (let count = 0; count < 50; count++) stream.serve(new SlowClient().request(true));
  expect(first.isEnded).toBe(true);
  stream.close();
});
