/** Times of one kind of request, in the order in which they came. */
export class Latencies {
  #timesMs = [];
  failed = 0;

  /** Counts a request that fails; it does not end the load. */
  async time(request) {
    const startMs = performance.now();
    try {
      await request();
      this.#timesMs.push(performance.now() - startMs);
    } catch {
      this.failed++;
    }
  }

  summary() {
    const sorted = this.#timesMs.toSorted((a, b) => a - b);
    const at = (part) => sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? 0;
    return { count: sorted.length, failed: this.failed, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }
}
