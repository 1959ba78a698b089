import { expect, test } from 'vitest';
import { seatShares } from './seat-shares.ts';

test.each([
  [
    [0, 0],
    [0.5, 0.5],
  ],
  [
    [10, 10],
    [0.5, 0.5],
  ],
  [
    [100, 0],
    [0.75, 0.25],
  ],
  [
    [30, 10, 0, 0],
    [0.5, 0.25, 0.125, 0.125],
  ],
])('%j', (demands, shares) => {
  expect(seatShares(demands)).toEqual(shares);
});
