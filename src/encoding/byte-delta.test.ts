import { expect, it } from 'vitest';
import { Random } from '../util/test-random.ts';
import { applyDelta, encodeDelta } from './byte-delta.ts';

/** Differences are to be met at every place of the steps in which bytes are compared. */
const SIZES = [0, 1, 63, 64, 65, 255, 256, 257, 511, 512, 513, 768, 1_024, 1_792, 4_096, 9_000, 20_000];

const changed = (random: Random, bytes: Buffer): Buffer => {
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + random.below(40));
  return Buffer.concat([bytes.subarray(0, at), Buffer.from('y'.repeat(random.below(40))), bytes.subarray(end)]);
};

it.each(SIZES)('a version of %i bytes is made from the one before, whatever has changed', (sizeBytes) => {
  const random = new Random(sizeBytes + 1);
  for (let round = 0; round < 200; round++) {
    // Half of them have the same byte everywhere, so that much is equal at other distances too.
    const before = Buffer.from(Array.from({ length: sizeBytes }, () => (round % 2 === 0 ? 120 : 97 + random.below(26))));
    let after: Buffer = before;
    for (let changes = random.below(5); changes > 0; changes--) after = changed(random, after);
    const delta = encodeDelta(before, after);
    if (delta) expect(applyDelta(before, delta).equals(after)).toBe(true);
    else expect(after.length).toBeLessThan(1_000);
  }
});

it('one difference takes its own bytes and a few more, wherever it is', () => {
  for (let at = 0; at < 2_000; at++) {
    const before = Buffer.alloc(2_000, 'x');
    const after = Buffer.from(before);
    after[at] = 121;
    expect(encodeDelta(before, after)!.length).toBeLessThan(8);
  }
});
