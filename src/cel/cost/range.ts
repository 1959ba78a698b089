/** The least and the most of something: of a size, or of a cost. Amounts are uint64 in cel-go and stop at its end, which stands for no bound. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export type SizeEstimate = Range;
export type CostEstimate = Range;

/** As a double, the end of uint64 is the power of two above it. */
export const UNBOUNDED = 2 ** 64;

export const UNKNOWN_SIZE: SizeEstimate = { min: 0, max: UNBOUNDED };
export const ZERO: Range = { min: 0, max: 0 };
export const ONE: Range = { min: 1, max: 1 };

export const exactly = (amount: number): Range => ({ min: amount, max: amount });

const capped = (amount: number): number => Math.min(amount, UNBOUNDED);

export const plus = (a: Range, b: Range): Range => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) });

/** Nothing times without bound is nothing. */
export const times = (a: Range, b: Range): Range => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) });

/** Rounded up. */
export const scaled = (a: Range, factor: number): Range => ({ min: capped(Math.ceil(a.min * factor)), max: capped(Math.ceil(a.max * factor)) });

export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

export const sum = (ranges: readonly Range[]): Range => ranges.reduce(plus, ZERO);
