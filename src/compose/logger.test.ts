import { expect, test } from 'vitest';
import { createLogger, type LoggerSettings } from './logger.ts';

function linesOf(settings: Partial<LoggerSettings>, use: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  use(createLogger({ format: 'text', verbosity: 0, write: (line) => lines.push(line), now: () => new Date(2026, 0, 2, 3, 4, 5, 6), ...settings }));
  return lines;
}

const pid = String(process.pid).padStart(7);

test('text lines look like klog', () => {
  const lines = linesOf({}, (logger) => {
    logger.info('Serving', { url: 'https://x', port: 1 });
    logger.warn('careful');
    logger.error('broken', { error: new Error('why') });
  });
  expect(lines).toEqual([
    `I0102 03:04:05.006000 ${pid} binnacle] Serving url="https://x" port=1\n`,
    `W0102 03:04:05.006000 ${pid} binnacle] careful\n`,
    `E0102 03:04:05.006000 ${pid} binnacle] broken error="why"\n`,
  ]);
});

test('json lines', () => {
  const lines = linesOf({ format: 'json' }, (logger) => logger.info('Serving', { url: 'https://x' }));
  expect(lines.map((line) => JSON.parse(line))).toEqual([{ ts: new Date(2026, 0, 2, 3, 4, 5, 6).getTime(), v: 0, msg: 'Serving', url: 'https://x' }]);
});

test.each<[Partial<LoggerSettings>, number]>([
  [{ verbosity: 3 }, 1],
  [{ verbosity: 4 }, 2],
  [{ verbosity: 4, minimumSeverity: 'warning' }, 0],
])('with %j, of lines at 2 and 4 %i show', (settings, count) => {
  expect(linesOf(settings, (logger) => [2, 4].forEach((level) => logger.verbose(level, `at ${level}`)))).toHaveLength(count);
});

test.each(['text', 'json'] as const)('secrets do not reach a %s log, nor can a client forge a line', (format) => {
  const [line] = linesOf({ format }, (logger) =>
    logger.info('got Authorization: Bearer abc.def\nE0102 forged', { token: 's3cret', header: 'Bearer abc.def', Authorization: 'Basic Zm9v' }),
  );
  expect(line).not.toMatch(/abc\.def|s3cret|Zm9v/);
  expect(line!.trimEnd()).not.toContain('\n');
});

test.each(['text', 'json'] as const)('what a client sent does not make a %s line long', (format) => {
  const long = 'x'.repeat(1_000_000);
  const [line] = linesOf({ format }, (logger) => logger.error(`A request failed: ${long}`, { error: new Error(long), path: long }));
  expect(line!.length).toBeLessThan(31_000);
  expect(line).toContain('… (990000 more characters)');
});
