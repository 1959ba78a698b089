import type { Column, Row } from './table-rows.ts';

const SAMPLE = 200;
const MIN_CHARACTERS = 5;
const MAX_CHARACTERS = 44;

/** How wide each column should be, in characters: as its widest cell among the first rows, within bounds. */
export function columnWidths(columns: readonly Column[], rows: readonly Row[]): number[] {
  const sample = rows.slice(0, SAMPLE);
  return columns.map(({ name }, index) => {
    const widest = Math.max(name.length + 2, ...sample.map(({ cells }) => textOf(cells[index]).length));
    return Math.min(MAX_CHARACTERS, Math.max(MIN_CHARACTERS, widest));
  });
}

export const textOf = (cell: unknown): string => (cell === null || cell === undefined ? '' : String(cell));
