import { createHash } from 'node:crypto';

/** 64 bits that stand for a flow: where its requests queue depends on nothing else. */
export function hashFlow(schema: string, distinguisher: string): bigint {
  return createHash('sha256').update(schema).update('\0').update(distinguisher).digest().readBigUInt64LE(0);
}

/**
 * Shuffle sharding (apiserver/pkg/util/shufflesharding): deals a hand of different queues out of a deck. Two flows rarely hold the same hand, so one
 * that fills all of its queues leaves most others some of theirs.
 */
export function dealHand(hash: bigint, deckSize: number, handSize: number): number[] {
  const remainders: number[] = [];
  let left = hash;
  for (let i = 0; i < handSize; i++) {
    const size = BigInt(deckSize - i);
    remainders.push(Number(left % size));
    left /= size;
  }
  return remainders.map((remainder, i) => {
    let card = remainder;
    for (let j = i; j > 0; j--) if (card >= remainders[j - 1]!) card++;
    return card;
  });
}
