import type { CompiledExpression } from '../../apis/admissionregistration/expressions.ts';
import type { MutatingAdmissionPolicy } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { Activation } from '../../cel/frame.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { COST_BUDGET, PolicyEvaluation, OutOfBudget } from './evaluation.ts';
import { PatchError, configurationApplied, jsonPatched } from './patches.ts';
import { type ConditionsResult, PolicyExpressions, evaluateConditions } from './policy-expressions.ts';

interface Mutation {
  readonly isConfiguration: boolean;
  readonly expression: CompiledExpression;
}

/** The expressions of a MutatingAdmissionPolicy (apiserver/pkg/admission/plugin/policy/mutating/compilation.go). */
export class Mutator {
  readonly mutations: readonly Mutation[];
  readonly #expressions: PolicyExpressions;
  readonly #conditions: readonly CompiledExpression[];
  readonly #ignoresErrors: boolean;

  constructor({ spec }: MutatingAdmissionPolicy) {
    const { variables = [], matchConditions = [], mutations = [], paramKind, failurePolicy } = spec;
    const expressions = new PolicyExpressions(variables, paramKind !== undefined);
    const compile = (text: string | undefined, result: 'object' | 'jsonPatch') => expressions.compile(text ?? '', result, { hasPatchTypes: true });
    this.#expressions = expressions;
    this.#ignoresErrors = failurePolicy === 'Ignore';
    this.#conditions = matchConditions.map(({ expression }) => expressions.compile(expression, 'bool'));
    this.mutations = mutations.map(({ patchType, applyConfiguration, jsonPatch }) =>
      patchType === 'JSONPatch'
        ? { isConfiguration: false, expression: compile(jsonPatch?.expression, 'jsonPatch') }
        : { isConfiguration: true, expression: compile(applyConfiguration?.expression, 'object') },
    );
  }

  /** Throws PatchError where nobody can tell and the policy does not ignore that. `onDoubt` is told of conditions that do not all hold. */
  applies(inputs: Activation, onDoubt: (conditions: ConditionsResult) => void): boolean {
    const conditions = evaluateConditions(this.#conditions, this.#expressions.variables, inputs);
    const { holds } = conditions;
    if (holds === true) return true;
    onDoubt(conditions);
    if (holds === false || this.#ignoresErrors) return false;
    throw new PatchError(holds);
  }

  /** The object after one of the mutations. `schema`: that of its kind, where one is published. Throws PatchError. */
  mutated({ isConfiguration, expression }: Mutation, object: JsonObject, inputs: Activation, schema: ObjectSchema | undefined): JsonObject {
    if (expression.problem) throw new PatchError(expression.problem.detail);
    try {
      const { value, error } = new PolicyEvaluation(inputs, this.#expressions.variables, COST_BUDGET).evaluate(expression);
      if (error !== undefined) throw new PatchError(error);
      return isConfiguration ? configurationApplied(object, value!, schema) : jsonPatched(object, value!);
    } catch (error) {
      throw error instanceof OutOfBudget ? new PatchError(error.message) : error;
    }
  }
}
