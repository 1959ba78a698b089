import { describe, expect, test } from 'vitest';
import { TimeSlice, nextTurn } from './time-slice.ts';

describe('long work in slices', () => {
  test('those who wait have one turn of the event loop each, in order', async () => {
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const turns: number[] = [];
    await Promise.all([1, 2, 3].map(() => nextTurn().then(() => turns.push(turn))));
    isOver = true;
    expect(new Set(turns).size).toBe(3);
    expect(turns).toEqual(turns.toSorted((a, b) => a - b));
  });

  test('a slice is spent after some milliseconds, and begins anew', async () => {
    const slice = new TimeSlice();
    while (!slice.isSpent);
    await slice.next();
    expect(slice.isSpent).toBe(false);
  });
});
