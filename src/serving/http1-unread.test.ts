import { expect, test } from 'vitest';
import { get, serve, untilStill } from './test-http1.ts';

/* Clients of HTTP/1.1 that ask and do not read. */

test.each(['', 'and has closed its half'])('a client that reads nothing %s is let go after 30 s, with all that waits for it', async (how) => {
  const served = await serve((exchange) => {
    exchange.requester = { clientName: 'ann', isLongRunning: false };
    exchange.respond(200, {}, Buffer.alloc(30_000_000));
  });
  served.client.pause();
  served.client.write(get('/').repeat(3));
  if (how !== '') served.client.end();
  await served.until(() => served.exchanges.length === 1);
  await untilStill(() => served.unsent.totalBytes);
  expect(served.unsent.totalBytes).toBeGreaterThan(10_000_000);
  served.clock.pass(29_000);
  expect(served.isClosed).toBe(false);
  served.clock.pass(3000);
  await served.until(() => served.isClosed);
  expect([served.exchanges.length, served.unsent.totalBytes, served.problems[0]?.kind]).toEqual([1, 0, 'unread-answer']);
});

test('a client that reads slowly keeps its answer, and a watch that is not read is kept', async () => {
  const served = await serve((exchange) => {
    exchange.requester = { clientName: 'ann', isLongRunning: exchange.target === '/watch' };
    exchange.respond(200, {}, Buffer.alloc(30_000_000));
  });
  served.client.pause();
  served.client.write(get('/'));
  for (let step = 0; step < 5; step++) {
    await untilStill(() => served.unsent.totalBytes);
    served.clock.pass(20_000);
    served.client.resume();
    const before = served.text.length;
    await served.until(() => served.text.length > before + 3_000_000);
    served.client.pause();
  }
  served.client.resume();
  await served.until(() => served.text.length > 30_000_000 && served.connection.openExchanges === 0);
  served.client.pause();
  served.client.write(get('/watch'));
  await served.until(() => served.exchanges.length === 2);
  await untilStill(() => served.unsent.totalBytes);
  served.clock.pass(600_000);
  expect([served.isClosed, served.unsent.size]).toEqual([false, 1]);
  served.client.destroy();
  await served.until(() => served.unsent.size === 0);
});
