import { beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import type { Decision } from '../api/authorization.ts';
import { chainFilters } from '../server/filters/order.ts';
import { type StandardFilterOptions, standardFilters } from '../server/filters/standard-filters.ts';
import { errorWriter } from '../server/filters/write-error.ts';
import type { RequestHandler } from '../server/filters/filter.ts';
import { InFlightRequests, OpenWatches } from '../server/in-flight.ts';
import { createLifecycleSignals } from '../server/lifecycle.ts';
import { MetricRegistry } from '../metrics/registry.ts';
import { ServerMetrics } from '../server/metrics/server-metrics.ts';
import { IncomingRequest } from '../server/server-request.ts';
import { FakeExchange } from '../server/testing/fake-exchange.ts';
import { notFound } from '../api/errors.ts';
import type { User } from '../api/user.ts';
import { createAuditor } from './auditor.ts';
import type { AuditPolicy } from './policy.ts';
import { TestBackend, TestObserver } from './testing.ts';

const ALICE: User = { name: 'alice', groups: ['system:authenticated'] };
const PODS = '/api/v1/namespaces/n/pods';
const answerOk: RequestHandler = (request) => request.exchange.respond(200, {}, 'ok');

let backend: TestBackend;
let observer: TestObserver;
let rejected = 0;
beforeEach(() => {
  backend = new TestBackend();
  observer = new TestObserver();
  rejected = 0;
});

/** The whole chain of filters in front of a handler. */
function newServer(handler: RequestHandler, { rules = [{ level: 'Metadata' }], ...policy }: AuditPolicy = {}, overrides: Partial<StandardFilterOptions> = {}) {
  const registry = new MetricRegistry();
  const chain = chainFilters(
    standardFilters({
      authentication: { authenticator: { authenticate: () => ({ user: ALICE }) } },
      authorizer: {
        authorize: (): Decision => ({ decision: 'allow', reason: 'why not' }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], isIncomplete: false }),
      },
      audit: { auditor: createAuditor({ rules, ...policy }, backend, observer), onRejected: () => void rejected++ },
      signals: createLifecycleSignals(),
      requests: new InFlightRequests(),
      watches: new OpenWatches(),
      metrics: new ServerMetrics({ registry, isKnownResource: () => true }),
      writeError: errorWriter(),
      onFault: () => undefined,
      shutdownSendRetryAfter: false,
      hstsDirectives: [],
      corsAllowedOrigins: [],
      goawayChance: 0,
      requestTimeoutMs: 60_000,
      maxRequestsInFlight: 400,
      maxMutatingRequestsInFlight: 200,
      ...overrides,
    }),
    handler,
  );
  return (target: string, options: ConstructorParameters<typeof FakeExchange>[1] = {}): { exchange: FakeExchange; done: Promise<void> | void } => {
    const exchange = new FakeExchange(target, options);
    return { exchange, done: chain(new IncomingRequest(exchange)) };
  };
}

/** A clock that can be put forward, for one test. */
function laterClock(): (laterMs: number) => void {
  const nowMs = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  return (laterMs) => void clock.mockImplementation(() => nowMs() + laterMs);
}

const LATENCY = 'apiserver.latency.k8s.io/';
/** What the last event says of them, by part. */
const latencies = (): object =>
  Object.fromEntries([...backend.events.at(-1)!.annotations].flatMap(([key, value]) => (key.startsWith(LATENCY) ? [[key.slice(LATENCY.length), value]] : [])));

const stages = (): string[] => backend.events.map(({ stage }) => stage);

