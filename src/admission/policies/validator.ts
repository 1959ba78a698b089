import type { Steps } from '../../util/pending.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { ValidatingAdmissionPolicy, Validation } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { CompiledExpression } from '../../apis/admissionregistration/expressions.ts';
import type { Activation } from '../../cel/frame.ts';
import { typeOf } from '../../cel/values.ts';
import { COST_BUDGET, PolicyEvaluation, OutOfBudget, type ExpressionOutcome } from './evaluation.ts';
import { type ConditionsResult, PolicyExpressions, evaluateConditions } from './policy-expressions.ts';

const MAX_MESSAGE_BYTES = 5 * 1024;

/** A rule that a request has broken, or an expression that had no answer. */
interface Refusal {
  /** Which of the policy's validations. */
  readonly index: number;
  readonly message: string;
  readonly reason: string;
  /** That the expression took. */
  readonly durationMs: number;
}

/** An expression that had no answer. */
interface Unanswered {
  readonly message: string;
  readonly durationMs: number;
}

export interface PolicyResult {
  /** Of the match conditions, where they did not all hold. */
  readonly conditions?: ConditionsResult;
  readonly refusals: readonly Refusal[];
  /** What would have been a refusal, did the policy not ignore errors. */
  readonly ignored: readonly Unanswered[];
  readonly annotations: readonly { key: string; value: string }[];
  /** Of annotations: they deny the request whatever the binding's actions are. */
  readonly annotationErrors: readonly Unanswered[];
}

const NOTHING: PolicyResult = { refusals: [], ignored: [], annotations: [], annotationErrors: [] };

interface CompiledValidation {
  readonly rule: Validation;
  readonly expression: CompiledExpression;
  readonly message: CompiledExpression | undefined;
}

interface CompiledAnnotation {
  readonly key: string;
  readonly expression: CompiledExpression;
}

interface ValidatorParts {
  readonly ignoresErrors: boolean;
  readonly expressions: PolicyExpressions;
  readonly conditions: readonly CompiledExpression[];
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly CompiledAnnotation[];
}

/** The expressions of a ValidatingAdmissionPolicy (apiserver/pkg/admission/plugin/policy/validating/validator.go). */
export class Validator {
  readonly #ignoresErrors: boolean;
  readonly #expressions: PolicyExpressions;
  readonly #conditions: readonly CompiledExpression[];
  readonly #validations: readonly CompiledValidation[];
  readonly #annotations: readonly CompiledAnnotation[];

  private constructor({ ignoresErrors, expressions, conditions, validations, annotations }: ValidatorParts) {
    this.#ignoresErrors = ignoresErrors;
    this.#expressions = expressions;
    this.#conditions = conditions;
    this.#validations = validations;
    this.#annotations = annotations;
  }

  static *of({ spec }: ValidatingAdmissionPolicy): SlicedWork<Validator> {
    const { variables = [], matchConditions = [], paramKind, failurePolicy } = spec;
    const expressions = new PolicyExpressions(paramKind !== undefined);
    yield* expressions.declare(variables);
    const conditions = yield* expressions.compileConditions(matchConditions);
    const validations: CompiledValidation[] = [];
    for (const rule of spec.validations ?? []) {
      const expression = yield* expressions.compile(rule.expression, 'bool');
      const message = rule.messageExpression ? yield* expressions.compile(rule.messageExpression, 'string', { hasAuthorizer: false }) : undefined;
      validations.push({ rule, expression, message });
    }
    const annotations: CompiledAnnotation[] = [];
    for (const { key, valueExpression } of spec.auditAnnotations ?? []) {
      annotations.push({ key, expression: yield* expressions.compile(valueExpression, 'stringOrNull') });
    }
    return new Validator({ ignoresErrors: failurePolicy === 'Ignore', expressions, conditions, validations, annotations });
  }

