import { nextTurn } from '../../util/time-slice.ts';
import type { Clock, Timer } from '../../util/clock.ts';
import type { Engine } from '../engine.ts';
import type { ResourceStorageMetrics } from '../storage-metrics.ts';
import type { ObjectCache } from './cache.ts';

/* DetectCacheInconsistency: a cache that has lost an event serves what is not there (apiserver/pkg/storage/cacher/delegator.go consistencyChecker). */

/** The time between two checks of a cache, and up to half of it more. */
const PERIOD_MS = 5 * 60_000;
const JITTER = 0.5;
const PAGE = 500;

export interface ConsistencyOptions {
  engine: Engine;
  cache: ObjectCache;
  /** Of all its keys. */
  prefix: string;
  clock: Clock;
  metrics?: ResourceStorageMetrics | undefined;
  /** Told of a cache that differs from its store, after which it is read anew. */
  report(message: string, details: Record<string, unknown>): void;
  /** In [0, 1). */
  random?: () => number;
}

/** Compares a cache with its store from time to time, at a revision of the cache, until it is closed. */
export class ConsistencyChecker {
  readonly #options: ConsistencyOptions;
  #timer: Timer;
  #isClosed = false;

  constructor(options: ConsistencyOptions) {
    this.#options = options;
    this.#timer = this.#later();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
  }

  /** Counted as upstream counts it. */
  async check(): Promise<'success' | 'failure' | 'error'> {
    const { cache, prefix, metrics, report } = this.#options;
    const status = await this.#outcome();
    if (this.#isClosed) return 'error';
    metrics?.consistencyChecked(typeof status === 'string' ? status : 'failure');
    if (typeof status === 'string') return status;
    report('A cache is not what is stored; it is read anew', { prefix, resourceVersion: cache.revision, ...status });
    await cache.reload();
    return 'failure';
  }

  #later(): Timer {
    const { clock, random = Math.random } = this.#options;
    return clock.after(PERIOD_MS * (1 + JITTER * random()), () => {
      void this.check().finally(() => {
        if (!this.#isClosed) this.#timer = this.#later();
      });
    });
  }

  async #outcome(): Promise<'success' | 'error' | Difference> {
    const { cache } = this.#options;
    if (!cache.isSynced) return 'error';
    try {
      return (await this.#difference(cache.revision)) ?? 'success';
    } catch {
      // The revision is gone meanwhile, or the store does not answer: the next check will tell.
      return 'error';
    }
  }

  async #difference(revision: number): Promise<Difference | undefined> {
    const { cache, engine, prefix } = this.#options;
    let after: string | undefined;
    for (;;) {
      const from = after === undefined ? {} : { after };
      const cached = cache.list(prefix, { revision, limit: PAGE, ...from }).entries;
      const { items } = await engine.range(prefix, { revision, limit: PAGE, ...from });
      for (let i = 0; i < Math.max(cached.length, items.length); i++) {
        const [own, stored] = [cached[i], items[i]];
        if (own?.key !== stored?.key || own?.revision !== stored?.revision)
          return { cached: own && `${own.key}@${own.revision}`, stored: stored && `${stored.key}@${stored.revision}` };
      }
      if (cached.length < PAGE) return undefined;
      after = cached.at(-1)!.key;
      await nextTurn();
    }
  }
}

/** The first object that is not the same in both. */
interface Difference {
  cached: string | undefined;
  stored: string | undefined;
}
