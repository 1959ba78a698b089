import type { Clock } from '../../../util/clock.ts';
import type { EtcdClient } from './client.ts';

/** Upstream's default (apiserver/pkg/storage/storagebackend/config.go). */
const TIMEOUT_MS = 2_000;

/** What is asked of etcd. */
export interface HealthQuestion {
  path: string;
  request: Buffer;
}

/**
 * Asks one question, upstream's a linearizable read of a key. However many ask, etcd is asked once in half the timeout: the rest get the answer before
 * (apiserver/pkg/storage/storagebackend/factory/etcd3.go newETCD3Check).
 */
export class EtcdHealthCheck {
  readonly #client: EtcdClient;
  readonly #question: HealthQuestion;
  readonly #clock: Clock;
  #checkedAtMs = -Infinity;
  #last: Promise<void> = Promise.resolve();

  constructor(client: EtcdClient, question: HealthQuestion, clock: Clock) {
    this.#client = client;
    this.#question = question;
    this.#clock = clock;
  }

  check(timeoutMs = TIMEOUT_MS): Promise<void> {
    const nowMs = this.#clock.now();
    if (nowMs - this.#checkedAtMs >= timeoutMs / 2) {
      this.#checkedAtMs = nowMs;
      this.#last = this.#ask(timeoutMs);
    }
    return this.#last;
  }

  async #ask(timeoutMs: number): Promise<void> {
    try {
      const { path, request } = this.#question;
      await this.#client.read(path, request, { timeoutMs });
    } catch (error) {
      throw new Error(`error getting data from etcd: ${(error as Error).message}`, { cause: error });
    }
  }
}