  /** Throws Pending where the authorizer does, and where others are to have their turn: `steps` are what was done until then. */
  evaluate(inputs: Activation, steps: Steps): PolicyResult {
    const { variables } = this.#expressions;
    const conditions = steps.do(() => evaluateConditions(this.#conditions, variables, inputs));
    if (conditions.holds === false) return { ...NOTHING, conditions };
    if (conditions.holds !== true) return { ...(this.#ignoresErrors ? NOTHING : this.#failed(conditions.holds)), conditions };
    const evaluation = steps.do(() => new PolicyEvaluation(inputs, variables, COST_BUDGET));
    const broken: Broken[] = [];
    for (const [index, { expression }] of this.#validations.entries()) {
      const found = steps.do(() => this.#orFailed(() => brokenBy(evaluation, expression, index)));
      if (found && 'refusals' in found) return found;
      if (found) broken.push(found);
    }
    return steps.do(() => this.#orFailed(() => this.#result(broken, evaluation, inputs)));
  }

  #orFailed<T>(work: () => T): T | PolicyResult {
    try {
      return work();
    } catch (error) {
      if (error instanceof OutOfBudget) return this.#failed(error.message);
      throw error;
    }
  }

  #result(broken: readonly Broken[], evaluation: PolicyEvaluation, inputs: Activation): PolicyResult {
    if (broken.length === 0 && this.#annotations.length === 0) return NOTHING;
    const withoutAuthorizer = { ...inputs };
    delete withoutAuthorizer['authorizer'];
    delete withoutAuthorizer['authorizer.requestResource'];
    const { variables } = this.#expressions;
    const messages = new PolicyEvaluation(withoutAuthorizer, variables, evaluation.remainingBudget);
    const ignored: Unanswered[] = [];
    const refusals = broken.flatMap((one) => this.#refusal(one, messages, ignored) ?? []);
    return { refusals, ignored, ...this.#annotate(new PolicyEvaluation(withoutAuthorizer, variables, COST_BUDGET)) };
  }

  #failed(message: string): PolicyResult {
    return this.#ignoresErrors
      ? { ...NOTHING, ignored: [{ message, durationMs: 0 }] }
      : { ...NOTHING, refusals: [{ index: 0, message, reason: '', durationMs: 0 }] };
  }

  #refusal({ index, outcome, durationMs }: Broken, messages: PolicyEvaluation, ignored: Unanswered[]): Refusal | undefined {
    const failed = (message: string): Refusal | undefined => {
      if (!this.#ignoresErrors) return { index, message, reason: '', durationMs };
      ignored.push({ message, durationMs });
    };
    if (outcome.error !== undefined) return failed(outcome.error);
    const { rule, message } = this.#validations[index]!;
    const reason = rule.reason ?? 'Invalid';
    try {
      return { index, message: (message && computedMessage(messages.evaluate(message))) || writtenMessage(rule), reason, durationMs };
    } catch (failure) {
      if (!(failure instanceof OutOfBudget)) throw failure;
      return failed(`failed messageExpression: ${failure.message}`);
    }
  }

  #annotate(evaluation: PolicyEvaluation): Pick<PolicyResult, 'annotations' | 'annotationErrors'> {
    const annotations: { key: string; value: string }[] = [];
    const annotationErrors: Unanswered[] = [];
    for (const { key, expression } of this.#annotations) {
      const beganMs = performance.now();
      const { value, error } = evaluation.evaluate(expression);
      const fail = (message: string): void => void annotationErrors.push({ message, durationMs: performance.now() - beganMs });
      if (error !== undefined && !this.#ignoresErrors) fail(error);
      else if (typeof value === 'string' && value.trim() !== '') annotations.push({ key, value: value.trim() });
      else if (value !== undefined && value !== null && typeof value !== 'string')
        fail(`valueExpression '${expression.text}' resulted in unsupported return type: ${typeOf(value).name}. Return type must be either string or null.`);
    }
    return { annotations, annotationErrors };
  }
}

/** A validation that did not come to true. */
interface Broken {
  readonly index: number;
  readonly outcome: ExpressionOutcome;
  readonly durationMs: number;
}

function brokenBy(evaluation: PolicyEvaluation, expression: CompiledExpression, index: number): Broken | undefined {
  const beganMs = performance.now();
  const outcome = evaluation.evaluate(expression);
  return outcome.value === true ? undefined : { index, outcome, durationMs: performance.now() - beganMs };
}

/** Nothing where it is not fit to be shown. */
function computedMessage({ value }: ExpressionOutcome): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return Buffer.byteLength(text) > MAX_MESSAGE_BYTES || text.includes('\n') ? undefined : text;
}

const writtenMessage = ({ message = '', expression }: Validation): string => message.trim() || `failed expression: ${expression.trim()}`;
