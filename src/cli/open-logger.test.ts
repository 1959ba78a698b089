import { expect, test, vi } from 'vitest';
import { complete } from '../options/completion.ts';
import { parseFlags } from '../options/flags/parser.ts';
import type { Logger } from '../compose/logger.ts';
import { openLogger } from './open-logger.ts';

const ALPHA = '--feature-gates=LoggingAlphaOptions=true';

function open(...flags: string[]) {
  const said = { stdout: [] as string[], stderr: [] as string[] };
  const output = { stdout: (text: string) => void said.stdout.push(text), stderr: (text: string) => void said.stderr.push(text), columns: 0 };
  return { said, ...openLogger(complete(parseFlags(['--storage-backend=memory', ...flags])), output) };
}

function say(logger: Logger): void {
  logger.info('one');
  logger.warn('two');
  logger.error('three');
}

const lengths = ({ stdout, stderr }: { stdout: string[]; stderr: string[] }): [number, number] => [stdout.length, stderr.length];

test.each([
  [[], [0, 3]],
  [['--logging-format=json'], [0, 3]],
  [
    [ALPHA, '--log-text-split-stream'],
    [1, 2],
  ],
  [
    [ALPHA, '--log-text-split-stream', '--logging-format=json'],
    [0, 3],
  ],
  // A JSON log has no warnings.
  [
    [ALPHA, '--log-json-split-stream', '--logging-format=json'],
    [2, 1],
  ],
])('%j: lines on stdout and stderr', (flags, counts) => {
  const { said, logger, close } = open(...flags);
  say(logger);
  close();
  expect(lengths(said)).toEqual(counts);
});

test('info lines are held back until the buffer is full, the time has come, or the end', () => {
  vi.useFakeTimers();
  try {
    const { said, logger, close } = open(ALPHA, '--log-text-split-stream', '--log-text-info-buffer-size=1Ki', '--log-flush-frequency=2s');
    say(logger);
    expect(lengths(said)).toEqual([0, 2]);
    vi.advanceTimersByTime(2000);
    expect(lengths(said)).toEqual([1, 2]);
    for (let i = 0; i < 30; i++) logger.info('a line');
    expect(said.stdout).toHaveLength(2);
    expect(Buffer.byteLength(said.stdout[1]!)).toBeLessThanOrEqual(1024);
    logger.info('x'.repeat(2000));
    expect(said.stdout).toHaveLength(4);
    logger.info('last');
    close();
    expect(said.stdout).toHaveLength(5);
    expect(said.stdout.join('').match(/\n/g)).toHaveLength(33);
  } finally {
    vi.useRealTimers();
  }
});

test('they are alpha', () => {
  expect(() => open('--log-json-split-stream', '--log-text-info-buffer-size=5')).toThrow(
    'options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled\noptions.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled',
  );
});

test.each([
  ['httplog=3', 'httplog', 3],
  ['httplog=3', 'healthz', 1],
  ['http*=4,httplog=5', 'httplog', 4],
  ['h?alth[a-z]=2', 'healthz', 2],
  ['http.og=3', 'httplog', 1],
  ['[=3', 'httplog', 1],
  ['httplog=0', 'httplog', 1],
])('--vmodule=%s gives %s verbosity %i, with -v=1', (vmodule, module, verbosity) => {
  const { said, logger } = open('-v=1', `--vmodule=${vmodule}`);
  const own = logger.module(module);
  expect(own.verbosity).toBe(verbosity);
  own.verbose(verbosity, 'shown');
  own.verbose(verbosity + 1, 'not shown');
  expect(said.stderr).toHaveLength(1);
});
