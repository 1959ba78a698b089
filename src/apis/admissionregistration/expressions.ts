/** What an expression of admission control is compiled against (apiserver/pkg/admission/plugin/cel). */
export interface ExpressionScope {
  /** Whether `params` is declared. */
  hasParams: boolean;
  /** Whether `authorizer` is declared. */
  hasAuthorizer: boolean;
  /** Whether the types that mutations are made of (`Object`, `JSONPatch`) are declared. */
  hasPatchTypes?: boolean;
  /** Variables of the policy that stand before this expression, by name. */
  variables?: readonly { name: string; expression: string }[];
  /** The object had this expression before: it is judged with all that any release knew, not only with what this one offers to new ones. */
  isStored: boolean;
  result: 'bool' | 'string' | 'stringOrNull' | 'any' | 'object' | 'jsonPatch';
}

export interface ExpressionProblem {
  type: 'required' | 'invalid' | 'internal';
  detail: string;
}

/** Answers with what is wrong, or nothing. */
export type CompileExpression = (expression: string, scope: ExpressionScope) => ExpressionProblem | undefined;

/** The seam for the expression language: every expression of this group passes here. Without an engine, all compile. */
export const compileExpression: CompileExpression = () => undefined;
