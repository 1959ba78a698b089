import type { Stored } from './engine.ts';

const FIRST_KEYS = 500;
/** As upstream's cacher lists (apiserver/pkg/storage/cacher). */
const MAX_KEYS = 10_000;
/** An answer of this size is quick to make and to take in, and large enough that the round trips do not count. */
const TARGET_BYTES = 4 * 1024 * 1024;

/** How many keys to ask a store across the network for at a time, from how large those before were: etcd walks over all that follow for each page. */
export class PageSize {
  #keys = FIRST_KEYS;

  get keys(): number {
    return this.#keys;
  }

  learn(items: readonly Stored[]): void {
    let sizeBytes = 1;
    for (const { key, value } of items) sizeBytes += key.length + value.length;
    this.#keys = Math.min(Math.max(Math.floor((TARGET_BYTES * items.length) / sizeBytes), 1), MAX_KEYS);
  }
}
