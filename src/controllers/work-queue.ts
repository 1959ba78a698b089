import type { ControllerOptions } from './controller.ts';
import type { QueueMetrics, QueueMetricsOf } from './work-queue-metrics.ts';
import { type Timer, systemClock } from '../util/clock.ts';
import { onAbort } from '../util/on-abort.ts';

const FIRST_RETRY_MS = 5;
const LAST_RETRY_MS = 60_000;

export interface WorkQueueOptions extends Pick<ControllerOptions, 'signal' | 'report' | 'clock'> {
  /** What metrics call it. */
  name: string;
  /** How many keys are worked on at once. */
  workers?: number;
  /** Absent where nothing is counted. */
  queueMetrics?: QueueMetricsOf | undefined;
}

/** Answers in how many milliseconds the key is to be looked at again, where it is; what it throws is reported, and tried again after ever longer waits. */
export type Work = (key: string) => Promise<number | void>;

/**
 * Keys to be looked at, each once however often it was added, and never by two workers at a time (client-go/util/workqueue). Work begins in a later turn of
 * the event loop: whoever adds a key is not kept waiting, and what is added together is done together.
 */
export class WorkQueue {
  readonly #work: Work;
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { timer: Timer; dueMs: number }>();
  readonly #metrics: QueueMetrics | undefined;
  #isScheduled = false;
  #idleListeners: (() => void)[] = [];

  constructor(work: Work, options: WorkQueueOptions) {
    this.#work = work;
    this.#options = options;
    this.#metrics = options.queueMetrics?.(options.name);
    onAbort(options.signal, () => this.#stop());
  }

  add(key: string): void {
    if (this.#options.signal.aborted) return;
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    this.#metrics?.added(key);
    this.#schedule();
  }

  /** The earliest of several times for a key counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#options.signal.aborted) return;
    const { clock = systemClock } = this.#options;
    const dueMs = clock.now() + delayMs;
    const planned = this.#timers.get(key);
    if (planned && planned.dueMs <= dueMs) return;
    planned?.timer.cancel();
    const timer = clock.after(delayMs, () => {
      this.#timers.delete(key);
      this.add(key);
    });
    this.#timers.set(key, { timer, dueMs });
  }

  /** Resolves when no key waits or is worked on; those with a time are not waited for. */
  idle(): Promise<void> {
    if (this.#waiting.size === 0 && this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#idleListeners.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    const workers = this.#options.workers ?? 1;
    for (const key of this.#waiting) {
      if (this.#running.size >= workers) break;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      this.#metrics?.started(key);
      void this.#run(key);
    }
    if (this.#waiting.size > 0 || this.#running.size > 0) return;
    for (const resolve of this.#idleListeners.splice(0)) resolve();
  }

  async #run(key: string): Promise<void> {
    try {
      const againMs = await this.#work(key);
      this.#failures.delete(key);
      if (typeof againMs === 'number') this.addAfter(key, againMs);
    } catch (error) {
      this.#retry(key, error as Error);
    } finally {
      this.#running.delete(key);
      this.#metrics?.done(key);
      // Where work waits for nothing, all of it would be done in one turn, and everybody else would wait.
      this.#schedule();
    }
  }

  #retry(key: string, error: Error): void {
    if (this.#options.signal.aborted) return;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#options.report(error);
    this.#metrics?.retried();
    this.addAfter(key, Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS));
  }

  #stop(): void {
    for (const { timer } of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    this.#waiting.clear();
    this.#metrics?.cleared();
    this.#failures.clear();
    this.#begin();
  }
}
