import type { Output } from '../command.ts';

/** What takes less needs no line. */
const FIRST_AFTER_MS = 1_000;
const EVERY_MS = 100;
const BAR_WIDTH = 24;

export interface ProgressLine {
  /** Called for every step; draws a few times a second. */
  update(done: number, total: number): void;
  /** Removes the line. */
  end(): void;
}

/** A line on the terminal that says how far a long work is; nothing where the output is none. */
export function progressLine(label: string, { stderr, columns }: Output, now: () => number = () => performance.now()): ProgressLine {
  let drawsAtMs = now() + FIRST_AFTER_MS;
  let isDrawn = false;
  return {
    update(done, total) {
      if (columns === 0 || now() < drawsAtMs) return;
      drawsAtMs = now() + EVERY_MS;
      isDrawn = true;
      stderr(`\r${line(label, done, total).slice(0, columns - 1)}`);
    },
    end() {
      if (isDrawn) stderr(`\r${' '.repeat(columns - 1)}\r`);
      isDrawn = false;
    },
  };
}

function line(label: string, done: number, total: number): string {
  const part = total === 0 ? 1 : Math.min(done / total, 1);
  const filled = Math.round(part * BAR_WIDTH);
  return `${label} [${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}] ${Math.floor(part * 100)} % (${done} of ${total})`;
}
