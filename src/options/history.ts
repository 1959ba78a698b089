import { parseDuration } from '../util/duration.ts';

/** --history: how long changes are kept, and how much. */
export interface HistoryBounds {
  maxAgeMs: number;
  maxBytes: number;
}

const UNITS: Readonly<Record<string, number>> = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };

/** Undefined for no history. Throws an Error whose message says what is wrong. */
export function parseHistoryBounds(text: string): HistoryBounds | undefined {
  if (text === '') return undefined;
  const bounds: HistoryBounds = { maxAgeMs: Infinity, maxBytes: Infinity };
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, digits, unit] = /^(\d{1,12})(Ki|Mi|Gi|Ti)$/.exec(part) ?? [];
    if (unit !== undefined) bounds.maxBytes = Math.min(bounds.maxBytes, Number(digits) * UNITS[unit]!);
    else bounds.maxAgeMs = Math.min(bounds.maxAgeMs, durationOf(part));
  }
  return bounds;
}

function durationOf(text: string): number {
  let durationMs = Number.NaN;
  try {
    durationMs = parseDuration(text);
  } catch {
    // Told below.
  }
  if (!(durationMs > 0)) throw new Error(`${JSON.stringify(text)} is neither a duration (24h) nor a size (256Mi)`);
  return durationMs;
}
