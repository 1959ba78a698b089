import { findField } from '../../apis/apiextensions/field-path.ts';
import type { JSONSchemaProps } from '../../apis/facts/types/apiextensions-v1.ts';
import { type Program, PlanError, compileInSteps } from '../../cel/cel.ts';
import { type DeclaredType, declaredSizes, declaredTypes, maxCardinality } from '../../cel/data/declared-type.ts';
import type { Environment } from '../../cel/environment.ts';
import { KUBERNETES_ENVIRONMENT, formerKubernetesEnvironment } from '../../cel/library/kubernetes.ts';
import { CelErrors } from '../../cel/source.ts';
import { BOOL, STRING, isSameType, optionalType } from '../../cel/types.ts';
import type { JsonSchema, ValidationRule } from '../../schema/structural/json-schema.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { RuleObserver } from './rule-metrics.ts';

/** One of x-kubernetes-validations, compiled (…/schema/cel/compilation.go). */
export interface CompiledRule {
  rule: ValidationRule;
  /** Absent where the rule is empty or wrong. */
  program?: Program;
  error?: string;
  usesOldSelf: boolean;
  maxCost: number;
  /** How often data that the rule is about can occur in an object, where its schema sets no bound. */
  maxCardinality: number;
  message?: Program;
  messageError?: string;
  messageMaxCost: number;
  /** Below the value: `spec.name`; '' for itself. */
  fieldPath: string;
}

/**
 * The rules of a schema, whose values are declared as `declared`: each is compiled, in steps, when it is asked for, of which `observer` hears. `isFormer`: which may only use
 * what CEL had before v1.34.
 */
export function* compileRules(
  schema: JsonSchema,
  declared: DeclaredType,
  observer: RuleObserver,
  isFormer?: (expression: string) => boolean,
): Generator<() => SlicedWork<CompiledRule>> {
  const types = [declaredTypes(declared)];
  const environmentFor = ({ rule, optionalOldSelf }: ValidationRule): Environment =>
    (isFormer?.(rule) ? formerKubernetesEnvironment() : KUBERNETES_ENVIRONMENT).extend({
      variables: { self: declared.type, oldSelf: optionalOldSelf ? optionalType(declared.type) : declared.type },
      types,
    });
  for (const rule of rulesOf(schema)) yield () => timed(compileRule(rule, schema, declared, environmentFor(rule)), observer.compiled);
}

/** Tells how long the work took, without the turns of others. */
function* timed<T>(work: SlicedWork<T>, tell: (durationMs: number) => void): SlicedWork<T> {
  let workedMs = 0;
  for (;;) {
    const startMs = performance.now();
    const { done, value } = work.next();
    workedMs += performance.now() - startMs;
    if (done) {
      tell(workedMs);
      return value;
    }
    yield;
  }
}

/** Those of the schema itself, and those that allOf adds to it. */
export const rulesOf = (schema: JsonSchema): ValidationRule[] => [
  ...(schema['x-kubernetes-validations'] ?? []),
  ...(schema.allOf ?? []).flatMap((more) => more['x-kubernetes-validations'] ?? []),
];

function* compileRule(rule: ValidationRule, schema: JsonSchema, declared: DeclaredType, environment: Environment): SlicedWork<CompiledRule> {
  const compiled: CompiledRule = { rule, usesOldSelf: false, maxCost: 0, maxCardinality: maxCardinality(declared), messageMaxCost: 0, fieldPath: '' };
  if (rule.rule.trim() === '') return compiled;
  const sizes = declaredSizes(declared);
  const attempt = yield* compiledText(rule.rule, environment);
  if ('error' in attempt)
    return { ...compiled, error: attempt.isPlan ? `program instantiation failed: ${attempt.error}` : `compilation failed: ${attempt.error}` };
  const { program } = attempt;
  if (!isSameType(program.resultType, BOOL)) return { ...compiled, error: 'cel expression must evaluate to a bool' };
  const message = rule.messageExpression && (yield* compiledMessage(rule.messageExpression, environment, declared));
  yield;
  const found = rule.fieldPath ? findField(rule.fieldPath, schema as JSONSchemaProps, true) : undefined;
  return {
    ...compiled,
    program,
    usesOldSelf: [...program.checked.references.values()].some((reference) => reference.kind === 'variable' && reference.name === 'oldSelf'),
    maxCost: program.estimateCost(sizes).max,
    fieldPath: found !== undefined && !('error' in found) ? found.path : '',
    ...(message || undefined),
  };
}

type CompiledMessage = Pick<CompiledRule, 'message' | 'messageError' | 'messageMaxCost'>;

function* compiledMessage(text: string, environment: Environment, declared: DeclaredType): SlicedWork<CompiledMessage> {
  const attempt = yield* compiledText(text, environment);
  if ('error' in attempt)
    return { messageMaxCost: 0, messageError: `messageExpression ${attempt.isPlan ? 'instantiation' : 'compilation'} failed: ${attempt.error}` };
  if (!isSameType(attempt.program.resultType, STRING)) return { messageMaxCost: 0, messageError: 'messageExpression must evaluate to a string' };
  return { message: attempt.program, messageMaxCost: attempt.program.estimateCost(declaredSizes(declared)).max };
}

function* compiledText(text: string, environment: Environment): SlicedWork<{ program: Program } | { error: string; isPlan: boolean }> {
  try {
    return { program: yield* compileInSteps(text, environment) };
  } catch (error) {
    if (error instanceof CelErrors) return { error: error.message, isPlan: false };
    if (error instanceof PlanError) return { error: error.message, isPlan: true };
    throw error;
  }
}
