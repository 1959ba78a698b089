import { describe, expect, test } from 'vitest';
import { FakeExchange } from './testing/fake-exchange.ts';
import { IncomingRequest } from './server-request.ts';

const newRequest = (target = '/', options = {}): { exchange: FakeExchange; request: IncomingRequest } => {
  const exchange = new FakeExchange(target, options);
  return { exchange, request: new IncomingRequest(exchange) };
};

describe('warnings', () => {
  test('leave as headers, equal ones once', () => {
    const { exchange, request } = newRequest();
    request.warn('one "quoted" \\');
    request.warn('one "quoted" \\');
    request.warn('');
    request.warn('with\nbreak');
    request.warn('two');
    request.exchange.respond(200, {});
    expect(exchange.responseHeaders['warning']).toEqual(['299 - "one \\"quoted\\" \\\\"', '299 - "two"']);
    expect(request.warnings).toEqual(['one "quoted" \\', 'two']);
  });

  test('travel as UTF-8', () => {
    const { request } = newRequest();
    request.warn('unknown field "naïve"');
    const [header] = request.responseHeaders['warning'] as string[];
    expect(Buffer.from(header!, 'latin1').toString()).toBe('299 - "unknown field \\"naïve\\""');
  });

  test('are cut to 256 characters each once they pass 4 KiB together, and end there', () => {
    const { request } = newRequest();
    const headers = (): string[] => request.responseHeaders['warning'] as string[];
    for (let i = 0; i < 4; i++) request.warn(`${i}${'x'.repeat(1023)}`);
    expect(headers().map((header) => header.length)).toEqual(Array(4).fill(1024 + 8));
    request.warn('the last straw');
    expect(headers().map((header) => header.length)).toEqual([...Array(4).fill(256 + 8), 14 + 8]);
    for (let i = 0; i < 100; i++) request.warn(`${i} ${'y'.repeat(1000)}`);
    expect(headers().length).toBeLessThan(20);
  });
});

describe('the answer', () => {
  test('has the headers of filters, but its own win', () => {
    const { exchange, request } = newRequest();
    request.responseHeaders['cache-control'] = 'no-cache, private';
    request.responseHeaders['audit-id'] = 'a';
    request.exchange.respond(200, { 'cache-control': 'public' }, 'body');
    expect(exchange.responseHeaders).toEqual({ 'cache-control': 'public', 'audit-id': 'a' });
    expect(request.exchange).toMatchObject({ status: 200, sentBytes: 4 });
  });

  test('is only the first', () => {
    const { exchange, request } = newRequest();
    request.exchange.respond(504, {}, 'late');
    request.exchange.respond(200, {}, 'too late');
    const stream = request.exchange.startStream(200, {});
    expect(stream.write(Buffer.from('x'))).toBe(true);
    stream.end();
    expect(exchange).toMatchObject({ status: 504, body: 'late' });
  });

  test('counts what it streams', () => {
    const { request } = newRequest();
    const stream = request.exchange.startStream(200, {});
    stream.write(Buffer.from('abc'));
    stream.write(Buffer.from('de'));
    expect(request.exchange.sentBytes).toBe(5);
  });
});

describe('the signal', () => {
  test('aborts when the client goes before the end', () => {
    const { exchange, request } = newRequest();
    const { signal } = request;
    exchange.close();
    expect(signal.aborted).toBe(true);
  });
  test('does not when the request was over', () => {
    const { exchange, request } = newRequest();
    const { signal } = request;
    request.finish(() => {});
    exchange.close();
    expect(signal.aborted).toBe(false);
  });
  test('is aborted for those who look later', () => {
    const { request } = newRequest();
    request.abort(new Error('deadline'));
    expect(request.signal.aborted).toBe(true);
  });
});

test('the user agent is what its bytes mean', () => {
  expect(newRequest('/', { headers: { 'user-agent': 'kubectl/v1' } }).request.userAgent).toBe('kubectl/v1');
  const { exchange, request } = newRequest('/', { headers: { 'user-agent': Buffer.from('agé').toString('latin1') } });
  exchange.headerValues = () => ['agé'];
  expect(request.userAgent).toBe('agé');
  expect(newRequest().request.userAgent).toBe('');
});

test('finish listeners run once, all of them', () => {
  const { request } = newRequest();
  let calls = 0;
  const faults: unknown[] = [];
  request.onFinish(() => {
    throw new Error('a log that is full');
  });
  request.onFinish(() => calls++);
  request.finish((error) => faults.push(error));
  request.finish((error) => faults.push(error));
  expect(calls).toBe(1);
  expect(faults).toEqual([new Error('a log that is full')]);
});

test('audit annotations are kept for audited requests only, the first of a key', () => {
  const { request } = newRequest();
  request.annotateAudit('a', '1');
  request.isAudited = true;
  request.annotateAudit('b', '1');
  request.annotateAudit('b', '2');
  expect([...request.auditAnnotations]).toEqual([['b', '1']]);
});
