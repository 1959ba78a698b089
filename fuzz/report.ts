import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, Result } from './campaign.ts';

const HEADINGS = ['target', 'inputs', 'a second', 'slowest ms', 'of bytes', 'outcomes'];

/** A row for each target, and the sums. */
export function table(results: readonly Result[]): string {
  const rows = results.map(({ target, inputs, durationMs, slowest, outcomes }) => [
    target,
    String(inputs),
    String(Math.round((inputs / durationMs) * 1000)),
    slowest.durationMs.toFixed(2),
    String(slowest.bytes),
    [...outcomes].map(([name, count]) => `${name} ${count}`).join(', '),
  ]);
  const total = results.reduce((sum, { inputs }) => sum + inputs, 0);
  const all = [HEADINGS, ...rows, ['all', String(total), '', '', '', '']];
  const widths = HEADINGS.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === 0 || column === row.length - 1 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const SHOWN_CHARACTERS = 400;

/** Enough of the input to see what it is, and the file that has all of it. */
export function describeFinding({ target, problem, input }: Finding, folder: string): string {
  const file = join(folder, `${target}-${createHash('sha256').update(input).digest('hex').slice(0, 16)}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, input);
  const text = JSON.stringify(input.toString('latin1'));
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}… (${input.length} bytes)` : text;
  return `${target}: ${problem}\n  input: ${shown}\n  saved as ${file}`;
}
