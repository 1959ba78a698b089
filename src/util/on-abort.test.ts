import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from './on-abort.ts';

test('calls back once, in order, and at once where the signal has aborted', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  onAbort(controller.signal, () => calls.push('first'));
  onAbort(controller.signal, () => calls.push('second'));
  controller.abort();
  controller.abort();
  onAbort(controller.signal, () => calls.push('late'));
  expect(calls).toEqual(['first', 'second', 'late']);
});

test('whoever has stopped waiting is not called, even by one that is called before', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  const note = (): void => void calls.push('twice');
  onAbort(controller.signal, () => stopOther());
  const stopOther = onAbort(controller.signal, () => calls.push('other'));
  onAbort(controller.signal, note)();
  onAbort(controller.signal, note);
  controller.abort();
  expect(calls).toEqual(['twice']);
});

test('however many wait, the signal has one listener, and none when nobody waits', () => {
  const { signal } = new AbortController();
  const stops = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const stop of stops) stop();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  onAbort(signal, () => {});
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
});
