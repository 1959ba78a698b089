import { describe, expect, test } from 'vitest';
import { dealHand, hashFlow } from './dealer.ts';
import { DemandIntegrator, SeatDemand } from './demand.ts';
import { RetryAfter } from './retry-after.ts';
import { allocateSeats } from './seat-allocation.ts';

describe('a hand', () => {
  test('holds different cards of the deck, the same for the same flow', () => {
    for (let i = 0; i < 200; i++) {
      const hand = dealHand(hashFlow('schema', `user-${i}`), 64, 6);
      expect(new Set(hand).size).toBe(6);
      expect(hand.every((card) => card >= 0 && card < 64)).toBe(true);
      expect(dealHand(hashFlow('schema', `user-${i}`), 64, 6)).toEqual(hand);
    }
  });

  test('is dealt from the hash by upstream’s rule', () => {
    // 5 = 0·128 + 5, then nothing is left: the lowest cards that remain.
    expect(dealHand(5n, 128, 3)).toEqual([5, 0, 1]);
    expect(dealHand(0n, 4, 4)).toEqual([0, 1, 2, 3]);
  });

  test('of every card, each comes about as often', () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let i = 0; i < 4000; i++) for (const card of dealHand(hashFlow('s', String(i)), 16, 4)) counts[card]!++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('allocation', () => {
  test('gives everyone the same part of its target', () => {
    const allocation = allocateSeats(30, [
      { lower: 0, upper: 100, target: 10 },
      { lower: 0, upper: 100, target: 20 },
      { lower: 0, upper: 100, target: 30 },
    ]);
    expect(allocation!.seats.map(Math.round)).toEqual([5, 10, 15]);
    expect(allocation!.fairFraction).toBeCloseTo(0.5);
  });

  test('within bounds, and the rest is shared by those who are free', () => {
    const { seats } = allocateSeats(100, [
      { lower: 40, upper: 50, target: 40 },
      { lower: 0, upper: 10, target: 30 },
      { lower: 5, upper: 100, target: 20 },
    ])!;
    expect(seats.map(Math.round)).toEqual([50, 10, 40]);
  });

  test('there is none where the bounds forbid it', () => {
    expect(allocateSeats(10, [{ lower: 11, upper: 20, target: 11 }])).toBeUndefined();
    expect(allocateSeats(30, [{ lower: 1, upper: 20, target: 11 }])).toBeUndefined();
    expect(allocateSeats(11, [{ lower: 11, upper: 20, target: 11 }])!.seats).toEqual([11]);
    expect(allocateSeats(20, [{ lower: 11, upper: 20, target: 11 }])!.seats.map(Math.round)).toEqual([20]);
  });
});

test('demand is integrated over time', () => {
  const integrator = new DemandIntegrator(0);
  integrator.set(10, 0);
  integrator.set(20, 1000);
  integrator.set(0, 2000);
  expect(integrator.take(4000)).toEqual({ durationSeconds: 4, highest: 20, average: 7.5, deviation: expect.closeTo(8.29, 2) });
  expect(integrator.take(5000)).toEqual({ durationSeconds: 1, highest: 0, average: 0, deviation: 0 });
});

test('smoothed demand rises at once and falls slowly', () => {
  const demand = new SeatDemand();
  demand.update({ durationSeconds: 10, highest: 30, average: 20, deviation: 5 });
  expect(demand.smoothed).toBe(25);
  demand.update({ durationSeconds: 10, highest: 0, average: 0, deviation: 0 });
  expect(demand.smoothed).toBeCloseTo(25 * 0.977);
});

test('patience doubles while many are refused, and comes back', () => {
  const retryAfter = new RetryAfter();
  const waits: number[] = [];
  for (let second = 100; second < 160; second++) {
    for (let i = 0; i < 200; i++) retryAfter.recordRefusal(second);
    waits.push(retryAfter.seconds);
  }
  expect(waits[0]).toBe(1);
  expect(Math.max(...waits)).toBe(32);
  for (let second = 200; second < 1000; second += 10) retryAfter.recordRefusal(second);
  expect(retryAfter.seconds).toBe(1);
});
