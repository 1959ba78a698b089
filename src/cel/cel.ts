import { check, type CheckedExpr } from './checker.ts';
import { estimateCost } from './cost/estimate.ts';
import type { SizeEstimator } from './cost/node.ts';
import type { CostEstimate } from './cost/range.ts';
import type { Environment } from './environment.ts';
import { Cancelled, type Activation, type PlannedExpression, type EvaluationFrame } from './frame.ts';
import { parse } from './parser.ts';
import { PlanError, planExpression } from './planner.ts';
import { CelErrors, Source } from './source.ts';
import type { CelType } from './types.ts';
import { validateLiterals } from './validators.ts';
import { CelError, type CelValue } from './values.ts';
import { type SlicedWork, runAtOnce } from '../util/time-slice.ts';

/** The default limit of one evaluation (apiserver/pkg/apis/cel PerCallLimit). */
export const DEFAULT_COST_LIMIT = 1_000_000;

export interface EvaluationOptions {
  /** Units that this evaluation may cost. */
  costLimit?: number;
  /** Asked every hundred iterations of comprehensions; true ends the evaluation. */
  isInterrupted?: () => boolean;
}

/** What an evaluation came to. */
export interface Evaluation {
  /** An error where the expression has no value for these variables. */
  readonly value: CelValue;
  /** Undefined unless the evaluation was cut off; `value` is then the error that upstream words for it. */
  readonly cancelled: Cancelled['reason'] | undefined;
  /** Units that were spent. */
  readonly cost: number;
}

/** An expression, compiled once and evaluated as often as wanted. */
export interface Program {
  readonly text: string;
  /** What it evaluates to, as far as that is known. */
  readonly resultType: CelType;
  /** The declared variables that it names. */
  readonly variables: ReadonlySet<string>;
  /** The checked expression, for those who look into it. */
  readonly checked: CheckedExpr;
  /** Never throws for what an expression or its data can do. */
  evaluate(activation: Activation, options?: EvaluationOptions): Evaluation;
  /** The least and the most that an evaluation can cost; `sizes` knows how large variables can be. */
  estimateCost(sizes: SizeEstimator): CostEstimate;
}

/** Throws CelErrors, with positions, for texts that do not parse or check; PlanError for constant parts that cannot be evaluated. */
export const compile = (text: string, environment: Environment): Program => runAtOnce(compileInSteps(text, environment));

/** The same for texts of clients: the longest takes some 15 ms, and others may have their turn between its steps. */
export function* compileInSteps(text: string, environment: Environment): SlicedWork<Program> {
  const source = new Source(text);
  const parsed = parse(source, environment);
  if (parsed.issues.length > 0) throw new CelErrors(source, parsed.issues);
  yield;
  const { checked, issues } = check(parsed.expr, environment);
  if (issues.length > 0) throw new CelErrors(source, issues);
  yield;
  const complaints = validateLiterals(checked, environment);
  if (complaints.length > 0) throw new CelErrors(source, complaints);
  yield;
  const { evaluate, localCount } = planExpression(checked, environment);
  return {
    text,
    checked,
    variables: new Set(Array.from(checked.references.values()).flatMap((reference) => (reference.kind === 'variable' ? [reference.name] : []))),
    resultType: checked.types.get(checked.expr)!,
    evaluate: (activation, options) => run(evaluate, localCount, activation, options),
    estimateCost: (sizes) => estimateCost(checked, sizes),
  };
}

function run(evaluate: PlannedExpression, localCount: number, variables: Activation, options: EvaluationOptions = {}): Evaluation {
  const frame: EvaluationFrame = {
    variables,
    locals: localCount === 0 ? NO_LOCALS : Array.from({ length: localCount }, () => undefined),
    cost: 0,
    costLimit: options.costLimit ?? DEFAULT_COST_LIMIT,
    iterations: 0,
    regexpSteps: 0,
    isInterrupted: options.isInterrupted,
  };
  try {
    return { value: evaluate(frame), cancelled: undefined, cost: frame.cost };
  } catch (error) {
    if (error instanceof Cancelled) return { value: new CelError(error.message), cancelled: error.reason, cost: frame.cost };
    // A text or a list that outgrows what the platform can hold.
    if (error instanceof RangeError) return { value: new CelError(`internal error: ${error.message}`), cancelled: undefined, cost: frame.cost };
    throw error;
  }
}

const NO_LOCALS: (CelValue | undefined)[] = [];

export { PlanError };
