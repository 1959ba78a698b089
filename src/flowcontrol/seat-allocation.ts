/** One level's part in sharing out the server's seats. `lower <= target`, `lower <= upper`. */
export interface AllocationItem {
  lower: number;
  upper: number;
  target: number;
}

interface Allocation {
  seats: number[];
  /** What each level gets of its target, where its bounds let it. */
  fairFraction: number;
}

const LEAST_TARGET = 0.001;
/** What multiplying and dividing may cost. */
const ROUNDING = 1e-7;

/**
 * Shares `total` seats out so that everyone gets the same fraction of its target, within its bounds (KEP-1040, "max-min fairness"; upstream's
 * conc_alloc.go). Undefined where the bounds leave no way to make the sum.
 *
 *     seats(f) = Σ clamp(f·target, lower, upper) grows with f, in straight pieces that bend where a level meets a bound:
 *     walk along the bends until the sum is reached.
 */
export function allocateSeats(total: number, demands: readonly AllocationItem[]): Allocation | undefined {
  const targets = demands.map(({ target }) => Math.max(target, LEAST_TARGET));
  const seatsAt = (fraction: number): number[] => demands.map(({ lower, upper }, i) => Math.max(lower, Math.min(upper, fraction * targets[i]!)));
  const bends = [...new Set(demands.flatMap(({ lower, upper }, i) => [lower / targets[i]!, upper / targets[i]!]))].toSorted((a, b) => a - b);
  if (demands.length === 0 || sum(seatsAt(bends[0]!)) > total + ROUNDING || sum(seatsAt(bends.at(-1)!)) < total - ROUNDING) return undefined;
  let from = bends[0]!;
  let fromSum = sum(seatsAt(from));
  for (const to of bends) {
    const toSum = sum(seatsAt(to));
    if (toSum >= total - ROUNDING) {
      const fairFraction = toSum === fromSum ? to : from + ((to - from) * (total - fromSum)) / (toSum - fromSum);
      return { seats: seatsAt(fairFraction), fairFraction };
    }
    from = to;
    fromSum = toSum;
  }
  return undefined;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
