import { LIMITS } from '../util/limits.ts';
import { BudgetExceeded, StepBudget } from '../util/step-budget.ts';
import type { CelValue } from './values.ts';

/** Values of variables by name. Only own properties count. */
export type Activation = Readonly<Record<string, CelValue>>;

/** What one evaluation carries along. */
export interface EvaluationFrame {
  readonly variables: Activation;
  /** Variables of comprehensions, by the slot that the planner gave them; undefined where a bound name was not needed yet. */
  readonly locals: (CelValue | undefined)[];
  cost: number;
  readonly costLimit: number;
  iterations: number;
  /** Steps that regular expressions have taken. */
  regexpSteps: number;
  readonly isInterrupted: (() => boolean) | undefined;
}

/** A part of an expression, ready to run. Errors are answered, not thrown. */
export type PlannedExpression = (frame: EvaluationFrame) => CelValue;

/** Ends an evaluation that costs too much or takes too long. */
export class Cancelled extends Error {
  readonly reason: 'costLimitExceeded' | 'interrupted';

  constructor(reason: Cancelled['reason']) {
    super(reason === 'interrupted' ? 'operation interrupted' : 'operation cancelled: actual cost limit exceeded');
    this.reason = reason;
  }
}

export function charge(frame: EvaluationFrame, cost: number): void {
  frame.cost += cost;
  if (frame.cost > frame.costLimit) throw new Cancelled('costLimitExceeded');
}

/** What a step of a regular expression costs beyond those that the cost of its call stands for. */
const UNITS_PER_EXCESS_STEP = 10;

/**
 * Runs a regular expression for a call that cost so many units. Upstream's cost model knows the lengths of text and pattern, not that `a{1000}` is as long as
 * a thousand letters: steps up to `includedSteps` are in the cost of the call, as all of them are for patterns in common use, and others are charged.
 */
export function withRegexpSteps<R>(frame: EvaluationFrame, includedSteps: number, run: (budget: StepBudget) => R): R {
  const affordable = includedSteps + Math.floor((frame.costLimit - frame.cost) / UNITS_PER_EXCESS_STEP);
  const budget = new StepBudget(Math.min(affordable, LIMITS.regexpStepsOfExpression - frame.regexpSteps));
  try {
    return run(budget);
  } catch (error) {
    throw error instanceof BudgetExceeded ? new Cancelled('costLimitExceeded') : error;
  } finally {
    frame.regexpSteps += budget.spent;
    frame.cost += Math.max(0, budget.spent - includedSteps) * UNITS_PER_EXCESS_STEP;
  }
}

/** As Kubernetes sets it (apiserver/pkg/apis/cel CheckFrequency). */
const ITERATIONS_BETWEEN_CHECKS = 100;

export function countIteration(frame: EvaluationFrame): void {
  if (++frame.iterations % ITERATIONS_BETWEEN_CHECKS === 0 && frame.isInterrupted?.()) throw new Cancelled('interrupted');
}
