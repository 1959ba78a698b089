import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import { workInSteps } from '../../api/validation-run.ts';
import type { MatchCondition } from '../facts/types/admissionregistration-v1.ts';
import { type ExpressionScope, compileExpression } from './expressions.ts';

const MAX_CONDITIONS = 64;

/** Expressions that all must hold for a webhook to be called or a policy to apply. `stored`: those that the object had before. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[] | undefined,
  scope: Pick<ExpressionScope, 'hasParams' | 'hasFormerCel'>,
  stored: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  if (!conditions) return;
  if (conditions.length > MAX_CONDITIONS) errors.tooMany(conditions.length, MAX_CONDITIONS);
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = errors.index(index);
    const trimmed = expression.trim();
    if (trimmed === '') at.at('expression').required();
    else validateExpression(trimmed, { ...scope, hasAuthorizer: true, isStored: stored.has(trimmed), result: 'bool' }, at.at('expression'));
    if (name === '') at.at('name').required();
    else for (const error of qualifiedNameErrors(name)) at.at('name').invalid(name, error);
    if (name !== '' && names.has(name)) at.at('name').duplicate(name);
    names.add(name);
  }
}

/** `shown` is what an error shows, where it is not what was compiled. */
export function validateExpression(expression: string, scope: ExpressionScope, errors: FieldErrors, shown = expression): void {
  const problem = workInSteps(errors, 'compiled', () => compileExpression(expression, scope));
  if (!problem) return;
  if (problem.type === 'required') errors.required(problem.detail);
  else if (problem.type === 'invalid') errors.invalid(shown, problem.detail);
  else errors.internal(problem.detail);
}

export const expressionsOf = (conditions: readonly MatchCondition[] | undefined): string[] => (conditions ?? []).map(({ expression }) => expression);
