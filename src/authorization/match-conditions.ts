import type { JsonObject } from '../util/json-types.ts';

/** An expression over `request`, the spec of a SubjectAccessReview. `holds` throws where it cannot be evaluated, or is neither true nor false. */
export interface MatchCondition {
  text: string;
  holds(request: JsonObject): boolean;
}

/** Throws an Error that says what is wrong with the text. */
export type ConditionCompiler = (text: string) => MatchCondition;

/** For a server without the expression language: every condition is refused, so that none is ever silently left out. */
export const noConditions: ConditionCompiler = () => {
  throw new Error('expressions are not supported yet (still to come: the expression language)');
};
