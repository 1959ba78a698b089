/** A small generator of random numbers with a seed (mulberry32), so that what it found can be found again. */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

/** Bytes with a few of them flipped, cut out, doubled or made up. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  let mutated = Buffer.from(bytes);
  for (let count = 1 + random.below(6); count > 0; count--) {
    const at = random.below(mutated.length + 1);
    const end = Math.min(mutated.length, at + random.below(16));
    const change = random.below(5);
    if (change === 0 && at < mutated.length) mutated[at] = random.below(256);
    else if (change === 1 && at < mutated.length) mutated[at]! ^= 1 << random.below(8);
    else if (change === 2) mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(end)]);
    else if (change === 3) mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(at, end), mutated.subarray(at)]);
    else mutated = Buffer.concat([mutated.subarray(0, at), Buffer.from(random.pick(FRAGMENTS)), mutated.subarray(at)]);
  }
  return mutated;
}

const FRAGMENTS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  'null',
  '-',
  '1e9',
  '\\u0000',
  '\\ud800',
  '&a ',
  '*a',
  '<<',
  '\n',
  '\t',
  '--- ',
  '!!binary ',
  '\xff\xff\xff\xff\xff',
  '\0',
  'k8s\0',
  '__proto__',
];
