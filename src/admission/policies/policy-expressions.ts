import { declaredEnvironment, variableType, withVariables, type Declarations } from '../../apis/admissionregistration/expression-environment.ts';
import { compileIn, type CompiledExpression, type ExpressionResult, type NamedExpression } from '../../apis/admissionregistration/expressions.ts';
import type { Activation } from '../../cel/frame.ts';
import { Evaluation, MATCH_CONDITIONS_COST_BUDGET, OutOfBudget } from './evaluation.ts';

/** Compiles the expressions of one policy: all see its variables, and each variable those before it. */
export class PolicyExpressions {
  readonly variables: ReadonlyMap<string, CompiledExpression>;
  readonly #hasParams: boolean;

  constructor(variables: readonly NamedExpression[], hasParams: boolean) {
    this.#hasParams = hasParams;
    const compiled = new Map<string, CompiledExpression>();
    this.variables = compiled;
    for (const { name, expression } of variables) compiled.set(name, this.compile(expression, 'any'));
  }

  compile(text: string, result: ExpressionResult, more: Partial<Declarations> = {}): CompiledExpression {
    const environment = declaredEnvironment({ hasParams: this.#hasParams, hasAuthorizer: true, ...more });
    const typeOf = (name: string) => {
      const variable = this.variables.get(name);
      return variable && variableType(variable.program?.resultType);
    };
    return compileIn(withVariables(environment, typeOf), text, result);
  }
}

/** Whether the conditions of a policy hold; the text of an error where that cannot be said (plugin/webhook/matchconditions). */
export function conditionsHold(
  conditions: readonly CompiledExpression[],
  variables: ReadonlyMap<string, CompiledExpression>,
  inputs: Activation,
): boolean | string {
  if (conditions.length === 0) return true;
  const evaluation = new Evaluation({ ...inputs, namespaceObject: null }, variables, MATCH_CONDITIONS_COST_BUDGET);
  const errors = new Set<string>();
  try {
    for (const condition of conditions) {
      const { value, error } = evaluation.evaluate(condition);
      if (value === false) return false;
      if (error !== undefined) errors.add(error);
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return error.message;
    throw error;
  }
  if (errors.size === 0) return true;
  return errors.size === 1 ? [...errors][0]! : `[${[...errors].join(', ')}]`;
}
