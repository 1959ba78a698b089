import { describe, expect, test, vi } from 'vitest';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { Decision } from '../../api/authorization.ts';
import { notFound, internalError, tooManyRequests } from '../../api/errors.ts';
import { ANONYMOUS, type User } from '../../api/user.ts';
import { InFlightRequests, OpenWatches } from '../in-flight.ts';
import { createLifecycleSignals } from '../lifecycle.ts';
import { MetricRegistry } from '../../metrics/registry.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import { IncomingRequest } from '../server-request.ts';
import { FakeExchange } from '../testing/fake-exchange.ts';
import type { RequestHandler } from './filter.ts';
import { chainFilters } from './order.ts';
import { type StandardFilterOptions, standardFilters } from './standard-filters.ts';
import { errorWriter } from './write-error.ts';

const ALICE: User = { name: 'alice', groups: ['system:authenticated'] };
const answerOk: RequestHandler = (request) => request.exchange.respond(200, {}, 'ok');
const decideAlways = (decision: Decision): Authorizer => ({
  authorize: () => decision,
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], isIncomplete: false }),
});

/** The whole chain, with what a test does not care about left harmless. */
function newServer(handler: RequestHandler, overrides: Partial<StandardFilterOptions> = {}) {
  const registry = new MetricRegistry();
  const faults: unknown[] = [];
  const options: StandardFilterOptions = {
    authentication: { authenticator: { authenticate: () => ({ user: ALICE }) } },
    authorizer: decideAlways({ decision: 'allow', reason: '' }),
    signals: createLifecycleSignals(),
    requests: new InFlightRequests(),
    watches: new OpenWatches(),
    metrics: new ServerMetrics({ registry, isKnownResource: (info) => info.resource === 'pods' }),
    writeError: errorWriter(),
    onFault: (fault) => faults.push(fault),
    shutdownSendRetryAfter: false,
    hstsDirectives: [],
    corsAllowedOrigins: [],
    goawayChance: 0,
    requestTimeoutMs: 60_000,
    maxRequestsInFlight: 400,
    maxMutatingRequestsInFlight: 200,
    ...overrides,
  };
  const chain = chainFilters(standardFilters(options), handler);
  const send = (target: string, exchangeOptions = {}): { exchange: FakeExchange; request: IncomingRequest; done: Promise<void> | void } => {
    const exchange = new FakeExchange(target, exchangeOptions);
    const request = new IncomingRequest(exchange);
    return { exchange, request, done: chain(request) };
  };
  return { ...options, registry, faults, send };
}

test('a request that is answered at once makes no promise and leaves with the filters’ headers', () => {
  const server = newServer(answerOk);
  const { exchange, done } = server.send('/api/v1/pods');
  expect(done).toBeUndefined();
  expect(exchange.status).toBe(200);
  expect(exchange.responseHeaders).toEqual({ 'audit-id': expect.stringMatching(/^[0-9a-f-]{36}$/), 'cache-control': 'no-cache, private' });
  expect(server.requests.count).toBe(0);
});

