import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { linkSignals } from './linked-signal.ts';

test('aborts with the first of its sources, for its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = linkSignals(one.signal, other.signal);
  expect(signal.aborted).toBe(false);
  other.abort(new Error('because'));
  one.abort();
  expect(signal.reason).toEqual(new Error('because'));
  expect(linkSignals(one.signal, new AbortController().signal).signal.aborted).toBe(true);
});

test('leaves nothing behind in a source that lives longer', () => {
  const longLived = new AbortController().signal;
  for (let times = 0; times < 100; times++) linkSignals(longLived, new AbortController().signal).release();
  const short = new AbortController();
  linkSignals(longLived, short.signal);
  short.abort();
  expect(getEventListeners(longLived, 'abort')).toEqual([]);
});
