import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

/** Writes `count` lines of one message at each of these milliseconds. */
function linesOf(atMs: readonly number[], count: number): string[] {
  const lines: string[] = [];
  let nowMs = 0;
  const logger = createLogger({ format: 'json', verbosity: 2, write: (line) => lines.push(line), now: () => new Date(nowMs) });
  for (nowMs of atMs) for (let index = 0; index < count; index++) logger.error('A request failed', { index });
  return lines;
}

test('of one message, fifty lines are written a second; the next one says how many were left out', () => {
  const lines = linesOf([0, 1000], 200).map((line) => JSON.parse(line) as { msg: string; count?: number; message?: string });
  expect(lines).toHaveLength(101);
  expect(lines[50]).toMatchObject({ msg: 'Lines were left out of the log, since there were too many alike', message: 'A request failed', count: 150 });
});

test('other messages, and lines that were asked for, are not held back', () => {
  const lines: string[] = [];
  const logger = createLogger({ format: 'text', verbosity: 2, write: (line) => lines.push(line), now: () => new Date(0) });
  for (let index = 0; index < 100; index++) logger.verbose(2, 'HTTP');
  for (let index = 0; index < 100; index++) logger.warn(`about ${index}`);
  expect(lines).toHaveLength(200);
});

test('the verbosity of all modules can be changed; a module keeps what --vmodule gives it', () => {
  const lines: string[] = [];
  const logger = createLogger({ format: 'text', verbosity: 0, verbosityOf: (name) => (name === 'trace' ? 2 : 0), write: (line) => lines.push(line) });
  const [trace, http] = [logger.module('trace'), logger.module('httplog')];
  http.verbose(3, 'not yet');
  logger.verbosity = 3;
  http.verbose(3, 'now');
  logger.verbosity = 0;
  trace.verboseLines(2, ['first', 'second\nforged']);
  http.verbose(3, 'no more');
  expect(lines.map((line) => line.slice(line.indexOf(']') + 2))).toEqual(['now\n', 'first\nsecond\\nforged\n']);
});
