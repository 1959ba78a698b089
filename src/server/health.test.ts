import { describe, expect, test } from 'vitest';
import { Health, type HealthCheck, LOG, PING, shutdownCheck } from './health.ts';
import { LifecycleSignal } from './lifecycle.ts';
import { IncomingRequest } from './server-request.ts';
import { FakeExchange } from './testing/fake-exchange.ts';

const failing = (name: string, group?: string): HealthCheck => ({
  name,
  ...(group !== undefined && { group }),
  check: () => Promise.reject(new Error('the disk is on fire')),
});

function newHealth({ livezGraceMs = 0 } = {}) {
  const events: string[] = [];
  const clock = { nowMs: 0 };
  const health = new Health({
    livezGraceMs,
    observe: (name, type, isHealthy) => events.push(`${type} ${name} ${isHealthy}`),
    onFirstReady: () => events.push('ready'),
    log: (endpoint, failures) => events.push(`${endpoint}: ${failures.join()}`),
    nowMs: () => clock.nowMs,
  });
  const get = async (target: string): Promise<FakeExchange> => {
    const exchange = new FakeExchange(target);
    const handlers = health.handlers();
    await handlers.get(target.split('?')[0]!)!(new IncomingRequest(exchange));
    return exchange;
  };
  return { health, events, clock, get };
}

test('well, and short', async () => {
  const { health, get } = newHealth();
  health.addChecks(PING, LOG);
  const exchange = await get('/healthz');
  expect(exchange).toMatchObject({
    status: 200,
    body: 'ok',
    responseHeaders: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  });
});

test('well, and at length', async () => {
  const { health, get } = newHealth();
  health.addChecks(PING, LOG);
  expect((await get('/livez?verbose')).body).toBe('[+]ping ok\n[+]log ok\nlivez check passed\n');
});

test('not well: at length always, and without the reason', async () => {
  const { health, get, events } = newHealth();
  health.addChecks(PING, failing('etcd'));
  expect(await get('/readyz')).toMatchObject({ status: 500, body: '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n' });
  expect(events).toEqual(['readyz ping true', 'readyz etcd false', 'readyz: etcd: the disk is on fire']);
});

describe('?exclude=', () => {
  test('leaves checks and groups out, and names what it did not find', async () => {
    const { health, get } = newHealth();
    health.addChecks(PING, failing('etcd'), failing('kms-provider-0', 'kms-providers'));
    const exchange = await get('/readyz?verbose&exclude=etcd&exclude=kms-providers&exclude=foo&exclude=bar');
    expect(exchange).toMatchObject({
      status: 200,
      body: '[+]ping ok\n[+]etcd excluded: ok\n[+]kms-provider-0 excluded with kms-providers: ok\nwarn: some health checks cannot be excluded: no matches for "bar","foo"\nreadyz check passed\n',
    });
  });
});

test('each check has its own path, which tells the reason', async () => {
  const { health, get } = newHealth();
  health.addChecks(PING, failing('etcd'));
  expect(await get('/healthz/ping')).toMatchObject({ status: 200, body: 'ok' });
  expect(await get('/healthz/etcd')).toMatchObject({ status: 500, body: 'internal server error: the disk is on fire\n' });
  expect([...health.handlers().keys()]).toEqual([
    '/healthz',
    '/healthz/ping',
    '/healthz/etcd',
    '/livez',
    '/livez/ping',
    '/livez/etcd',
    '/readyz',
    '/readyz/ping',
    '/readyz/etcd',
  ]);
});

test('boot checks do not fail /livez within the grace period', async () => {
  const { health, get, clock } = newHealth({ livezGraceMs: 1000 });
  health.addBootChecks(failing('poststarthook/x'));
  clock.nowMs = 1000;
  expect((await get('/livez')).status).toBe(200);
  expect((await get('/healthz')).status).toBe(500);
  clock.nowMs = 1001;
  expect((await get('/livez')).status).toBe(500);
});

test('readiness is announced once, and ends when shutdown begins', async () => {
  const { health, get, events } = newHealth();
  const initiated = new LifecycleSignal('ShutdownInitiated');
  health.addReadyzChecks(shutdownCheck(initiated));
  const handler = health.handlers().get('/readyz')!;
  const ask = async (): Promise<FakeExchange> => {
    const exchange = new FakeExchange('/readyz');
    await handler(new IncomingRequest(exchange));
    return exchange;
  };
  expect((await ask()).status).toBe(200);
  expect((await ask()).status).toBe(200);
  expect(events.filter((event) => event === 'ready')).toHaveLength(1);
  initiated.signal();
  expect((await ask()).body).toBe('[-]shutdown failed: reason withheld\nreadyz check failed\n');
  expect((await get('/readyz/shutdown')).body).toBe('internal server error: process is shutting down\n');
  expect(() => health.addChecks(PING)).toThrow('after the health endpoints were made');
});
