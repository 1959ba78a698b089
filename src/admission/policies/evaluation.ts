import type { CompiledExpression } from '../../apis/admissionregistration/expressions.ts';
import type { Activation } from '../../cel/frame.ts';
import { CelError, CelMap, type CelValue } from '../../cel/values.ts';

/** Units that all expressions of a policy may cost together for one request, and those of its match conditions (apiserver/pkg/apis/cel). */
export const COST_BUDGET = 10_000_000;
export const MATCH_CONDITIONS_COST_BUDGET = 2_500_000;

/** Ends the evaluation of a policy. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** What an expression came to for a request: one of the two. */
export interface ExpressionOutcome {
  readonly value: CelValue | undefined;
  readonly error: string | undefined;
}

/** `variables.<name>`: each is evaluated when it is first asked for (apiserver/pkg/cel/lazy). */
class LazyVariables extends CelMap {
  readonly #compiled: ReadonlyMap<string, CompiledExpression>;
  readonly #values = new Map<string, CelValue>();
  readonly #evaluate: (name: string, expression: CompiledExpression) => CelValue;

  constructor(compiled: ReadonlyMap<string, CompiledExpression>, evaluate: (name: string, expression: CompiledExpression) => CelValue) {
    super();
    this.#compiled = compiled;
    this.#evaluate = evaluate;
  }

  get size(): number {
    return this.#compiled.size;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const expression = this.#compiled.get(key);
    if (!expression) return undefined;
    const value = this.#evaluate(key, expression);
    this.#values.set(key, value);
    return value;
  }

  keys(): readonly CelValue[] {
    return [...this.#compiled.keys()];
  }
}

/** Evaluates expressions of one policy for one request, within a budget (apiserver/pkg/admission/plugin/cel/activation.go). */
export class PolicyEvaluation {
  readonly #activation: Activation;
  remainingBudget: number;

  constructor(inputs: Activation, variables: ReadonlyMap<string, CompiledExpression>, budget: number) {
    const lazy = new LazyVariables(variables, (name, expression) => this.#variable(name, expression));
    this.#activation = { ...inputs, variables: lazy };
    this.remainingBudget = budget;
  }

  /** Throws OutOfBudget, and Pending where the authorizer does. */
  evaluate({ text, program, problem }: CompiledExpression): ExpressionOutcome {
    if (!program) return { value: undefined, error: `compilation error: ${problem!.detail}` };
    const { value, cost } = program.evaluate(this.#activation);
    this.#spend(cost);
    if (value instanceof CelError) return { value: undefined, error: `expression '${text}' resulted in error: ${value.message}` };
    return { value, error: undefined };
  }

  #variable(name: string, { program, problem }: CompiledExpression): CelValue {
    if (!program) return new CelError(`composited variable ${JSON.stringify(name)} fails to compile: ${problem!.detail}`);
    const { value, cost } = program.evaluate(this.#activation);
    this.#spend(cost);
    return value instanceof CelError ? new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${value.message}`) : value;
  }

  #spend(cost: number): void {
    this.remainingBudget -= cost;
    if (this.remainingBudget < 0) throw new OutOfBudget();
  }
}
