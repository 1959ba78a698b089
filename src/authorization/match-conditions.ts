import type { JsonObject } from '../encoding/json-types.ts';

/** An expression over `request`, the spec of a SubjectAccessReview. `holds` throws where it has no value for this request. */
export interface MatchCondition {
  text: string;
  holds(request: JsonObject): boolean;
}

/** Throws an Error that says what is wrong with the text. */
export type ConditionCompiler = (text: string) => MatchCondition;

/** For chains that are made of flags, which have no conditions: the language is not loaded for them. */
export const noConditions: ConditionCompiler = () => {
  throw new Error('flags have no conditions');
};
