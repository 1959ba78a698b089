import { expect, test } from 'vitest';
import { ListTurns, changeEach, settled } from './pending.ts';

test('the items of long lists are changed once each, while others have their turn', async () => {
  const [long, short] = [Array.from({ length: 5_000 }, () => ({ count: 0 })), [{ count: 0 }]];
  const turns = new ListTurns();
  let runs = 0;
  await settled(() => {
    runs++;
    turns.begin();
    for (const [purpose, list] of [['long', long] as const, ['short', short] as const, ['long again', long] as const])
      changeEach(turns, purpose, list, (item) => {
        item.count++;
        for (const untilMs = performance.now() + 0.004; performance.now() < untilMs;);
      });
  });
  expect(runs).toBeGreaterThan(2);
  expect(new Set(long.map(({ count }) => count))).toEqual(new Set([2]));
  expect(short).toEqual([{ count: 1 }]);
});
