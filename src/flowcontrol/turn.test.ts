import { expect, test } from 'vitest';
import { FakeFlowClock } from './fake-clock.ts';
import { Turn } from './turn.ts';

test('what is put off is done in order, a little in each turn, after those who wait', () => {
  const clock = new FakeFlowClock();
  const done: string[] = [];
  const onNext = (): void => {
    clock.work(0.2);
    done.push('waiting');
  };
  const turn = new Turn(clock, { onNext });
  for (let i = 0; i < 3; i++) turn.putOff(() => done.push(`put off ${i}`));
  expect(done).toEqual([]);
  clock.turn();
  expect(done).toEqual(['waiting', 'put off 0']);
  clock.turn();
  clock.turn();
  expect(done).toEqual(['waiting', 'put off 0', 'waiting', 'put off 1', 'waiting', 'put off 2']);
});

test('a turn that nobody needs goes to what is put off', () => {
  const clock = new FakeFlowClock();
  const done: number[] = [];
  const turn = new Turn(clock, { onNext() {} });
  for (let i = 0; i < 20; i++) {
    turn.putOff(() => {
      clock.work(0.03);
      done.push(i);
    });
  }
  clock.turn();
  expect(done).toEqual([0, 1, 2, 3]);
});

test('what is put off is bounded: more is done at once', () => {
  const turn = new Turn(new FakeFlowClock(), { onNext() {} });
  let done = 0;
  for (let i = 0; i < 10_001; i++) turn.putOff(() => done++);
  expect(done).toBe(1);
});
