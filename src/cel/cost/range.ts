/** The least and the most of something: of a size, or of a cost. Amounts are uint64 in cel-go and stop at its end, which stands for no bound. */
export interface CostRange {
  readonly min: number;
  readonly max: number;
}

export type SizeEstimate = CostRange;
export type CostEstimate = CostRange;

/** As a double, the end of uint64 is the power of two above it. */
export const UNBOUNDED = 2 ** 64;

export const UNKNOWN_SIZE: SizeEstimate = { min: 0, max: UNBOUNDED };
export const NO_COST: CostRange = { min: 0, max: 0 };
export const ONE: CostRange = { min: 1, max: 1 };

export const exactly = (amount: number): CostRange => ({ min: amount, max: amount });

const capped = (amount: number): number => Math.min(amount, UNBOUNDED);

export const plus = (a: CostRange, b: CostRange): CostRange => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) });

/** Nothing times without bound is nothing. */
export const times = (a: CostRange, b: CostRange): CostRange => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) });

/** Rounded up. */
export const scaled = (a: CostRange, factor: number): CostRange => ({ min: capped(Math.ceil(a.min * factor)), max: capped(Math.ceil(a.max * factor)) });

export const union = (a: CostRange, b: CostRange): CostRange => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

export const sum = (ranges: readonly CostRange[]): CostRange => ranges.reduce(plus, NO_COST);
