import { type Expr, childrenOf } from '../cel/ast.ts';
import { compile } from '../cel/cel.ts';
import { jsonValue, toJson } from '../cel/data/json-value.ts';
import { recordTypes } from '../cel/data/record-types.ts';
import { KUBERNETES_ENVIRONMENT } from '../cel/library/kubernetes.ts';
import { OPTIONAL_SELECT } from '../cel/operators.ts';
import { DYN, STRING, listType, mapType, structType } from '../cel/types.ts';
import { CelError } from '../cel/values.ts';
import type { ExpressionCompiler } from './expressions.ts';

const USER_TYPE = 'kubernetes.UserInfo';
const TEXTS = listType(STRING);

/** What is known of claims is that they have names; of users, all (apiserver/pkg/authentication/cel). */
const ENVIRONMENTS = {
  claims: KUBERNETES_ENVIRONMENT.extend({ variables: { claims: mapType(STRING, DYN) } }),
  user: KUBERNETES_ENVIRONMENT.extend({
    variables: { user: structType(USER_TYPE) },
    types: [recordTypes({ [USER_TYPE]: { username: STRING, uid: STRING, groups: TEXTS, extra: mapType(STRING, TEXTS) } })],
  }),
};

/** Loads the expression language: to be imported where there are expressions. */
export const compileClaimExpression: ExpressionCompiler = (text, variable, result) => {
  const program = compiled(text, variable);
  if (result === 'bool' && program.resultType.kind !== 'bool') throw new Error('must evaluate to bool');
  return {
    evaluate(value) {
      const { value: answer } = program.evaluate({ [variable]: jsonValue(value) });
      if (answer instanceof CelError) throw new Error(`expression '${text}' resulted in error: ${answer.message}`);
      return toJson(answer);
    },
    selects: (field) => doesSelect(program.checked.expr, variable, field),
  };
};

function compiled(text: string, variable: 'claims' | 'user'): ReturnType<typeof compile> {
  try {
    return compile(text, ENVIRONMENTS[variable]);
  } catch (error) {
    throw new Error(`compilation failed: ${(error as Error).message}`, { cause: error });
  }
}

/** `claims.email`, `claims.?email`, `has(claims.email)`, wherever they stand. */
function doesSelect(expr: Expr, variable: string, field: string): boolean {
  const isVariable = (operand: Expr | undefined): boolean => operand?.kind === 'ident' && operand.name === variable;
  if (expr.kind === 'select' && isVariable(expr.operand) && expr.field === field) return true;
  if (expr.kind === 'call' && expr.name === OPTIONAL_SELECT && isVariable(expr.args[0])) {
    const [, name] = expr.args;
    if (name?.kind === 'literal' && name.value === field) return true;
  }
  return childrenOf(expr).some((child) => doesSelect(child, variable, field));
}
