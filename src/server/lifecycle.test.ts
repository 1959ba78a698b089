import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { InFlightRequests, OpenWatches } from './in-flight.ts';
import { type ShutdownOptions, type ShutdownParts, createLifecycleSignals, runUntil, stopOnSignals } from './lifecycle.ts';
import { IncomingRequest } from './server-request.ts';
import { FakeExchange } from './testing/fake-exchange.ts';

const DEFAULTS: ShutdownOptions = { delayMs: 0, sendRetryAfter: false, watchGraceMs: 0, requestTimeoutMs: 60_000 };

/** A server without sockets whose time passes when the test says so; `story` is what happened, in order. */
function newServer(options: Partial<ShutdownOptions> = {}, parts: Partial<ShutdownParts> = {}) {
  const story: string[] = [];
  const requests = new InFlightRequests();
  const watches = new OpenWatches();
  let nowMs = 0;
  let sleepers: { atMs: number; wake: () => void }[] = [];
  const stop = new AbortController();
  const done = runUntil(
    stop.signal,
    { ...DEFAULTS, ...options },
    {
      signals: createLifecycleSignals(),
      requests,
      watches,
      runPreShutdownHooks: async () => void story.push('hooks'),
      stopServing: async (graceMs, onStoppedListening) => {
        story.push(`stop serving within ${graceMs}`);
        onStoppedListening();
      },
      closeBackends: async () => void story.push('close backends'),
      sleep: (durationMs, signal) =>
        durationMs === 0
          ? Promise.resolve()
          : new Promise((wake) => {
              sleepers.push({ atMs: nowMs + durationMs, wake });
              signal?.addEventListener('abort', () => wake());
            }),
      log: (event) => story.push(event),
      ...parts,
    },
  );
  done.catch(() => {});
  /** Lets all that is due by then happen. */
  const passTo = async (timeMs: number): Promise<void> => {
    for (;;) {
      await new Promise(setImmediate);
      const next = sleepers.filter(({ atMs }) => atMs <= timeMs).toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      nowMs = next.atMs;
      sleepers = sleepers.filter((sleeper) => sleeper !== next);
      next.wake();
    }
    nowMs = timeMs;
  };
  return { story, requests, watches, stop, done, passTo };
}

function openWatch(watches: OpenWatches): IncomingRequest {
  const request = new IncomingRequest(new FakeExchange('/api/v1/pods?watch=1'));
  watches.add(request);
  request.signal.addEventListener('abort', () => request.finish(() => {}));
  return request;
}

test('with nothing under way, all signals in order', async () => {
  const { story, stop, done } = newServer();
  stop.abort();
  await done;
  expect(story).toEqual([
    'ShutdownInitiated',
    'hooks',
    'AfterShutdownDelayDuration',
    'PreShutdownHooksStopped',
    'NotAcceptingNewRequest',
    'stop serving within 60000',
    'HTTPServerStoppedListening',
    'InFlightRequestsDrained',
    'close backends',
  ]);
});

test('requests are taken until the delay is over, and waited for', async () => {
  const { story, requests, stop, done, passTo } = newServer({ delayMs: 5000 });
  stop.abort();
  await passTo(4999);
  expect(story.at(-1)).toBe('PreShutdownHooksStopped');
  expect(requests.add()).toBe(true);
  await passTo(5000);
  expect(story.at(-1)).toBe('HTTPServerStoppedListening');
  expect(requests.add()).toBe(false);
  requests.done();
  await done;
  expect(story.slice(-2)).toEqual(['InFlightRequestsDrained', 'close backends']);
});

test('with retry-after the listener stays until the drain is over', async () => {
  const { story, requests, stop, done, passTo } = newServer({ sendRetryAfter: true });
  requests.add();
  stop.abort();
  await passTo(1);
  expect(story.at(-1)).toBe('NotAcceptingNewRequest');
  requests.done();
  await done;
  expect(story.slice(-4)).toEqual(['InFlightRequestsDrained', 'close backends', 'stop serving within 2000', 'HTTPServerStoppedListening']);
});

test('a request that never ends is waited for no longer than the request timeout', async () => {
  const { story, requests, stop, done, passTo } = newServer({ requestTimeoutMs: 3000 });
  requests.add();
  stop.abort();
  await passTo(2999);
  expect(story).not.toContain('InFlightRequestsDrained');
  await passTo(3000);
  await done;
  expect(story).toContain('InFlightRequestsDrained');
});

describe('watches', () => {
  test('end at once without a grace period', async () => {
    const { watches, stop, done, passTo } = newServer();
    const open = Array.from({ length: 100 }, () => openWatch(watches));
    stop.abort();
    await passTo(0);
    await done;
    expect(open.every(({ signal }) => signal.aborted)).toBe(true);
  });

  test('end little by little within one', async () => {
    const { watches, stop, done, passTo } = newServer({ watchGraceMs: 2000 });
    for (let i = 0; i < 1000; i++) openWatch(watches);
    stop.abort();
    await passTo(500);
    expect(watches.count).toBeGreaterThan(600);
    expect(watches.count).toBeLessThan(800);
    await passTo(2000);
    await done;
    expect(watches.count).toBe(0);
  });

  test('that do not end do not hold the shutdown up', async () => {
    const { watches, stop, done, passTo } = newServer();
    watches.add(new IncomingRequest(new FakeExchange('/api/v1/pods?watch=1')));
    stop.abort();
    await passTo(500);
    await done;
    expect(watches.count).toBe(1);
  });
});

test('a failing pre-shutdown hook does not stop the shutdown, but is told of', async () => {
  const { story, stop, done } = newServer({}, { runPreShutdownHooks: () => Promise.reject(new Error('lease stuck')) });
  stop.abort();
  await expect(done).rejects.toThrow('lease stuck');
  expect(story).toContain('close backends');
});

test('the first signal stops, the second exits with 1', () => {
  const source = new EventEmitter();
  const codes: number[] = [];
  const stop = stopOnSignals(source, (code) => codes.push(code));
  source.emit('SIGTERM');
  expect(stop.aborted).toBe(true);
  expect(codes).toEqual([]);
  source.emit('SIGINT');
  expect(codes).toEqual([1]);
});
