import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Output } from '../command.ts';
import { Screen, type Segment } from './screen.ts';

let written: string;
let folder: string;
beforeEach(() => {
  written = '';
  folder = mkdtempSync(join(tmpdir(), 'binnacle-screen-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const output = (columns: number, rows?: number): Output => ({ stdout: (text) => (written += text), stderr: () => undefined, columns, rows });

async function shown(lines: Segment[][], to: Output, env: NodeJS.ProcessEnv): Promise<string> {
  const screen = new Screen(to, { env });
  for (const line of lines) screen.line(...line);
  await screen.end();
  return written;
}

test('colours and widths are for terminals: what is piped is plain and whole', async () => {
  const line: Segment[] = [['10:05', 'time'], ['  a long line']];
  expect(await shown([line], output(0), { TERM: 'xterm' })).toBe('10:05  a long line\n');
  written = '';
  expect(await shown([line], output(12), { TERM: 'xterm' })).toBe('\u001B[33m10:05\u001B[0m  a lo…\n');
  written = '';
  expect(await shown([line], output(12), { TERM: 'xterm', NO_COLOR: '1' })).toBe('10:05  a lo…\n');
});

test('a path loses its beginning before a value loses its end', async () => {
  const line: Segment[] = [['10:05  '], ['spec.template.spec.containers[0].image', 'path'], [': '], ['"web:1"', 'removed'], [' → '], ['"web:2"', 'added']];
  const text = await shown([line], output(50), { NO_COLOR: '1' });
  expect(text).toBe('10:05  …pec.containers[0].image: "web:1" → "web:2"\n');
});

test('what is more than fits on the terminal goes through the pager', async () => {
  const file = join(folder, 'paged');
  const lines = Array.from({ length: 30 }, (_, index): Segment[] => [[`line ${index}`]]);
  expect(await shown(lines, output(80, 10), { PATH: process.env['PATH'], PAGER: `cat > ${file}`, NO_COLOR: '1' })).toBe('');
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(31);
  written = '';
  expect(await shown(lines.slice(0, 5), output(80, 10), { PAGER: `cat > ${file}-2`, NO_COLOR: '1' })).toBe('line 0\nline 1\nline 2\nline 3\nline 4\n');
});

test('who leaves the pager is told nothing more', async () => {
  const screen = new Screen(output(80, 2), { env: { PATH: process.env['PATH'], PAGER: 'true' } });
  for (let count = 0; !screen.isClosed; count++) {
    screen.line([`line ${count}`]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await screen.end();
  expect(written).toBe('');
});