describe('audit id', () => {
  test('is the client’s', () =>
    expect(newServer(answerOk).send('/', { headers: { 'audit-id': 'mine-1' } }).exchange.responseHeaders['audit-id']).toBe('mine-1'));
  test.each(['x'.repeat(300), 'with space', 'naïve'])('but not %j', (id) => {
    expect(newServer(answerOk).send('/', { headers: { 'audit-id': id } }).exchange.responseHeaders['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the panic guard', () => {
  test('answers an ApiError with its Status and retry-after', () => {
    const server = newServer(() => {
      throw tooManyRequests('slow down', 7);
    });
    const { exchange } = server.send('/api/v1/pods');
    expect(exchange).toMatchObject({ status: 429, responseHeaders: { 'retry-after': '7', 'content-type': 'application/json' } });
    expect(exchange.json).toMatchObject({ kind: 'Status', reason: 'TooManyRequests', message: 'slow down' });
    expect(server.faults).toEqual([]);
  });

  test('answers anything else with a 500 that says nothing of it, and reports it', async () => {
    const failure = new Error('password is hunter2');
    const server = newServer(() => Promise.reject(failure));
    const { exchange, request, done } = server.send('/api/v1/pods');
    await done;
    expect(exchange.status).toBe(500);
    expect(exchange.json).toMatchObject({ reason: 'InternalError', code: 500 });
    expect(exchange.body).not.toContain('hunter2');
    expect((exchange.json as { message: string }).message).toContain(`the audit ID "${request.auditId}"`);
    expect(server.faults).toEqual([{ error: failure, auditId: request.auditId, method: 'GET', target: '/api/v1/pods' }]);
    expect(server.requests.count).toBe(0);
  });

  test('reports a 500 that was made to be answered too: its log line has the audit ID of its header', () => {
    const failure = internalError('failed calling webhook "x"');
    const server = newServer(() => {
      throw failure;
    });
    const { exchange, request } = server.send('/api/v1/pods');
    expect(exchange.json).toMatchObject({ message: 'Internal error occurred: failed calling webhook "x"', code: 500 });
    expect(exchange.responseHeaders['audit-id']).toBe(request.auditId);
    expect(server.faults).toMatchObject([{ error: failure, auditId: request.auditId }]);
  });

  test('cuts off an answer that had begun', async () => {
    const server = newServer(async (request) => {
      request.exchange.startStream(200, {}).write(Buffer.from('half'));
      throw new Error('oops');
    });
    const { exchange, done } = server.send('/api/v1/pods');
    await done;
    expect(exchange).toMatchObject({ status: 200, body: 'half', isDestroyed: true });
  });

  test.each([
    ['application/yaml', 'application/yaml'],
    ['text/html', 'application/json'],
    ['application/vnd.kubernetes.protobuf', 'application/json'],
    ['application/json', 'application/json'],
  ])('answers who accepts %s with %s', async (accept, contentType) => {
    const server = newServer(() => {
      throw notFound({ group: '', resource: 'pods' }, 'x');
    });
    const { exchange, done } = server.send('/api/v1/pods/x', { headers: { accept } });
    await done;
    expect(exchange).toMatchObject({ status: 404, responseHeaders: { 'content-type': contentType } });
    expect(exchange.body).toContain('pods');
  });

  test('holds when the writer of errors fails', async () => {
    const server = newServer(() => Promise.reject(notFound({ group: '', resource: 'pods' }, 'x')), {
      writeError: () => Promise.reject(new Error('broken writer')),
    });
    const { exchange, done } = server.send('/api/v1/pods/x');
    await done;
    expect(exchange.json).toMatchObject({ code: 404, reason: 'NotFound' });
    expect(server.faults).toHaveLength(1);
  });

  test('holds when the target is malformed', () => {
    expect(newServer(answerOk).send('/api/v1/nodes/%zz').exchange.status).toBe(400);
  });
});

test('refusals that say what was asked are not to be taken for pages', async () => {
  const forbidding = newServer(answerOk, { authorizer: decideAlways({ decision: 'deny', reason: 'no' }) });
  for (const headers of [{}, { 'impersonate-user': 'bob' }, { 'impersonate-group': 'devs' }]) {
    const { exchange, done } = forbidding.send('/api/v1/pods', { headers });
    await done;
    expect(exchange.responseHeaders['x-content-type-options']).toBe('nosniff');
  }
});

test('requests that come before all paths are installed are marked', () => {
  const server = newServer(answerOk);
  expect(server.send('/x').request.cameBeforePathsInstalled).toBe(true);
  server.signals.muxAndDiscoveryComplete.signal();
  expect(server.send('/x').request.cameBeforePathsInstalled).toBe(false);
});

test('the log hears of every request, and of no header', async () => {
  const entries: object[] = [];
  const server = newServer(answerOk, { httpLog: { isOn: () => true, write: (entry) => entries.push(entry) } });
  server.send('/api/v1/pods', { headers: { authorization: 'Bearer hunter2', 'user-agent': 'kubectl' } });
  expect(entries).toEqual([expect.objectContaining({ verb: 'list', target: '/api/v1/pods', status: 200, userAgent: 'kubectl', remoteAddress: '127.0.0.1' })]);
  expect(JSON.stringify(entries)).not.toContain('hunter2');
});

test('HSTS and goaway, when asked for', () => {
  const server = newServer(answerOk, { hstsDirectives: ['max-age=31536000', 'includeSubDomains'], goawayChance: 1 });
  const { exchange } = server.send('/', { httpVersion: '2.0' });
  expect(exchange.responseHeaders['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  expect(exchange.closeRequests).toBe(1);
  expect(server.send('/').exchange.closeRequests).toBe(0);
});

describe('while shutting down', () => {
  test('new requests are sent elsewhere; probes are served', () => {
    const server = newServer(answerOk);
    void server.requests.drained();
    const { exchange } = server.send('/api/v1/pods');
    expect(exchange).toMatchObject({ status: 503, responseHeaders: { 'retry-after': '1' } });
    expect(exchange.json).toMatchObject({ reason: 'ServiceUnavailable', message: 'apiserver is shutting down' });
    expect(server.send('/readyz').exchange.status).toBe(200);
    expect(server.send('/api/v1/pods', { headers: { 'user-agent': 'kube-apiserver/v1.36' } }).exchange.status).toBe(200);
  });

  test('with --shutdown-send-retry-after they get a 429', () => {
    const server = newServer(answerOk, { shutdownSendRetryAfter: true });
    server.signals.notAcceptingNewRequest.signal();
    const { exchange } = server.send('/api/v1/pods');
    expect(exchange).toMatchObject({
      status: 429,
      responseHeaders: { 'retry-after': '5' },
      body: 'The apiserver is shutting down, please try again later.\n',
      closeRequests: 1,
    });
  });

  test('watches are ended through their signal, and new ones refused', async () => {
    const server = newServer((request) => {
      const stream = request.exchange.startStream(200, {});
      request.signal.addEventListener('abort', () => stream.end());
    });
    const { exchange } = server.send('/api/v1/pods?watch=1');
    expect(server.watches.count).toBe(1);
    const drained = server.watches.drained();
    expect(server.send('/api/v1/pods?watch=1').exchange.status).toBe(503);
    server.watches.end(1);
    await drained;
    expect(exchange).toMatchObject({ isClosed: true, isDestroyed: false });
  });
});

describe('deadlines', () => {
  test('are --request-timeout, or what the client asks for if that is less', () => {
    const server = newServer(answerOk);
    const timeoutOf = (target: string): number | undefined => {
      const { request } = server.send(target);
      return request.deadlineMs === undefined ? undefined : Math.round(request.deadlineMs - request.receivedAtMs);
    };
    expect(timeoutOf('/api/v1/pods')).toBe(60_000);
    expect(timeoutOf('/api/v1/pods?timeout=5s')).toBe(5000);
    expect(timeoutOf('/api/v1/pods?timeout=5h')).toBe(60_000);
    expect(timeoutOf('/api/v1/pods?timeout=0s')).toBe(60_000);
    expect(timeoutOf('/api/v1/pods?watch=1&timeout=x')).toBeUndefined();
  });

  test.each([
    ['abc', 'time: invalid duration "abc"'],
    ['10', 'time: missing unit in duration "10"'],
  ])('timeout=%s is a bad request', (value, why) => {
    const { exchange } = newServer(answerOk).send(`/api/v1/pods?timeout=${value}`);
    expect(exchange.json).toMatchObject({ code: 400, reason: 'BadRequest', message: `invalid timeout specified in the request URL - ${why}` });
  });

  test('that pass are answered 504, the handler is told, and what it says is dropped', async () => {
    vi.useFakeTimers();
    try {
      let finishHandler!: () => void;
      const server = newServer((request) => new Promise<void>((resolve) => (finishHandler = resolve)).then(() => request.exchange.respond(200, {}, 'late')));
      const { exchange, request, done } = server.send('/api/v1/pods');
      vi.advanceTimersByTime(60_001);
      expect(exchange.json).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Timeout: request did not complete within the allotted timeout',
        reason: 'Timeout',
        details: {},
        code: 504,
      });
      expect(request.signal.aborted).toBe(true);
      expect(server.requests.count).toBe(1);
      finishHandler();
      await done;
      expect(exchange.status).toBe(504);
      expect(server.requests.count).toBe(0);
      expect(server.registry.print()).toContain('apiserver_request_terminations_total{code="504"');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('CORS', () => {
  const server = newServer(answerOk, { corsAllowedOrigins: ['//localhost(:|$)', '(?i)//EXAMPLE\\.com$'] });
  const originOf = (origin: string): unknown => server.send('/', { headers: { origin } }).exchange.responseHeaders['access-control-allow-origin'];
  test('answers a preflight by itself', () => {
    const { exchange } = server.send('/api/v1/pods', { method: 'OPTIONS', headers: { origin: 'http://localhost:8080' } });
    expect(exchange).toMatchObject({
      status: 204,
      body: '',
      responseHeaders: {
        'access-control-allow-origin': 'http://localhost:8080',
        'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
        'access-control-allow-headers': 'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
        'access-control-expose-headers': 'Date',
        'access-control-allow-credentials': 'true',
      },
    });
  });
  test('adds its headers for allowed origins only', () => {
    expect(originOf('https://example.COM')).toBe('https://example.COM');
    expect(originOf('https://evil.com')).toBeUndefined();
    expect(originOf(`//localhost:${'1'.repeat(5000)}`)).toBeUndefined();
  });
});

describe('authentication', () => {
  test('takes what proved it off the request', () => {
    const headers = { authorization: 'Bearer t', 'x-remote-user': 'root', 'x-remote-extra-scopes': 'all', accept: '*/*' };
    const server = newServer((request) => request.exchange.respond(200, {}, JSON.stringify(request.exchange.headers)));
    const { exchange, request } = server.send('/', { headers });
    expect(exchange.body).toBe('{"accept":"*/*"}');
    expect(request.user).toBe(ALICE);
  });

  test.each<[string, () => undefined | Promise<undefined>]>([
    ['nothing', () => undefined],
    ['nothing, later', () => Promise.resolve(undefined)],
    [
      'an error',
      () => {
        throw new Error('bad token');
      },
    ],
    ['a rejection', () => Promise.reject(new Error('bad token'))],
  ])('that finds %s is a 401', async (_what, authenticate) => {
    const server = newServer(answerOk, { authentication: { authenticator: { authenticate } } });
    const { exchange, done } = server.send('/', { httpVersion: '2.0' });
    await done;
    expect(exchange.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
    expect(exchange.closeRequests).toBe(1);
    expect(server.faults).toEqual([]);
  });

  test('refuses a token for others', () => {
    const server = newServer(answerOk, {
      authentication: { authenticator: { authenticate: () => ({ user: ALICE, audiences: ['theirs'] }) }, audiences: ['ours'] },
    });
    expect(server.send('/').exchange.status).toBe(401);
  });

  test('does not let the anonymous keep an HTTP/2 connection', () => {
    const server = newServer(answerOk, { authentication: { authenticator: { authenticate: () => ({ user: ANONYMOUS }) } } });
    expect(server.send('/', { httpVersion: '2.0' }).exchange).toMatchObject({ status: 200, closeRequests: 1 });
  });
});

describe('max in flight', () => {
  test('refuses reads and writes each beyond their limit; watches and masters pass', async () => {
    let user = ALICE;
    const server = newServer((request) => new Promise<void>((resolve) => request.exchange.onClose(resolve)), {
      maxRequestsInFlight: 2,
      maxMutatingRequestsInFlight: 1,
      authentication: { authenticator: { authenticate: () => ({ user }) } },
    });
    const open = [server.send('/api/v1/pods'), server.send('/api/v1/pods'), server.send('/api/v1/namespaces/a/pods', { method: 'POST' })];
    const { exchange } = server.send('/api/v1/pods');
    expect(exchange).toMatchObject({
      status: 429,
      body: 'Too many requests, please try again later.\n',
      responseHeaders: { 'retry-after': '1', 'content-type': 'text/plain; charset=utf-8' },
    });
    expect(server.send('/api/v1/namespaces/a/pods', { method: 'POST' }).exchange.status).toBe(429);
    open.push(server.send('/api/v1/pods?watch=1'));
    expect(open.at(-1)!.exchange.status).toBe(0);
    user = { name: 'root', groups: ['system:masters'] };
    open.push(server.send('/api/v1/pods'));
    expect(open.at(-1)!.exchange.status).toBe(0);
    for (const one of open) one.exchange.close();
    await Promise.all(open.map(({ done }) => done));
    expect(server.registry.print()).toContain(
      'apiserver_request_total{code="429",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"} 1',
    );
    user = ALICE;
    const again = server.send('/api/v1/pods');
    expect(again.exchange.status).toBe(0);
    again.exchange.close();
    await again.done;
  });
});

describe('authorization', () => {
  test.each([
    [
      'GET',
      '/api/v1/namespaces/x/pods/p',
      '',
      'pods "p" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "x"',
      { name: 'p', kind: 'pods' },
    ],
    [
      'GET',
      '/apis/apps/v1/deployments',
      '',
      'deployments.apps is forbidden: User "alice" cannot list resource "deployments" in API group "apps" at the cluster scope',
      { group: 'apps', kind: 'deployments' },
    ],
    [
      'GET',
      '/api/v1/nodes/n/proxy/',
      '',
      'nodes "n" is forbidden: User "alice" cannot get resource "nodes/proxy" in API group "" at the cluster scope',
      { name: 'n', kind: 'nodes' },
    ],
    ['GET', '/metrics', '', 'forbidden: User "alice" cannot get path "/metrics"', {}],
    ['GET', '/a<b>&', 'RBAC: role "<x>" not found', 'forbidden: User "alice" cannot get path "/a&lt;b&gt;&amp;": RBAC: role "<x>" not found', {}],
  ])('%s %s', (method, target, reason, message, details) => {
    const server = newServer(answerOk, { authorizer: decideAlways({ decision: 'noOpinion', reason }) });
    expect(server.send(target, { method }).exchange.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: 'Forbidden',
      details,
      code: 403,
    });
  });

  test('that failed is a 500, unless it allowed', async () => {
    const failing = newServer(answerOk, { authorizer: decideAlways({ decision: 'noOpinion', reason: '', error: 'webhook is down' }) });
    expect(failing.send('/x').exchange).toMatchObject({ status: 500, body: 'Internal Server Error: "/x": webhook is down\n' });
    const allowing = newServer(answerOk, { authorizer: decideAlways({ decision: 'allow', reason: '', error: 'a role is missing' }) });
    expect(allowing.send('/x').exchange.status).toBe(200);
  });

  test('may look at selectors, which count for collections only', () => {
    const seen: (string | undefined)[] = [];
    const authorizer: Authorizer = {
      ...decideAlways({ decision: 'allow', reason: '' }),
      authorize: ({ fieldSelector, labelSelector }) => {
        seen.push(fieldSelector?.toString(), labelSelector?.toString());
        return { decision: 'allow', reason: '' };
      },
    };
    const server = newServer(answerOk, { authorizer });
    server.send('/api/v1/pods?fieldSelector=spec.nodeName%3Dn&labelSelector=a%3Db');
    server.send('/api/v1/watch/pods?fieldSelector=spec.nodeName%3Dn');
    server.send('/api/v1/pods?labelSelector=%2C');
    expect(seen).toEqual(['spec.nodeName=n', 'a=b', undefined, undefined, undefined, undefined]);
  });
});

describe('metrics', () => {
  test('count handled requests of known resources, and no others', async () => {
    const server = newServer((request) => {
      if (request.info.resource === 'pods') request.route = 'built-in';
      answerOk(request);
    });
    server.send('/api/v1/namespaces/a/pods/p');
    server.send('/api/v1/namespaces/a/pods/q');
    for (let i = 0; i < 100; i++) server.send(`/api/v1/unknown${i}`, { method: `METHOD${i}` });
    server.send('/healthz');
    server.send('/api/v1/namespaces/a/pods/p', { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml' } });
    const text = server.registry.print();
    expect(text).toContain(
      'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"} 2\n',
    );
    expect(text).toContain(
      'apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/healthz",verb="GET",version=""} 1\n',
    );
    expect(text).toContain('verb="APPLY"');
    expect(text).not.toContain('unknown');
    expect(text.match(/^apiserver_request_total/gm)).toHaveLength(3);
  });

  test('know the open watches', () => {
    const server = newServer((request) => void request.exchange.startStream(200, {}));
    const line = 'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"}';
    const { exchange } = server.send('/api/v1/pods?watch=1');
    expect(server.registry.print()).toContain(`${line} 1\n`);
    exchange.close();
    expect(server.registry.print()).toContain(`${line} 0\n`);
  });
});
