import type { Clock, Timer } from '../../../util/clock.ts';
import { COMPACT_KEY } from '../compact-key.ts';
import type { EtcdClient } from './client.ts';
import type { CompactedRevision } from './compacted-revision.ts';
import { isCompacted } from './errors.ts';
import { COMPACT, TXN, decodeTxn, encodeCompaction, encodeTxn } from './messages.ts';

/**
 * Forgets, once an interval, what is older than one. Of several servers one does it: the version of a key counts the compactions, and whoever
 * counts it up from what it last knew compacts to the revision that it noted the time before; the others only note where things stand
 * (apiserver/pkg/storage/etcd3/compact.go).
 */
export class Compactor {
  readonly #client: EtcdClient;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  readonly #compacted: CompactedRevision;
  #timer: Timer;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** What the key's version was when last seen, and the store's revision then. */
  #knownVersion = 0;
  #knownRevision = 0;

  constructor(client: EtcdClient, intervalMs: number, clock: Clock, compacted: CompactedRevision) {
    this.#client = client;
    this.#intervalMs = intervalMs;
    this.#clock = clock;
    this.#compacted = compacted;
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
      // A failure is made good an interval later, by this server or another.
      this.#running = this.#running.then(() => this.#compact()).catch(() => undefined);
    });
  }

  async #compact(): Promise<void> {
    const toRevision = this.#knownRevision;
    const request = encodeTxn(
      { key: COMPACT_KEY, target: 'version', equals: this.#knownVersion },
      { type: 'put', key: COMPACT_KEY, value: Buffer.from(String(toRevision)) },
      { type: 'get', key: COMPACT_KEY },
    );
    const { succeeded, revision, found } = decodeTxn(await this.#client.write(TXN, request));
    this.#knownRevision = revision;
    this.#knownVersion = succeeded ? this.#knownVersion + 1 : (found?.version ?? 0);
    if (!succeeded) return this.#compacted.read(found?.value);
    if (toRevision === 0) return;
    try {
      await this.#client.write(COMPACT, encodeCompaction(toRevision));
    } catch (error) {
      if (!isCompacted(error)) throw error;
    }
    this.#compacted.raise(toRevision);
  }
}
