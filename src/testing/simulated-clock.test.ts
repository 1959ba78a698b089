import { expect, test } from 'vitest';
import { SimulatedClock } from './simulated-clock.ts';

test('time passes as it does, and further when it is told to', async () => {
  const clock = new SimulatedClock();
  const before = clock.now();
  await clock.advance('1h30m');
  expect(clock.now() - before).toBeGreaterThanOrEqual(5_400_000);
  expect(clock.now() - Date.now()).toBe(clock.aheadMs);
  expect(new SimulatedClock(clock.aheadMs).now()).toBeGreaterThanOrEqual(before + 5_400_000);
});

test('who waits is called at their times, in order, also those who wait again', async () => {
  const clock = new SimulatedClock();
  const start = clock.now();
  const called: [string, number][] = [];
  const note = (name: string): void => void called.push([name, Math.round((clock.now() - start) / 60_000)]);
  const again = (): void => {
    note('again');
    clock.after(19 * 60_000, again);
  };
  clock.after(19 * 60_000, again);
  clock.after(30 * 60_000, () => note('once'));
  clock.after(10 * 60_000, () => note('cancelled')).cancel();
  clock.after(118 * 60_000, () => note('later'));
  await clock.advance('1h');
  expect(called).toEqual([
    ['again', 19],
    ['once', 30],
    ['again', 38],
    ['again', 57],
  ]);
  await clock.advance(3_600_000);
  expect(called.at(-1)).toEqual(['later', 118]);
});

test('what is near comes by itself', async () => {
  const clock = new SimulatedClock();
  await clock.advance('1h');
  await new Promise<void>((resolve) => {
    const keptAlive = setInterval(() => undefined, 1_000);
    clock.after(1, () => {
      clearInterval(keptAlive);
      resolve();
    });
  });
});

test.each([-1, 'yesterday', '-1h', Infinity])('%j is refused', async (duration) => {
  await expect(new SimulatedClock().advance(duration)).rejects.toThrow(RangeError);
});
