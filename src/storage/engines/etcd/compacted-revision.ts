import type { Clock, Timer } from '../../../util/clock.ts';
import { Compacted, type StoredEvent } from '../../engine.ts';
import { COMPACT_KEY } from '../compact-key.ts';
import type { EtcdClient } from './client.ts';
import { RANGE, decodeRange, encodeRange } from './messages.ts';
import { EtcdWatch } from './watch.ts';

const RETRY_MS = 1_000;

/**
 * What the store is compacted to, by whichever server: the note of each compaction is followed, since a continue token must end at the same time for all that
 * serve lists from their memory (apiserver/pkg/storage/etcd3/compact.go).
 */
export class CompactedRevision {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  #revision = 0;
  #watch: EtcdWatch | undefined;
  #retry: Timer | undefined;
  #isStopped = false;

  constructor(client: EtcdClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    void this.#follow();
  }

  /** 0 before the first compaction. */
  get revision(): number {
    return this.#revision;
  }

  /** The store has been compacted to this revision, whose state it still has. */
  raise(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /** Takes in what stands at COMPACT_KEY. Whatever else stands there is not a compaction's note. */
  read(note: Buffer | undefined): void {
    const text = note?.toString('latin1') ?? '';
    if (/^\d{1,15}$/.test(text)) this.raise(Number(text));
  }

  stop(): void {
    this.#isStopped = true;
    this.#retry?.cancel();
    this.#watch?.close();
  }

  async #follow(): Promise<void> {
    try {
      const { items, revision } = decodeRange(await this.#client.read(RANGE, encodeRange({ key: COMPACT_KEY })));
      if (this.#isStopped) return;
      for (const { value } of items) this.read(value);
      this.#watch = new EtcdWatch({
        client: this.#client,
        clock: this.#clock,
        prefix: COMPACT_KEY,
        from: revision + 1,
        // How far it is does not matter, so that it need not be on all keys anywhere.
        trustsProgress: true,
        sink: (events: readonly StoredEvent[]) => events.forEach(({ value }) => this.read(value)),
        onError: (error) => this.#onError(error),
      });
    } catch {
      // The engine's health tells of a store that does not answer.
      this.#followLater();
    }
  }

  #onError(error: Error): void {
    if (!(error instanceof Compacted)) return this.#followLater();
    this.raise(error.oldestRevision);
    void this.#follow();
  }

  #followLater(): void {
    if (this.#isStopped) return;
    this.#retry = this.#clock.after(RETRY_MS, () => void this.#follow());
  }
}
