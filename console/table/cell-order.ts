import { ageMs } from './age.ts';
import type { Cell } from './table-rows.ts';

const NUMBER = /^-?\d+(?:\.\d+)?/;
const FRACTION = /^(\d+)\/(\d+)$/;
const QUANTITY = /^(-?\d+(?:\.\d+)?)(n|u|m|k|Ki|Mi|Gi|Ti|Pi|Ei|M|G|T|P|E)?$/;
const SCALES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** What a cell is sorted by: `10` is after `9`, `1Gi` after `900Mi`, `2d` after `3h`, `1/3` before `3/3`. */
export function sortKey(cell: Cell | undefined): number | string {
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'boolean') return cell ? 1 : 0;
  if (cell === null || cell === undefined) return '';
  const fraction = FRACTION.exec(cell);
  if (fraction) return Number(fraction[1]) / Math.max(1, Number(fraction[2]));
  // `5m` may be five minutes or five thousandths; tables have ages more often.
  const age = ageMs(cell);
  if (age !== undefined) return age;
  const quantity = QUANTITY.exec(cell);
  if (quantity) return Number(quantity[1]) * (SCALES[quantity[2] ?? ''] ?? 1);
  // `2 (5m ago)`, as restarts are shown.
  const number = NUMBER.exec(cell);
  return number && cell[number[0].length] === ' ' ? Number(number[0]) : cell.toLowerCase();
}

/** Numbers come before text. */
export function compareKeys(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number') return -1;
  if (typeof b === 'number') return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
