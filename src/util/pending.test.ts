import { expect, test } from 'vitest';
import { ListTurns, Steps, changeEach, settled } from './pending.ts';

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

const spin = (ms: number): void => {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
};

test('a step that is long itself goes on where others had their turn, and what was done before it is not done again', async () => {
  const steps = new Steps();
  const done: string[] = [];
  let runs = 0;
  const result = await settled(() => {
    runs++;
    steps.begin();
    const first = steps.do(() => done.push('first'));
    const count = steps.doResumable((mayPause) => {
      let at = 0;
      return () => {
        for (; at < 20; at++) {
          mayPause();
          spin(1);
        }
        return at;
      };
    });
    return first + count;
  });
  expect(runs).toBeGreaterThan(2);
  expect(done).toEqual(['first']);
  expect(result).toBe(21);
});

test('a step that has failed is not gone on with, and fails alike when the work is run again', () => {
  const steps = new Steps();
  let count = 0;
  const fail = (): never => {
    throw new Error(`no ${++count}`);
  };
  for (let run = 0; run < 2; run++) {
    steps.begin();
    expect(() => steps.doResumable(() => fail)).toThrow('no 1');
    expect(steps.doResumable(() => () => 'another')).toBe('another');
    expect(() => steps.do(fail)).toThrow('no 2');
    expect(steps.do(() => 'last')).toBe('last');
  }
});
