import type { PriorityLevel } from './priority-level.ts';
import { allocateSeats } from './seat-allocation.ts';

/**
 * Gives every level the seats that its recent demand asks for, between what it must keep and what it may borrow (KEP-1040; apf_controller.go).
 * Exempt levels are served first, the others share the rest. Answers the fair fraction.
 */
export function adjustSeats(levels: readonly PriorityLevel[], nowMs: number): number {
  for (const level of levels) level.takeDemand(nowMs);
  const total = sumOf(levels, ({ nominalSeats }) => nominalSeats);
  const exempt = levels.filter(({ isExempt }) => isExempt);
  const limited = levels.filter(({ isExempt }) => !isExempt);
  for (const level of exempt) setSeats(level, Math.max(level.leastSeats, level.demand.highest));
  const remaining = total - sumOf(exempt, ({ currentSeats }) => currentSeats);
  const leastSum = sumOf(limited, ({ leastSeats }) => leastSeats);
  const neededSum = sumOf(limited, neededSeats);
  if (remaining <= leastSum) {
    for (const level of limited) setSeats(level, level.leastSeats);
    return 0;
  }
  if (remaining <= neededSum) {
    const fraction = (remaining - leastSum) / (neededSum - leastSum);
    for (const level of limited) setSeats(level, level.leastSeats + Math.round((neededSeats(level) - level.leastSeats) * fraction));
    return 0;
  }
  return allocate(limited, total);
}

function allocate(levels: readonly PriorityLevel[], total: number): number {
  const demands = levels.map((level) => {
    const lower = neededSeats(level);
    return { lower, upper: level.mostSeats, target: Math.max(lower, level.demand.smoothed) };
  });
  const allocation = allocateSeats(total, demands);
  levels.forEach((level, i) => {
    level.targetSeats = demands[i]!.target;
    level.setSeats(allocation === undefined ? level.currentSeats : Math.round(allocation.seats[i]!));
  });
  return allocation?.fairFraction ?? 0;
}

function setSeats(level: PriorityLevel, seats: number): void {
  level.targetSeats = seats;
  level.setSeats(seats);
}

/** What a level used of its own, and at least what it does not lend. */
const neededSeats = ({ leastSeats, nominalSeats, demand }: PriorityLevel): number => Math.max(leastSeats, Math.min(nominalSeats, demand.highest));

const sumOf = (levels: readonly PriorityLevel[], seatsOf: (level: PriorityLevel) => number): number => levels.reduce((sum, level) => sum + seatsOf(level), 0);
