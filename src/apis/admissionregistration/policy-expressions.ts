import type { FieldErrors } from '../../api/field-errors.ts';
import type { Variable } from '../facts/types/admissionregistration-v1.ts';
import type { ExpressionScope } from './expressions.ts';
import { validateExpression } from './match-conditions.ts';

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
/** Words of CEL that nothing can be named by. */
const RESERVED = new Set('true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '));

/** Values that later expressions of the policy name as `variables.<name>`. */
export function validateVariables(
  variables: readonly Variable[] | undefined,
  given: Pick<ExpressionScope, 'hasParams' | 'hasFormerCel'>,
  stored: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  if (!variables) return;
  for (const [index, { name, expression }] of variables.entries()) {
    const at = errors.index(index);
    if (name.trim() === '') at.at('name').required('name is not specified');
    else if (!IDENTIFIER.test(name) || RESERVED.has(name)) at.at('name').invalid(name, 'must be a valid CEL identifier');
    if (expression.trim() === '') at.at('expression').required('expression is not specified');
    else {
      const scope: ExpressionScope = { ...given, hasAuthorizer: true, variables: variables.slice(0, index), isStored: stored.has(expression), result: 'any' };
      validateExpression(expression, scope, at.at('expression'));
    }
  }
}