describe('a request', () => {
  it('is recorded when it comes and before it is answered, without a promise', () => {
    const send = newServer((request) => {
      expect(stages()).toEqual(['RequestReceived']);
      answerOk(request);
    });
    const { done } = send(`${PODS}/p?x=1`, { headers: { 'audit-id': 'mine', 'user-agent': 'me' } });
    expect(done).toBeUndefined();
    expect(backend.events).toMatchObject([
      {
        stage: 'RequestReceived',
        auditId: 'mine',
        requestUri: `${PODS}/p?x=1`,
        verb: 'get',
        user: ALICE,
        userAgent: 'me',
        sourceIps: ['127.0.0.1'],
        responseStatus: undefined,
      },
      {
        stage: 'ResponseComplete',
        objectRef: { resource: 'pods', namespace: 'n', name: 'p', apiVersion: 'v1' },
        responseStatus: { code: 200 },
        annotations: new Map([
          ['authorization.k8s.io/decision', 'allow'],
          ['authorization.k8s.io/reason', 'why not'],
        ]),
      },
    ]);
    const [first, second] = backend.events;
    expect(first!.stageAt).toBe(first!.receivedAt);
    expect(second!.stageAt >= second!.receivedAt).toBe(true);
    expect([observer.eventCount, observer.levels]).toEqual([2, ['Metadata']]);
  });
  it('shows the Status that it is answered with', () => {
    newServer(() => {
      throw notFound({ group: '', resource: 'pods' }, 'p');
    })(`${PODS}/p`);
    expect(backend.events[1]!.responseStatus).toEqual({
      status: 'Failure',
      message: 'pods "p" not found',
      reason: 'NotFound',
      details: { name: 'p', kind: 'pods' },
      code: 404,
    });
  });
  it('is not recorded at level None', () => {
    newServer(
      (request) => {
        request.annotateAudit('a', 'b');
        expect([request.audit, request.isAudited, request.auditAnnotations.size]).toEqual([undefined, false, 0]);
        answerOk(request);
      },
      { rules: [{ level: 'None' }] },
    )(PODS);
    expect([stages(), observer.levels, observer.eventCount]).toEqual([[], ['None'], 0]);
  });
  it('keeps what authentication noted', () => {
    const authenticator = {
      authenticate(request: { annotateAudit(key: string, value: string): void }) {
        request.annotateAudit('authentication.k8s.io/legacy-token', 'x');
        return { user: ALICE };
      },
    };
    newServer(answerOk, {}, { authentication: { authenticator } })(PODS);
    expect(backend.events[0]!.annotations.get('authentication.k8s.io/legacy-token')).toBe('x');
  });
  it('leaves out the stages that nobody wants', () => {
    newServer(answerOk, { omitStages: ['RequestReceived'] })(PODS);
    expect([stages(), observer.eventCount]).toEqual([['ResponseComplete'], 1]);
  });
  it('says how slow it was', () => {
    const later = laterClock();
    newServer((request) => {
      request.noteLatency('etcd', 200);
      request.noteLatency('etcd', 300);
      request.noteLatency('authorization', 20);
      request.noteLatency('authorization', 10);
      later(1500);
      answerOk(request);
    })(PODS);
    expect(latencies()).toEqual({
      authentication: expect.stringMatching(/µs|ms/),
      authorization: '20ms',
      etcd: '500ms',
      'response-write': expect.stringMatching(/ns|µs|ms/),
      total: expect.stringMatching(/^1\.5.*s$/),
    });
  });
  it('says nothing of that where it was not', () => {
    newServer(answerOk)(PODS);
    expect(latencies()).toEqual({});
  });
  it('shortens a long user agent', () => {
    newServer(answerOk)(PODS, { headers: { 'user-agent': 'x'.repeat(2000) } });
    expect(backend.events[0]!.userAgent).toBe(`${'x'.repeat(1024)}...TRUNCATED`);
  });
});

describe('a watch', () => {
  it('has three stages', () => {
    const { exchange } = newServer((request) => void request.exchange.startStream(200, {}))(`${PODS}?watch=true`);
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted']);
    exchange.close();
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
    expect(backend.events.at(-1)!.responseStatus).toEqual({ code: 200 });
  });
  it('is not slow, however long it lasts', () => {
    const later = laterClock();
    const { exchange } = newServer((request) => void request.exchange.startStream(200, {}))(`${PODS}?watch=true`);
    later(60_000);
    exchange.close();
    expect([stages().at(-1), latencies()]).toEqual(['ResponseComplete', {}]);
  });
  it('has them too when it is refused', () => {
    newServer(() => {
      throw notFound({ group: '', resource: 'pods' }, 'p');
    })(`${PODS}?watch=true`);
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
  });
});

test('a client that goes before it is answered', async () => {
  let goOn = (): void => undefined;
  const { done } = newServer(() => new Promise((resolve) => void (goOn = resolve)))(PODS);
  goOn();
  await done;
  expect(stages()).toEqual(['RequestReceived', 'ResponseComplete']);
  expect(backend.events[1]!.responseStatus).toEqual({ status: 'Success', message: 'Connection closed early', code: 200 });
});

describe('a fault of ours', () => {
  test.each<[string, RequestHandler]>([
    [
      'thrown',
      () => {
        throw new Error('oops');
      },
    ],
    ['rejected', () => Promise.reject(new Error('oops'))],
  ])('that is %s is a panic', async (_how, handler) => {
    const { exchange, done } = newServer(handler)(PODS);
    await done;
    expect(exchange.status).toBe(500);
    expect(stages()).toEqual(['RequestReceived', 'Panic']);
    expect(backend.events[1]!.responseStatus).toEqual({ status: 'Failure', message: "APIServer panic'd: oops", reason: 'InternalError', code: 500 });
  });
});

