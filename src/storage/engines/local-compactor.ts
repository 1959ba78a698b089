import type { Clock, Timer } from '../../util/clock.ts';
import type { Engine } from '../engine.ts';
import { COMPACT_KEY } from './compact-key.ts';

/**
 * Forgets, once an interval, the states that are older than one, as upstream's compactor does in etcd (apiserver/pkg/storage/etcd3/compact.go). A state is so kept for
 * one interval at least and for two at most, whoever asks for it and however often. The note of each compaction is a write of its own, which moves the revision
 * of a store that nobody else writes to: a list that goes on after its token has expired has another resourceVersion than the one before.
 */
export class LocalCompactor {
  readonly #engine: Engine;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  #timer: Timer;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** The store's revision an interval ago; undefined before the first. */
  #notedRevision: number | undefined;

  constructor(engine: Engine, intervalMs: number, clock: Clock) {
    this.#engine = engine;
    this.#intervalMs = intervalMs;
    this.#clock = clock;
    this.#timer = this.#wait();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer.cancel();
    await this.#running;
  }

  #wait(): Timer {
    return this.#clock.after(this.#intervalMs, () => {
      if (this.#isStopped) return;
      this.#timer = this.#wait();
      // A store that can not be written is told of by its health check; the next interval tries again.
      this.#running = this.#running.then(() => this.#compact()).catch(() => undefined);
    });
  }

  async #compact(): Promise<void> {
    const oldest = this.#notedRevision;
    const current = await this.#engine.get(COMPACT_KEY);
    const value = Buffer.from(String(oldest ?? 0));
    this.#notedRevision = await this.#engine.commit({ type: 'put', key: COMPACT_KEY, value, expected: current?.revision ?? 0 });
    // The state of that revision itself stays.
    if (oldest !== undefined) await this.#engine.compact(oldest + 1);
  }
}
