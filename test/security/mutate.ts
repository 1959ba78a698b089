import type { Random } from '../../src/util/test-random.ts';

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
