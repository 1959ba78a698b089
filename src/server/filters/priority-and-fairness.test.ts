import { describe, expect, test } from 'vitest';
import type { QueuedRequest, FlowControl } from '../flow-control.ts';
import { MetricRegistry } from '../../metrics/registry.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import { parseRequestInfo } from '../request-info.ts';
import { IncomingRequest } from '../server-request.ts';
import { FakeExchange } from '../testing/fake-exchange.ts';
import type { RequestHandler } from './filter.ts';
import { isLongRunning } from './request-info.ts';
import { withPriorityAndFairness } from './priority-and-fairness.ts';

class FakeAdmission implements QueuedRequest {
  readonly flowSchemaUid = 'schema-uid';
  readonly priorityLevelUid = 'level-uid';
  readonly retryAfterSeconds = 7;
  state: QueuedRequest['state'];
  onDecision: ((isExecuting: boolean) => void) | undefined;
  readonly finishes: boolean[] = [];
  constructor(state: QueuedRequest['state']) {
    this.state = state;
  }
  decide(isExecuting: boolean): void {
    this.state = isExecuting ? 'executing' : 'rejected';
    this.onDecision?.(isExecuting);
  }
  cancel(): void {
    if (this.state === 'waiting') this.decide(false);
  }
  finish(isAtOnce: boolean): void {
    this.finishes.push(isAtOnce);
  }
}

function send(state: QueuedRequest['state'], handler: RequestHandler, target = '/api/v1/namespaces/a/pods/b') {
  const admission = new FakeAdmission(state);
  const watches = { tracked: 0, arrivals: 0 };
  const putOff: (() => void)[] = [];
  const flowControl: FlowControl = {
    arrive: () => {
      watches.arrivals++;
      return admission;
    },
    trackWatch: () => {
      watches.tracked++;
      return () => void watches.tracked--;
    },
    putOff: (work) => void putOff.push(work),
  };
  const metrics = new ServerMetrics({ registry: new MetricRegistry(), isKnownResource: () => true });
  const exchange = new FakeExchange(target);
  const request = new IncomingRequest(exchange);
  request.info = parseRequestInfo('GET', target);
  request.isLongRunning = isLongRunning(request.info);
  const run = (): Promise<void> | void => withPriorityAndFairness({ flowControl, metrics })(handler)(request);
  return { admission, exchange, request, watches, putOff, run, finish: () => request.finish(() => {}) };
}

const answer: RequestHandler = ({ exchange }) => exchange.respond(200, {}, 'ok');

describe('a request that finds a seat', () => {
  test('and is answered at once makes no promise and gives it back', () => {
    const { admission, exchange, run } = send('executing', answer);
    expect(run()).toBeUndefined();
    expect(admission.finishes).toEqual([true]);
    expect(exchange.responseHeaders).toMatchObject({ 'x-kubernetes-pf-flowschema-uid': 'schema-uid', 'x-kubernetes-pf-prioritylevel-uid': 'level-uid' });
  });

  test('and takes its time keeps it until it is over', async () => {
    const { admission, run, finish } = send('executing', async (request) => answer(request));
    await run();
    expect(admission.finishes).toEqual([]);
    finish();
    expect(admission.finishes).toEqual([false]);
  });

  test('and fails gives it back', () => {
    const { admission, run } = send('executing', () => {
      throw new Error('no');
    });
    expect(run).toThrow('no');
    expect(admission.finishes).toEqual([true]);
  });
});

describe('a request that waits', () => {
  test('is served when it may be', async () => {
    const { admission, exchange, run } = send('waiting', answer);
    const pending = run();
    expect(exchange.isAnswered).toBe(false);
    admission.decide(true);
    await pending;
    expect(exchange.status).toBe(200);
    expect(admission.finishes).toEqual([true]);
  });

  test('rejects with what its handler throws', async () => {
    const { admission, run } = send('waiting', () => {
      throw new Error('no');
    });
    const pending = run();
    admission.decide(true);
    await expect(pending).rejects.toThrow('no');
    expect(admission.finishes).toEqual([true]);
  });

  test('is refused when its time is up', async () => {
    const { admission, exchange, run } = send('waiting', answer);
    const pending = run();
    admission.decide(false);
    await pending;
    expect(exchange).toMatchObject({ status: 429, body: 'Too many requests, please try again later.\n' });
  });

  test('leaves when its client does', async () => {
    const { admission, exchange, run } = send('waiting', answer);
    const pending = run();
    exchange.close();
    await pending;
    expect(admission.state).toBe('rejected');
  });
});

test('one that is rejected is told when to come back, when the thread has time for it', async () => {
  const { exchange, putOff, run } = send('rejected', answer);
  const pending = run();
  expect(exchange.isAnswered).toBe(false);
  for (const work of putOff) work();
  await pending;
  expect(exchange).toMatchObject({ status: 429, body: 'Too many requests, please try again later.\n' });
  expect(exchange.responseHeaders).toMatchObject({ 'retry-after': '7', 'x-kubernetes-pf-flowschema-uid': 'schema-uid' });
});

test('a watch has a seat until it has begun, and is known until it ends', async () => {
  const { admission, watches, run, finish } = send('executing', async ({ exchange }) => void exchange.startStream(200, {}), '/api/v1/pods?watch=true');
  await run();
  await Promise.resolve();
  expect(admission.finishes).toEqual([false]);
  expect(watches.tracked).toBe(1);
  finish();
  expect(watches.tracked).toBe(0);
  expect(admission.finishes).toEqual([false]);
});

test('other long-running requests pass', () => {
  const { watches, run } = send('rejected', answer, '/api/v1/namespaces/a/pods/b/log');
  run();
  expect(watches.arrivals).toBe(0);
});
