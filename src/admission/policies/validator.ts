import type { ValidatingAdmissionPolicy, Validation } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { CompiledExpression } from '../../apis/admissionregistration/expressions.ts';
import type { Activation } from '../../cel/frame.ts';
import { typeOf } from '../../cel/values.ts';
import { COST_BUDGET, Evaluation, OutOfBudget, type Outcome } from './evaluation.ts';
import { PolicyExpressions, conditionsHold } from './policy-expressions.ts';

const MAX_MESSAGE_BYTES = 5 * 1024;

/** A rule that a request has broken, or an expression that had no answer. */
interface Refusal {
  /** Which of the policy's validations. */
  readonly index: number;
  readonly message: string;
  readonly reason: string;
}

export interface Judgement {
  readonly refusals: readonly Refusal[];
  readonly annotations: readonly { key: string; value: string }[];
  /** Of annotations: they deny the request whatever the binding's actions are. */
  readonly annotationErrors: readonly string[];
}

const NOTHING: Judgement = { refusals: [], annotations: [], annotationErrors: [] };

interface CompiledValidation {
  readonly rule: Validation;
  readonly expression: CompiledExpression;
  readonly message: CompiledExpression | undefined;
}

/** The expressions of a ValidatingAdmissionPolicy (apiserver/pkg/admission/plugin/policy/validating/validator.go). */
export class Validator {
  readonly #ignoresErrors: boolean;
  readonly #expressions: PolicyExpressions;
  readonly #conditions: readonly CompiledExpression[];
  readonly #validations: readonly CompiledValidation[];
  readonly #annotations: readonly { key: string; expression: CompiledExpression }[];

  constructor({ spec }: ValidatingAdmissionPolicy) {
    const { variables = [], matchConditions = [], validations = [], auditAnnotations = [], paramKind, failurePolicy } = spec;
    const expressions = new PolicyExpressions(variables, paramKind !== undefined);
    this.#ignoresErrors = failurePolicy === 'Ignore';
    this.#expressions = expressions;
    this.#conditions = matchConditions.map(({ expression }) => expressions.compile(expression, 'bool'));
    this.#validations = validations.map((rule) => ({
      rule,
      expression: expressions.compile(rule.expression, 'bool'),
      message: rule.messageExpression ? expressions.compile(rule.messageExpression, 'string', { hasAuthorizer: false }) : undefined,
    }));
    this.#annotations = auditAnnotations.map(({ key, valueExpression }) => ({ key, expression: expressions.compile(valueExpression, 'stringOrNull') }));
  }

  /** Throws Pending where the authorizer does. */
  judge(inputs: Activation): Judgement {
    const { variables } = this.#expressions;
    const holds = conditionsHold(this.#conditions, variables, inputs);
    if (holds === false) return NOTHING;
    if (holds !== true) return this.#failed(holds);
    try {
      const evaluation = new Evaluation(inputs, variables, COST_BUDGET);
      const outcomes = this.#validations.map(({ expression }) => evaluation.evaluate(expression));
      const withoutAuthorizer = { ...inputs };
      delete withoutAuthorizer['authorizer'];
      delete withoutAuthorizer['authorizer.requestResource'];
      const messages = new Evaluation(withoutAuthorizer, variables, evaluation.remainingBudget);
      const refusals = outcomes.flatMap((outcome, index) => this.#refusal(index, outcome, messages) ?? []);
      return { refusals, ...this.#annotate(new Evaluation(withoutAuthorizer, variables, COST_BUDGET)) };
    } catch (error) {
      if (error instanceof OutOfBudget) return this.#failed(error.message);
      throw error;
    }
  }

  #failed(message: string): Judgement {
    return this.#ignoresErrors ? NOTHING : { ...NOTHING, refusals: [{ index: 0, message, reason: '' }] };
  }

  #refusal(index: number, { value, error }: Outcome, messages: Evaluation): Refusal | undefined {
    if (value === true || (error !== undefined && this.#ignoresErrors)) return undefined;
    if (error !== undefined) return { index, message: error, reason: '' };
    const { rule, message } = this.#validations[index]!;
    const reason = rule.reason ?? 'Invalid';
    try {
      return { index, message: (message && computedMessage(messages.evaluate(message))) || writtenMessage(rule), reason };
    } catch (failure) {
      if (!(failure instanceof OutOfBudget)) throw failure;
      return this.#ignoresErrors ? undefined : { index, message: `failed messageExpression: ${failure.message}`, reason: '' };
    }
  }

  #annotate(evaluation: Evaluation): Pick<Judgement, 'annotations' | 'annotationErrors'> {
    const annotations: { key: string; value: string }[] = [];
    const annotationErrors: string[] = [];
    for (const { key, expression } of this.#annotations) {
      const { value, error } = evaluation.evaluate(expression);
      if (error !== undefined && !this.#ignoresErrors) annotationErrors.push(error);
      else if (typeof value === 'string' && value.trim() !== '') annotations.push({ key, value: value.trim() });
      else if (value !== undefined && value !== null && typeof value !== 'string')
        annotationErrors.push(
          `valueExpression '${expression.text}' resulted in unsupported return type: ${typeOf(value).name}. Return type must be either string or null.`,
        );
    }
    return { annotations, annotationErrors };
  }
}

/** Nothing where it is not fit to be shown. */
function computedMessage({ value }: Outcome): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return Buffer.byteLength(text) > MAX_MESSAGE_BYTES || text.includes('\n') ? undefined : text;
}

const writtenMessage = ({ message = '', expression }: Validation): string => message.trim() || `failed expression: ${expression.trim()}`;
