import { PlanError, compileInSteps, type Program } from '../../cel/cel.ts';
import type { Environment } from '../../cel/environment.ts';
import { CelErrors } from '../../cel/source.ts';
import { ANY, BOOL, NULL, STRING, isSameType, listType, printedType, structType, type CelType } from '../../cel/types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { declaredEnvironment, variableType, withVariables, type Declarations } from './expression-environment.ts';

export type ExpressionResult = 'bool' | 'string' | 'stringOrNull' | 'any' | 'object' | 'jsonPatch';

/** What an expression of admission control is compiled against (apiserver/pkg/admission/plugin/cel). */
export interface ExpressionScope extends Declarations {
  /** Variables of the policy that stand before this expression, by name. */
  variables?: readonly NamedExpression[];
  /** The object had this expression before: it is validated with all that any release knew, not only with what this one offers to new ones. */
  isStored: boolean;
  result: ExpressionResult;
}

export interface NamedExpression {
  name: string;
  expression: string;
}

export interface ExpressionProblem {
  type: 'required' | 'invalid' | 'internal';
  detail: string;
}

/** What a text came to: one of the two. */
export interface CompiledExpression {
  readonly text: string;
  readonly program: Program | undefined;
  readonly problem: ExpressionProblem | undefined;
}

const RESULTS: Record<ExpressionResult, readonly CelType[]> = {
  bool: [BOOL],
  string: [STRING],
  stringOrNull: [STRING, NULL],
  any: [ANY],
  object: [structType('Object')],
  jsonPatch: [listType(structType('JSONPatch'))],
};

/** Answers with what is wrong, or nothing. */
export function* compileExpression(expression: string, scope: ExpressionScope): SlicedWork<ExpressionProblem | undefined> {
  const { problem } = yield* compileIn(yield* environmentOf(scope), expression, scope.result);
  return problem;
}

/** As upstream's CompileCELExpression words it. */
export function* compileIn(environment: Environment, text: string, result: ExpressionResult): SlicedWork<CompiledExpression> {
  const failed = (type: ExpressionProblem['type'], detail: string): CompiledExpression => ({ text, program: undefined, problem: { type, detail } });
  try {
    const program = yield* compileInSteps(text, environment);
    const wanted = RESULTS[result];
    const got = program.resultType;
    if (wanted.includes(ANY) || wanted.some((type) => isSameType(type, got))) return { text, program, problem: undefined };
    const expected = wanted.length === 1 ? printedType(wanted[0]!) : `one of [${wanted.map(printedType).join(' ')}]`;
    return failed('invalid', `must evaluate to ${expected} but got ${printedType(got)}`);
  } catch (error) {
    if (error instanceof CelErrors) return failed('invalid', `compilation failed: ${error.message}`);
    if (error instanceof PlanError) return failed('internal', `program instantiation failed: ${error.message}`);
    throw error;
  }
}

/** The types of a policy's variables with their places, as far as they were compiled. */
interface VariableTypes {
  count: number;
  byName: Map<string, { index: number; type: CelType }>;
}

/** By the first variable. The same ones are given with every expression that follows them: each is compiled once. */
const typesOfPolicies = new WeakMap<NamedExpression, VariableTypes>();

function* environmentOf(scope: ExpressionScope): SlicedWork<Environment> {
  const environment = declaredEnvironment({ ...scope, hasFormerCel: scope.hasFormerCel && !scope.isStored });
  const { variables } = scope;
  if (!variables) return environment;
  const types = variables.length === 0 ? undefined : yield* typesOf(variables, scope.hasParams);
  return withVariables(environment, (name) => {
    const known = types?.get(name);
    return known && known.index < variables.length ? known.type : undefined;
  });
}

function* typesOf(variables: readonly NamedExpression[], hasParams: boolean): SlicedWork<VariableTypes['byName']> {
  const types = typesOfPolicies.get(variables[0]!) ?? { count: 0, byName: new Map() };
  typesOfPolicies.set(variables[0]!, types);
  const environment = withVariables(declaredEnvironment({ hasParams, hasAuthorizer: true }), (name) => types.byName.get(name)?.type);
  for (; types.count < variables.length; types.count++) {
    const { name, expression } = variables[types.count]!;
    const { program } = yield* compileIn(environment, expression, 'any');
    types.byName.set(name, { index: types.count, type: variableType(program?.resultType) });
  }
  return types.byName;
}
