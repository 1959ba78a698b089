import type { CompiledExpression } from '../../apis/admissionregistration/expressions.ts';
import type { MutatingAdmissionPolicy } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { Activation } from '../../cel/frame.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { COST_BUDGET, PolicyEvaluation, OutOfBudget } from './evaluation.ts';
import { PatchError, configurationApplied, jsonPatched } from './patches.ts';
import { type ConditionsResult, PolicyExpressions, evaluateConditions } from './policy-expressions.ts';

interface Mutation {
  readonly isConfiguration: boolean;
  readonly expression: CompiledExpression;
}

interface MutatorParts {
  readonly mutations: readonly Mutation[];
  readonly expressions: PolicyExpressions;
  readonly conditions: readonly CompiledExpression[];
  readonly ignoresErrors: boolean;
}

/** The expressions of a MutatingAdmissionPolicy (apiserver/pkg/admission/plugin/policy/mutating/compilation.go). */
export class Mutator {
  readonly mutations: readonly Mutation[];
  readonly #expressions: PolicyExpressions;
  readonly #conditions: readonly CompiledExpression[];
  readonly #ignoresErrors: boolean;

  private constructor({ mutations, expressions, conditions, ignoresErrors }: MutatorParts) {
    this.mutations = mutations;
    this.#expressions = expressions;
    this.#conditions = conditions;
    this.#ignoresErrors = ignoresErrors;
  }

  static *of({ spec }: MutatingAdmissionPolicy): SlicedWork<Mutator> {
    const { variables = [], matchConditions = [], paramKind, failurePolicy } = spec;
    const expressions = new PolicyExpressions(paramKind !== undefined);
    yield* expressions.declare(variables);
    const conditions = yield* expressions.compileConditions(matchConditions);
    const mutations: Mutation[] = [];
    for (const { patchType, applyConfiguration, jsonPatch } of spec.mutations ?? []) {
      const isConfiguration = patchType !== 'JSONPatch';
      const text = (isConfiguration ? applyConfiguration : jsonPatch)?.expression ?? '';
      const expression = yield* expressions.compile(text, isConfiguration ? 'object' : 'jsonPatch', { hasPatchTypes: true });
      mutations.push({ isConfiguration, expression });
    }
    return new Mutator({ mutations, expressions, conditions, ignoresErrors: failurePolicy === 'Ignore' });
  }

  /** Throws Pending where the authorizer does. */
  conditions(inputs: Activation): ConditionsResult {
    return evaluateConditions(this.#conditions, this.#expressions.variables, inputs);
  }

  /** Throws PatchError where nobody can tell and the policy does not ignore that. */
  applies({ holds }: ConditionsResult): boolean {
    if (holds === true) return true;
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