describe('a request of nobody', () => {
  const failing = { authentication: { authenticator: { authenticate: () => undefined } } };
  it('is recorded when it is refused', () => {
    const { exchange } = newServer(answerOk, {}, failing)(PODS);
    expect(exchange.status).toBe(401);
    expect(backend.events).toMatchObject([
      { stage: 'ResponseStarted', user: undefined, responseStatus: { status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 } },
    ]);
  });
  it('is recorded as the policy for nobody says', () => {
    newServer(answerOk, { rules: [{ level: 'Metadata', users: ['alice', ''] }] }, failing)(PODS);
    expect(stages()).toEqual([]);
  });
  it('may also be one whose timeout makes no sense', () => {
    expect(newServer(answerOk)(`${PODS}?timeout=soon`).exchange.status).toBe(400);
    expect(backend.events).toMatchObject([{ stage: 'ResponseStarted', user: undefined, responseStatus: { reason: 'BadRequest', code: 400 } }]);
  });
});

test('an impersonated user stands beside the real one', async () => {
  const { done } = newServer(answerOk)(PODS, { headers: { 'impersonate-user': 'bob' } });
  await done;
  expect(backend.events[0]).toMatchObject({ user: ALICE, impersonatedUser: undefined });
  expect(backend.events[1]).toMatchObject({ user: ALICE, impersonatedUser: { name: 'bob' }, impersonationConstraint: 'impersonate:user-info' });
});

describe('objects', () => {
  const handler: RequestHandler = (request) => {
    request.audit?.requestObject({ name: 'p', uid: 'u', resourceVersion: '7' }, () => ({ kind: 'Pod', metadata: { name: 'p', managedFields: [] } }));
    void request.audit?.responseObject([Buffer.from('{"kind":"Pod","metadata":{"name":"p","managedFields":[]}}')]);
    answerOk(request);
  };
  const BARE = '{"kind":"Pod","metadata":{"name":"p"}}';
  const WHOLE = '{"kind":"Pod","metadata":{"name":"p","managedFields":[]}}';
  test.each([
    ['Metadata', false, undefined, undefined],
    ['Request', false, WHOLE, undefined],
    ['RequestResponse', false, WHOLE, WHOLE],
    ['RequestResponse', true, BARE, BARE],
  ] as const)('at level %s, managed fields omitted: %s', (level, omitManagedFields, request, response) => {
    newServer(handler, { rules: [{ level, omitManagedFields }] })(PODS, { method: 'POST' });
    expect(backend.events[1]).toMatchObject({ requestObject: request, objectRef: { namespace: 'n', name: 'p', uid: 'u', resourceVersion: '7' } });
    expect(backend.events[1]!.responseObject?.map(String).join('')).toBe(response);
  });
  it('may be patches', () => {
    const patched: RequestHandler = (request) => {
      request.audit?.requestPatch(Buffer.from('{ "a": null }'));
      answerOk(request);
    };
    newServer(patched, { rules: [{ level: 'Request' }] })(`${PODS}/p`, { method: 'PATCH' });
    expect(backend.events[1]!.requestObject).toBe('{"a":null}');
  });
});

describe('a backend', () => {
  it('that cannot store the request has it refused', () => {
    backend.answer = () => false;
    const handler = vi.fn<RequestHandler>(answerOk);
    const { exchange } = newServer(handler)('/a<b>');
    expect([exchange.status, exchange.body]).toEqual([500, 'Internal Server Error: "/a&lt;b&gt;": failed to store audit event\n']);
    expect([handler.mock.calls.length, rejected, stages()]).toEqual([0, 1, ['RequestReceived']]);
  });
  it('that takes its time holds the request up, and then its answer', async () => {
    const answers: ((isStored: boolean) => void)[] = [];
    backend.answer = () => new Promise((resolve) => void answers.push(resolve));
    const handler = vi.fn<RequestHandler>(answerOk);
    const { exchange, done } = newServer(handler)(PODS);
    expect(handler).not.toHaveBeenCalled();
    answers.shift()!(true);
    await done;
    expect(handler).toHaveBeenCalledOnce();
    expect([stages(), exchange.isAnswered]).toEqual([['RequestReceived', 'ResponseComplete'], false]);
    answers.shift()!(false);
    await vi.waitFor(() => expect(exchange.status).toBe(200));
  });
  it('that takes too long does not hold an answer beyond its deadline', async () => {
    backend.answer = () => (stages().includes('ResponseComplete') ? new Promise(() => undefined) : true);
    const { exchange } = newServer(answerOk)(`${PODS}?timeout=20ms`);
    expect(exchange.isAnswered).toBe(false);
    await vi.waitFor(() => expect(exchange.status).toBe(200));
  });
  it('that takes too long at the start lets the request run into its deadline', async () => {
    let store = (_isStored: boolean): void => undefined;
    backend.answer = () => new Promise((resolve) => void (store = resolve));
    const handler = vi.fn<RequestHandler>(answerOk);
    const { exchange, done } = newServer(handler)(`${PODS}?timeout=20ms`);
    await vi.waitFor(() => expect(exchange.status).toBe(504));
    store(true);
    await done;
    expect(handler).not.toHaveBeenCalled();
    expect(backend.events).toMatchObject([{ stage: 'RequestReceived' }, { stage: 'ResponseComplete', responseStatus: { code: 504 } }]);
  });
});
