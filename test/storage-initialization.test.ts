import { expect, test, vi } from 'vitest';
import type { RangeOptions, RangeResult } from '../src/storage/engine.ts';
import { MemoryEngine } from '../src/storage/engines/memory.ts';
import type { KeyBounds } from '../src/storage/engines/range.ts';
import { type EtcdServer, startEtcdServer } from '../src/storage/etcd-server/server.ts';
import type { TestList } from './support/api-client.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';

/* --storage-initialization-timeout: a store that is slow to answer for one resource. */

const EVENTS = '/api/v1/namespaces/default/events';

/** Answers who reads objects when it is opened, and not before. */
class SlowEngine extends MemoryEngine {
  askedCount = 0;
  open = (): void => {};
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve));

  override async rangeWithin(bounds: KeyBounds, options: RangeOptions): Promise<RangeResult> {
    if (bounds.start?.startsWith('/registry/')) {
      this.askedCount++;
      await this.#opened;
    }
    return super.rangeWithin(bounds, options);
  }
}

const serve = (engine: MemoryEngine): Promise<EtcdServer> => startEtcdServer({ engine, listenUrls: ['http://127.0.0.1:0'] });

test('what is not read in time is refused until it is; the server is ready without it', async () => {
  const slow = new SlowEngine({});
  const [main, other] = [await serve(new MemoryEngine({})), await serve(slow)];
  const flags = ['--storage-initialization-timeout=500ms', `--etcd-servers-overrides=/events#${other.urls[0]}`];
  const server = await startServerOnEtcd(main.urls, { flags });
  const client = server.client();
  expect((await client.send({ path: '/readyz' })).status).toBe(200);
  const refused = await client.send({ path: EVENTS });
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toBe('1');
  expect(JSON.parse(refused.text)).toMatchObject({ reason: 'TooManyRequests', message: 'storage is (re)initializing' });
  await client.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' } });
  await server.line(/Deadline exceeded while waiting for storage readiness\.\.\. ignoring/);
  slow.open();
  await vi.waitFor(async () => expect((await client.send({ path: EVENTS })).status).toBe(200), { timeout: 10_000 });
  const involvedObject = { kind: 'Pod', name: 'web', namespace: 'default' };
  await client.create(EVENTS, { metadata: { name: 'started' }, involvedObject, reason: 'Started' });
  expect((await client.get<TestList>(EVENTS)).items).toHaveLength(1);
  expect((await client.send({ path: '/readyz' })).status).toBe(200);
  await server.stop();
  for (const each of [main, other]) await each.close();
});

test('what the server itself needs is waited for', async () => {
  const slow = new SlowEngine({});
  const [main, other] = [await serve(new MemoryEngine({})), await serve(slow)];
  const flags = ['--storage-initialization-timeout=1ms', `--etcd-servers-overrides=/limitranges#${other.urls[0]}`];
  let isReady = false;
  const started = startServerOnEtcd(main.urls, { flags }).finally(() => (isReady = true));
  await vi.waitFor(() => expect(slow.askedCount).toBeGreaterThan(0), { timeout: 20_000 });
  expect(isReady).toBe(false);
  slow.open();
  const server = await started;
  expect((await server.client().get<TestList>('/api/v1/limitranges')).items).toEqual([]);
  await server.stop();
  for (const each of [main, other]) await each.close();
});
