import { type Clock, systemClock } from '../../../util/clock.ts';
import { UNWELL_KEPT_MS, WELL_KEPT_MS } from './probe.ts';
import type { KmsV1Service } from './v1-service.ts';

const PING = Buffer.from('ping');

/** Whether a KMS v1 plug-in is well: it encrypts a word and decrypts it again. It is asked only when somebody asks for the server's health. */
export class KmsV1Probe {
  readonly #provider: string;
  readonly #service: KmsV1Service;
  readonly #clock: Clock;
  #last: { atMs: number; keptMs: number; error: Error | undefined } = { atMs: -Infinity, keptMs: UNWELL_KEPT_MS, error: undefined };
  #checking: Promise<void> | undefined;

  constructor(provider: string, service: KmsV1Service, clock: Clock = systemClock) {
    this.#provider = provider;
    this.#service = service;
    this.#clock = clock;
  }

  close(): void {
    this.#service.close();
  }

  /** Rejects where the plug-in is not well. */
  check(): Promise<void> {
    if (this.#clock.now() - this.#last.atMs < this.#last.keptMs) return this.#last.error ? Promise.reject(this.#last.error) : Promise.resolve();
    return (this.#checking ??= this.#checkNow().finally(() => (this.#checking = undefined)));
  }

  async #checkNow(): Promise<void> {
    const encrypted = await this.#section('encrypt', this.#service.encrypt(PING));
    await this.#section('decrypt', this.#service.decrypt(encrypted));
    this.#last = { atMs: this.#clock.now(), keptMs: WELL_KEPT_MS, error: undefined };
  }

  /** As upstream has it, what is remembered of a failure is the call's own error, without the words before it. */
  async #section<T>(name: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      this.#last = { atMs: this.#clock.now(), keptMs: UNWELL_KEPT_MS, error: error as Error };
      throw new Error(`failed to perform ${name} section of the healthz check for KMS Provider ${this.#provider}, error: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}
