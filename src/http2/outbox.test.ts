import { describe, expect, test } from 'vitest';
import { Random } from '../util/test-random.ts';
import { Outbox, TURN_BYTES, giveBack, isReusable } from './outbox.ts';

const filled = (sizeBytes: number, value: number): Buffer => Buffer.alloc(sizeBytes, value);

describe('an outbox', () => {
  test('gives what was added as one, in order, and then is empty', () => {
    const outbox = new Outbox();
    for (const text of ['a', '', 'bc', 'd']) outbox.add(Buffer.from(text));
    expect(outbox.sizeBytes).toBe(4);
    expect(outbox.take().toString()).toBe('abcd');
    expect(outbox.sizeBytes).toBe(0);
    expect(outbox.take().length).toBe(0);
  });

  test('puts the head of an answer and a turn of its body where they leave together, without joining them', () => {
    const outbox = new Outbox();
    outbox.add(filled(200, 1));
    outbox.add(filled(TURN_BYTES, 2));
    outbox.add(filled(9, 3));
    const bytes = outbox.take();
    expect(isReusable(bytes)).toBe(true);
    expect(bytes.equals(Buffer.concat([filled(200, 1), filled(TURN_BYTES, 2), filled(9, 3)]))).toBe(true);
  });

  test('uses large memory again only when it was given back', () => {
    const outbox = new Outbox();
    const large = (): Buffer => {
      outbox.add(filled(TURN_BYTES, 7));
      return outbox.take();
    };
    const first = large();
    const second = large();
    expect(second.buffer).not.toBe(first.buffer);
    giveBack(second);
    expect(large().buffer).toBe(second.buffer);
  });

  test('takes what is larger than any turn', () => {
    const outbox = new Outbox();
    outbox.add(filled(10, 1));
    outbox.add(filled(TURN_BYTES * 3, 2));
    expect(outbox.take().equals(Buffer.concat([filled(10, 1), filled(TURN_BYTES * 3, 2)]))).toBe(true);
  });
});

test('what several connections write in turns stays apart, until it has left', () => {
  const random = new Random(11);
  const boxes = Array.from({ length: 4 }, () => ({ outbox: new Outbox(), expected: [] as Buffer[] }));
  const leaving: { bytes: Buffer; expected: Buffer }[] = [];
  for (let step = 0; step < 4000; step++) {
    const { outbox, expected } = boxes[random.below(boxes.length)]!;
    if (random.chance(0.2)) leaving.push({ bytes: outbox.take(), expected: Buffer.concat(expected.splice(0)) });
    else {
      const piece = filled(random.chance(0.1) ? random.below(TURN_BYTES) : random.below(2000), random.below(256));
      outbox.add(piece);
      expected.push(piece);
    }
    if (leaving.length > 20 || random.chance(0.1)) {
      const left = leaving.splice(random.below(leaving.length), 1)[0];
      if (!left) continue;
      expect(left.bytes.equals(left.expected)).toBe(true);
      giveBack(left.bytes);
    }
  }
  for (const { bytes, expected } of leaving) expect(bytes.equals(expected)).toBe(true);
});
