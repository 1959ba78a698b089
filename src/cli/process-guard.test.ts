import { expect, test } from 'vitest';
import type { Logger } from '../compose/logger.ts';
import { guardProcess, isPeerFault } from './process-guard.ts';

const coded = (code: string): Error => Object.assign(new Error(code), { code });

test.each([
  [coded('ECONNRESET'), true],
  [coded('EPIPE'), true],
  [coded('ERR_HTTP2_STREAM_ERROR'), true],
  [coded('ERR_SSL_WRONG_VERSION_NUMBER'), true],
  [coded('HPE_INVALID_METHOD'), true],
  [new DOMException('aborted', 'AbortError'), true],
  [new TypeError('x is not a function'), false],
  [coded('ENOSPC'), false],
  [coded('ERR_ASSERTION'), false],
  ['a text', false],
])('%s', (fault, isPeers) => expect(isPeerFault(fault)).toBe(isPeers));

test('ends the process for slips of ours only, after it was logged', () => {
  const told: unknown[] = [];
  const logger = { error: (message: string) => void told.push(message) } as unknown as Logger;
  const known = process.listeners('uncaughtException');
  const stop = guardProcess(logger, (code) => void told.push(code));
  const report = process.listeners('uncaughtException').find((listener) => !known.includes(listener))!;
  report(coded('ECONNRESET'), 'uncaughtException');
  expect(told).toEqual(['A connection broke outside of any request']);
  report(new TypeError('x'), 'uncaughtException');
  expect(told.slice(1)).toEqual(['A fault outside of any request: the server ends', 2]);
  stop();
  expect(process.listeners('uncaughtException')).toEqual(known);
});
