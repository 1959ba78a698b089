/** Remembers values for a time; beyond `maxEntries`, the ones that were not asked for the longest go first. */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, { value: V; expiresAtMs: number }>();
  readonly #maxEntries: number;
  readonly #nowMs: () => number;

  constructor(maxEntries: number, nowMs: () => number = Date.now) {
    this.#maxEntries = maxEntries;
    this.#nowMs = nowMs;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAtMs <= this.#nowMs()) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Nothing is kept for no time. */
  set(key: string, value: V, ttlMs: number): void {
    if (ttlMs <= 0) return;
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(key, { value, expiresAtMs: this.#nowMs() + ttlMs });
  }
}
