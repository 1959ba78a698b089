/** Half of all seats is divided evenly, so that every worker can begin at once with what comes to it. */
const EVEN_PART = 0.5;

/** Which part of all seats each worker has, by what its requests have or wait for. The parts add up to one. */
export function seatShares(demands: readonly number[]): number[] {
  const sum = demands.reduce((total, demand) => total + demand, 0);
  const even = 1 / demands.length;
  return demands.map((demand) => (sum === 0 ? even : EVEN_PART * even + ((1 - EVEN_PART) * demand) / sum));
}
