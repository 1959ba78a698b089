import { afterEach, describe, expect, test } from 'vitest';
import { GrpcChannel } from './channel.ts';
import { GrpcError } from './status.ts';
import { ATTACKS } from './test-attacks.ts';
import { RawGrpcServer } from './test-raw-server.ts';

/* A server that answers with anything but an answer: the call fails as a GrpcError in its time, memory comes back, and the next call is made as if nothing had been. */

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const TIMEOUT_MS = 300;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Servers may say so, and calls wait until they say otherwise or close the connection. */
const LASTING = new Set(['windows of nothing', 'no streams at all']);
const isMeasured = process.platform === 'linux';

describe('is an error, and no more:', () => {
  test.each(Object.entries(ATTACKS))('%s', async (name, attack) => {
    const server = await new RawGrpcServer((call) => attack(call)).listen();
    const channel = new GrpcChannel({ host: '127.0.0.1', port: server.port }, { maxMessageBytes: MAX_MESSAGE_BYTES });
    closers.push(
      () => server.close(),
      () => channel.close(),
    );
    const before = process.memoryUsage().rss;
    const error = await channel.unary('/s/M', Buffer.from('question'), { timeoutMs: TIMEOUT_MS }).catch((reason: unknown) => reason);
    // An empty message is an answer for whoever takes one; it is not malformed here.
    if (!Buffer.isBuffer(error)) expect(error).toBeInstanceOf(GrpcError);
    if (error instanceof Error) expect(error.message.length).toBeLessThan(10_000);
    if (isMeasured) expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(100);

    server.onCall = (call) => call.answer(Buffer.from('answer'));
    if (LASTING.has(name)) server.cut();
    // Some attacks go on on the connection that they have; who calls again is served on that or on another.
    await expect
      .poll(() => channel.unary('/s/M', Buffer.from('question'), { timeoutMs: TIMEOUT_MS }).then(String, () => ''), { timeout: 20_000 })
      .toBe('answer');
  });
});
