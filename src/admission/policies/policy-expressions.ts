import { declaredEnvironment, variableType, withVariables, type Declarations } from '../../apis/admissionregistration/expression-environment.ts';
import { compileIn, type CompiledExpression, type ExpressionResult, type NamedExpression } from '../../apis/admissionregistration/expressions.ts';
import type { MatchCondition } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { Activation } from '../../cel/frame.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { aggregateMessage } from '../../api/aggregate-message.ts';
import { PolicyEvaluation, MATCH_CONDITIONS_COST_BUDGET, OutOfBudget } from './evaluation.ts';

/** Compiles the expressions of one policy: all see its variables, and each variable those before it. */
export class PolicyExpressions {
  readonly #variables = new Map<string, CompiledExpression>();
  readonly #hasParams: boolean;

  constructor(hasParams: boolean) {
    this.#hasParams = hasParams;
  }

  get variables(): ReadonlyMap<string, CompiledExpression> {
    return this.#variables;
  }

  *declare(variables: readonly NamedExpression[]): SlicedWork<void> {
    for (const { name, expression } of variables) this.#variables.set(name, yield* this.compile(expression, 'any'));
  }

  *compileConditions(conditions: readonly MatchCondition[]): SlicedWork<CompiledExpression[]> {
    const compiled: CompiledExpression[] = [];
    for (const { expression } of conditions) compiled.push(yield* this.compile(expression, 'bool'));
    return compiled;
  }

  *compile(text: string, result: ExpressionResult, more: Partial<Declarations> = {}): SlicedWork<CompiledExpression> {
    yield;
    const environment = declaredEnvironment({ hasParams: this.#hasParams, hasAuthorizer: true, ...more });
    const typeOf = (name: string) => {
      const variable = this.#variables.get(name);
      return variable && variableType(variable.program?.resultType);
    };
    return yield* compileIn(withVariables(environment, typeOf), text, result);
  }
}

/** What match conditions came to. */
export interface ConditionsResult {
  /** The text of an error where nobody can tell. */
  readonly holds: boolean | string;
  /** How many of them had no answer. */
  readonly errors: number;
  readonly durationMs: number;
}

const UNCONDITIONAL: ConditionsResult = { holds: true, errors: 0, durationMs: 0 };

/** Whether all conditions hold: one that does not counts for more than errors of others (plugin/webhook/matchconditions). */
export function evaluateConditions(
  conditions: readonly CompiledExpression[],
  variables: ReadonlyMap<string, CompiledExpression>,
  inputs: Activation,
): ConditionsResult {
  if (conditions.length === 0) return UNCONDITIONAL;
  const beganMs = performance.now();
  const errors: string[] = [];
  const holds = allHold(conditions, new PolicyEvaluation({ ...inputs, namespaceObject: null }, variables, MATCH_CONDITIONS_COST_BUDGET), errors);
  return { holds, errors: errors.length, durationMs: performance.now() - beganMs };
}

function allHold(conditions: readonly CompiledExpression[], evaluation: PolicyEvaluation, errors: string[]): boolean | string {
  try {
    for (const condition of conditions) {
      const { value, error } = evaluation.evaluate(condition);
      if (value === false) return false;
      if (error !== undefined) errors.push(error);
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return error.message;
    throw error;
  }
  return errors.length === 0 || aggregateMessage(errors);
}
