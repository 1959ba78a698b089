import type { Json, JsonObject } from '../util/json-types.ts';

/** What an expression may answer with. */
export type ExpressionResult = 'string' | 'bool' | 'any';

/** An expression over one variable, ready to be used. Throws where it cannot be evaluated. */
export type CompiledExpression = (value: JsonObject) => Json;

/** Turns text into expressions over `claims` or `user`. Throws an Error that says what is wrong with the text. */
export type ExpressionCompiler = (text: string, variable: 'claims' | 'user', result: ExpressionResult) => CompiledExpression;

/** For a server without the expression language: every expression is refused, so that no rule is ever silently left out. */
export const noExpressions: ExpressionCompiler = () => {
  throw new Error('expressions are not supported yet (still to come: the expression language)');
};
