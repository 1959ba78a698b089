import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { PROJECT_DIR } from './support/paths.ts';

/* Servers inside another program: what they leave behind when they have stopped. */

interface Outcome {
  statuses: number[];
  active: string[];
  warnings: string[];
  grownBytes: number;
}

/** Resolves when the program has ended by itself. */
async function runProgram(count: number, more: readonly string[] = []): Promise<Outcome> {
  const program = join(PROJECT_DIR, 'test/support/embedded-program.mjs');
  // Node's own warnings of things that are going away count too.
  const flags = ['--expose-gc', '--pending-deprecation', '--trace-warnings', ...more];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, program, join(inject('distDir'), 'index.js'), String(count)]);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Outcome;
}

test('after stop() nothing is under way any more, nothing was warned of, and the program ends', async () => {
  expect(await runProgram(1)).toMatchObject({ statuses: [200, 201], active: [], warnings: [] });
});

test(
  'a hundred servers, one after the other, leave nothing on the heap',
  async () => {
    // Without the machine code that V8 makes of functions that run often, which is on the heap too.
    const { grownBytes, warnings, active } = await runProgram(100, ['--no-opt', '--no-sparkplug']);
    expect({ warnings, active }).toEqual({ warnings: [], active: [] });
    expect(grownBytes).toBeLessThan(1024 * 1024);
  },
  15 * 60_000,
);
