import type { Json, JsonObject } from '../encoding/json-types.ts';

/** What an expression may answer with: true or false, or what the one who asks makes of it. */
export type ClaimResult = 'bool' | 'any';

/** An expression over one variable, ready to be used. */
export interface ClaimExpression {
  /** Throws where the expression has no value for these data. */
  evaluate(value: JsonObject): Json;
  /** Whether it looks at that field of the variable. */
  selects(field: string): boolean;
}

/** Turns text into expressions over `claims` or `user`. Throws an Error that says what is wrong with the text. */
export type ExpressionCompiler = (text: string, variable: 'claims' | 'user', result: ClaimResult) => ClaimExpression;

/** For configurations that are made of flags, which have no expressions: the language is not loaded for them. */
export const noExpressions: ExpressionCompiler = () => {
  throw new Error('flags have no expressions');
};
