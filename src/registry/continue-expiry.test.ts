import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { hasEtcd, startEtcd } from '../../test/support/etcd.ts';
import { configMaps } from '../apis/core/config-map.ts';
import { CacheFeed } from '../storage/cache/feed.ts';
import { openCache } from '../storage/cache/object-cache.ts';
import { jsonCodec } from '../storage/codec.ts';
import type { Engine } from '../storage/engine.ts';
import { openEmbeddedEngine } from '../storage/engines/embedded.ts';
import { openEtcdEngine } from '../storage/engines/etcd/engine.ts';
import { openMemoryEngine } from '../storage/engines/memory.ts';
import { FakeClock } from '../storage/fake-clock.ts';
import { ApiError } from '../api/errors.ts';
import { EVERY_FIELD } from '../api/field-selector.ts';
import { EVERY_LABEL } from '../api/label-selector.ts';
import type { ResourceDefinition } from './definition.ts';
import { GenericStore } from './generic-store.ts';
import type { ListOptions, ListResult } from './store.ts';

/*
 * A continue token ends one to two compaction intervals after its list, on every store, though somebody asks with it every twenty seconds and nobody writes
 * (kubernetes: test/e2e/apimachinery/chunking.go, "should support continue listing from the last key if the original version has been compacted away").
 */

const INTERVAL_MS = 300_000;
const POLL_MS = 20_000;
const PREFIX = '/registry/configmaps/';
const COUNT = 10;

const root = mkdtempSync(join(tmpdir(), 'binnacle-continue-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const settings = (clock: FakeClock) => ({ clock, compactionIntervalMs: INTERVAL_MS });

describe('a continue token', () => {
  test('on the memory store', () => expiry(async (clock) => openMemoryEngine(settings(clock))));
  test('on the embedded store', () => expiry((clock) => openEmbeddedEngine({ folder: join(root, 'store'), ...settings(clock) })));
  test.runIf(hasEtcd())('on etcd', async () => {
    const cluster = await startEtcd();
    await expiry((clock) => openEtcdEngine({ ...cluster, ...settings(clock) }));
  });
  test.runIf(hasEtcd())('on etcd, where another server compacts', async () => {
    const cluster = await startEtcd();
    const otherClock = new FakeClock();
    const other = await openEtcdEngine({ ...cluster, ...settings(otherClock) });
    await expiry(
      (clock) => openEtcdEngine({ ...cluster, ...settings(clock) }),
      // It is a moment ahead each time, and so the one that compacts.
      async (engine) => {
        await afterCompaction(other, otherClock, INTERVAL_MS);
        await vi.waitFor(() => expect(engine.oldestRevision).toBe(other.oldestRevision));
      },
    );
    await other.close();
  });
});

async function expiry(open: (clock: FakeClock) => Promise<Engine>, othersTurn?: (engine: Engine) => Promise<void>): Promise<void> {
  const clock = new FakeClock();
  const engine = await open(clock);
  for (let i = 0; i < COUNT; i++) await engine.commit({ type: 'put', key: `${PREFIX}default/c${i}`, value: json(`c${i}`), expected: 0 });
  const feed = new CacheFeed(engine, { prefix: '/registry/' });
  const list = await lister(engine, feed);

  // Somewhere within an interval, which began when the store was opened.
  clock.pass(7 * POLL_MS);
  const first = await list({ limit: 2 });
  expect([first.entries.length, first.remainingItemCount]).toEqual([2, COUNT - 2]);
  const second = (): Promise<ListResult> => list({ limit: 2, continue: first.continue });

  let agedMs = 0;
  let refusal: ApiError | undefined;
  while (refusal === undefined && agedMs < 2 * INTERVAL_MS) {
    agedMs += POLL_MS;
    const isAtInterval = (agedMs + 7 * POLL_MS) % INTERVAL_MS === 0;
    if (isAtInterval && !othersTurn) await afterCompaction(engine, clock, POLL_MS);
    else {
      if (isAtInterval) await othersTurn?.(engine);
      clock.pass(POLL_MS);
    }
    await engine.currentRevision();
    refusal = await second().then(
      () => undefined,
      (error: ApiError) => error,
    );
  }
  expect(agedMs).toBeGreaterThanOrEqual(INTERVAL_MS);
  expect(agedMs).toBeLessThan(2 * INTERVAL_MS);
  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal!.status).toMatchObject({
    code: 410,
    reason: 'Expired',
    message: expect.stringMatching(/^The provided continue parameter is too old to display a consistent list result\. .* and now may show up in the list\.$/),
  });

  await expectInconsistentRest(list, refusal!, first);
  feed.close();
  await engine.close();
}

/** The token of the refusal goes on from the same key, in the newest state, whose own tokens are consistent again. */
async function expectInconsistentRest(list: (options: Partial<ListOptions>) => Promise<ListResult>, refusal: ApiError, first: ListResult): Promise<void> {
  const token = refusal.status.metadata!['continue'] as string;
  expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toEqual({ v: 'meta.k8s.io/v1', rv: -1, start: '/default/c1\0' });
  const names: string[] = [];
  const revisions = new Set<number>();
  for (let next = token; next !== '';) {
    const page = await list({ limit: 2, continue: next });
    names.push(...page.entries.map(({ key }) => key.slice(`${PREFIX}default/`.length)));
    revisions.add(page.revision);
    expect(page.remainingItemCount).toBe(page.continue === '' ? undefined : COUNT - 2 - names.length);
    next = page.continue;
  }
  expect(names).toEqual(Array.from({ length: COUNT - 2 }, (_, i) => `c${i + 2}`));
  expect(revisions.size).toBe(1);
  expect([...revisions][0]).toBeGreaterThan(first.revision);
}

/** Lets time pass to the end of an interval, and waits for what the engine does then. */
async function afterCompaction(engine: Engine, clock: FakeClock, durationMs: number): Promise<void> {
  const noted = async (): Promise<number> => (await engine.get('compact_rev_key'))?.revision ?? 0;
  const [before, oldest] = [await noted(), engine.oldestRevision];
  clock.pass(durationMs);
  await vi.waitFor(async () => {
    // The first time nothing is compacted.
    if (before > 0) expect(engine.oldestRevision).toBeGreaterThan(oldest);
    else expect(await noted()).toBeGreaterThan(0);
  });
}

async function lister(engine: Engine, feed: CacheFeed): Promise<(options: Partial<ListOptions>) => Promise<ListResult>> {
  const cache = openCache(feed, PREFIX, { codec: jsonCodec });
  await cache.ready;
  const store = new GenericStore({
    definition: configMaps as unknown as ResourceDefinition,
    engine,
    cache,
    codec: jsonCodec,
    keyPrefix: PREFIX,
    admission: { mutate() {}, validate() {} },
    collectsGarbage: true,
    deleteWorkers: 1,
    now: () => new Date(0),
  });
  const options: ListOptions = {
    selection: { labels: EVERY_LABEL, fields: EVERY_FIELD },
    limit: 0,
    continue: '',
    resourceVersion: '',
    resourceVersionMatch: '',
  };
  return async (given) => store.list('', { ...options, ...given });
}

const json = (name: string): Buffer => Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","namespace":"default"}}`);
