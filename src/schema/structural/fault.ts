import type { Comparison } from './correlation.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import type { StepBudget } from '../../util/step-budget.ts';
import type { ValuePlace } from './place.ts';

/** One fault: where below the value (`spec.list[0]`), and how it is told there. Faults without a place are told of `<nil>`, as upstream's are. */
export interface Fault {
  path: string | undefined;
  tell(errors: FieldErrors): void;
}

/** What a check found, and how many checks passed: of several failed alternatives, the one that came furthest is told. */
export interface Findings {
  faults: Fault[];
  matches: number;
  /** Shared by all checks of one validation. */
  budget: StepBudget;
  /** Runs the first match of a pattern, which compiles it. May throw Pending: see api/validation-run.ts. */
  firstMatch(match: () => boolean): boolean;
  /** Does a part of the work once, where that takes turns; not of alternatives, several of which validate the same place. May throw Pending. */
  once?: (<T>(part: string, work: () => T) => T) | undefined;
  /** The value is a default of the definition itself: see `validateValue`. */
  isOwnDefault: boolean;
  comparison: Comparison;
}

/** The message is made of the place's path when it is told: most faults are of alternatives that nobody hears of. */
export function invalidFault(place: ValuePlace, value: unknown, message: (path: string) => string): Fault {
  const path = String(place);
  return { path, tell: (errors) => errors.invalid(value, message(path)) };
}
/** Errors that upstream gives no place. */
export const faultWithoutPath = (message: string): Fault => ({ path: undefined, tell: (errors) => errors.invalid('', message) });
