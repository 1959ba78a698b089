/*
 * Buckets of a native histogram (the gate NativeHistograms): exponential ones that exist where something was observed, in place of a fixed few. The format is
 * that of client_model's Histogram; factor and number are upstream's (component-base/metrics/internal/nativehistograms.go: each bucket at most a tenth wider
 * than the one before, 160 at most).
 */

/** Each power of two has 2^schema buckets. */
const FIRST_SCHEMA = 3;
const LEAST_SCHEMA = -4;
const MAX_BUCKETS = 160;
/** Values this small count as zero. */
export const ZERO_THRESHOLD = 2 ** -128;

/** A run of buckets: how many are left out before it, and how many it has. */
export interface BucketSpan {
  readonly offset: number;
  readonly length: number;
}

/** The counts of the buckets of all spans, each as what it is more than the one before. */
export interface BucketRun {
  readonly spans: readonly BucketSpan[];
  readonly deltas: readonly number[];
}

export class NativeBuckets {
  schema = FIRST_SCHEMA;
  zeroCount = 0;
  #positive = new Map<number, number>();
  #negative = new Map<number, number>();

  observe(value: number): void {
    if (Number.isNaN(value)) return;
    const size = Math.abs(value);
    if (size <= ZERO_THRESHOLD) {
      this.zeroCount++;
      return;
    }
    const buckets = value > 0 ? this.#positive : this.#negative;
    const index = bucketOf(size, this.schema);
    buckets.set(index, (buckets.get(index) ?? 0) + 1);
    // One merge may not be enough where all of them are odd neighbours.
    while (this.#positive.size + this.#negative.size > MAX_BUCKETS && this.schema > LEAST_SCHEMA) this.#widen();
  }

  reset(): void {
    this.schema = FIRST_SCHEMA;
    this.zeroCount = 0;
    this.#positive.clear();
    this.#negative.clear();
  }

  positive(): BucketRun {
    return runOf(this.#positive);
  }

  negative(): BucketRun {
    return runOf(this.#negative);
  }

  /** Two buckets become one. */
  #widen(): void {
    this.schema--;
    this.#positive = merged(this.#positive);
    this.#negative = merged(this.#negative);
  }
}

/** The bucket whose upper bound, 2^(index / 2^schema), is the first that is not below the value. */
function bucketOf(value: number, schema: number): number {
  if (value === Infinity) return bucketOf(Number.MAX_VALUE, schema) + 1;
  const width = 2 ** schema;
  const index = Math.ceil(Math.log2(value) * width);
  // Logarithms are rounded: a value on a bound belongs below it.
  if (value <= 2 ** ((index - 1) / width)) return index - 1;
  return value > 2 ** (index / width) ? index + 1 : index;
}

function merged(buckets: ReadonlyMap<number, number>): Map<number, number> {
  const wider = new Map<number, number>();
  for (const [index, count] of buckets) {
    const into = Math.ceil(index / 2);
    wider.set(into, (wider.get(into) ?? 0) + count);
  }
  return wider;
}

/** Up to so many empty buckets cost less than a span of their own. */
const GAP = 2;

function runOf(buckets: ReadonlyMap<number, number>): BucketRun {
  const spans: { offset: number; length: number }[] = [];
  const deltas: number[] = [];
  let [next, previous] = [0, 0];
  const append = (count: number): void => {
    spans.at(-1)!.length++;
    deltas.push(count - previous);
    previous = count;
  };
  for (const [index, count] of [...buckets].sort(([a], [b]) => a - b)) {
    const gap = index - next;
    if (spans.length === 0 || gap > GAP) spans.push({ offset: gap, length: 0 });
    else for (let i = 0; i < gap; i++) append(0);
    append(count);
    next = index + 1;
  }
  return { spans, deltas };
}
