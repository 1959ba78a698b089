import { expect, test } from 'vitest';
import { FakeClock } from '../../fake-clock.ts';
import { Leases } from './leases.ts';

function leases(reuseSeconds = 60) {
  const clock = new FakeClock();
  const granted: number[] = [];
  const retired: number[] = [];
  const subject = new Leases({
    reuseSeconds,
    clock,
    grant: async (ttlSeconds) => granted.push(ttlSeconds),
    onRetired: (objects) => retired.push(objects),
  });
  return { subject, clock, granted, retired };
}

test('objects of one time to live share a lease, of a little more time, until less than theirs is left', async () => {
  const { subject, clock, granted, retired } = leases();
  expect(await subject.leaseFor(3600)).toBe(1);
  clock.pass(59_000);
  expect(await subject.leaseFor(3600)).toBe(1);
  clock.pass(1_000);
  expect(await subject.leaseFor(3600)).toBe(2);
  expect(await subject.leaseFor(100)).toBe(3);
  expect(granted).toEqual([3660, 3660, 105]);
  expect(retired).toEqual([2]);
});

test('a lease takes a thousand objects', async () => {
  const { subject, granted } = leases();
  for (let i = 0; i < 1_001; i++) await subject.leaseFor(3600);
  expect(granted).toHaveLength(2);
});

test('a lease that could not be had is asked for again', async () => {
  const clock = new FakeClock();
  const grants: (() => Promise<number>)[] = [() => Promise.reject(new Error('no leader')), () => Promise.resolve(7)];
  const subject = new Leases({ reuseSeconds: 60, clock, grant: () => grants.shift()!() });
  await expect(subject.leaseFor(3600)).rejects.toThrow('no leader');
  expect(await subject.leaseFor(3600)).toBe(7);
});
