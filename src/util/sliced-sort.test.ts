import { expect, test } from 'vitest';
import { sortedInSteps } from './sliced-sort.ts';

/** Those of one tens digit are the same to it. */
const byTens = (a: number, b: number): number => Math.floor(a / 10) - Math.floor(b / 10);

test.each([0, 1, 500, 501, 1_000, 7_919])('%d items come out as toSorted gives them, equal ones in their order', (count) => {
  const items = Array.from({ length: count }, (_, index) => (index * 7_907) % 5_003);
  const steps = sortedInSteps(items, byTens);
  let pauses = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      expect(value).toEqual(items.toSorted(byTens));
      break;
    }
    pauses++;
  }
  expect(pauses).toBeGreaterThanOrEqual(Math.floor((count - 1) / 500));
});
