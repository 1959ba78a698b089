import { DEFAULT_COST_LIMIT, type Program, compile } from '../../cel/cel.ts';
import { jsonValue } from '../../cel/data/json-value.ts';
import { recordTypes } from '../../cel/data/record-types.ts';
import { AUTHORIZER, AuthorizerValue, RESOURCE_CHECK, type Authorize } from '../../cel/library/authorizer.ts';
import { KUBERNETES_ENVIRONMENT } from '../../cel/library/kubernetes.ts';
import { BOOL, DYN, STRING, listType, mapType, structType } from '../../cel/types.ts';
import { CelError } from '../../cel/values.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { ConditionSpec } from './configuration.ts';
import { namespaceOf } from './match.ts';
import { requestOf } from './review.ts';
import type { View } from './view.ts';

const [REQUEST, KIND, RESOURCE, USER] = ['AdmissionRequest', 'GroupVersionKind', 'GroupVersionResource', 'UserInfo'].map((name) => `kubernetes.${name}`) as [string, string, string, string];

/** apiserver/pkg/admission/plugin/cel/compile.go; webhooks have neither parameters nor variables. */
const ENVIRONMENT = KUBERNETES_ENVIRONMENT.extend({
  variables: { object: DYN, oldObject: DYN, request: structType(REQUEST), authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK },
  types: [
    recordTypes({
      [REQUEST]: {
        kind: structType(KIND),
        resource: structType(RESOURCE),
        subResource: STRING,
        requestKind: structType(KIND),
        requestResource: structType(RESOURCE),
        requestSubResource: STRING,
        name: STRING,
        namespace: STRING,
        operation: STRING,
        userInfo: structType(USER),
        dryRun: BOOL,
        options: DYN,
      },
      [KIND]: { group: STRING, version: STRING, kind: STRING },
      [RESOURCE]: { group: STRING, version: STRING, resource: STRING },
      [USER]: { username: STRING, uid: STRING, groups: listType(STRING), extra: mapType(STRING, listType(STRING)) },
    }),
  ],
});

/** For all conditions of a webhook together (apiserver/pkg/apis/cel RuntimeCELCostBudgetMatchConditions). */
const COST_BUDGET = 2_500_000;

/** Whether all conditions hold. One that is false settles it, whatever the others are; `errors` are of those that have no value. */
export interface ConditionsResult {
  matches: boolean;
  errors: readonly string[];
}

const programs = new WeakMap<readonly ConditionSpec[], readonly (Program | Error)[]>();

/** This file loads the expression language: it is imported by webhooks that have conditions. */
export function evaluateConditions(conditions: readonly ConditionSpec[], attributes: AdmissionAttributes, requested: View, view: View, authorizer: Authorizer): ConditionsResult {
  const variables = variablesOf(attributes, requested, view, authorizer);
  const errors: string[] = [];
  let remaining = COST_BUDGET;
  for (const program of compiled(conditions)) {
    if (program instanceof Error) {
      errors.push(program.message);
      continue;
    }
    const { value, cost } = program.evaluate(variables, { costLimit: Math.min(remaining, DEFAULT_COST_LIMIT) });
    remaining -= cost;
    if (remaining <= 0) return { matches: true, errors: ['validation failed due to running out of cost budget, no further validation rules will be run'] };
    if (value === false) return { matches: false, errors: [] };
    if (value instanceof CelError) errors.push(`expression '${program.text}' resulted in error: ${value.message}`);
  }
  return { matches: true, errors };
}

function compiled(conditions: readonly ConditionSpec[]): readonly (Program | Error)[] {
  let found = programs.get(conditions);
  if (!found) programs.set(conditions, (found = conditions.map(({ expression }) => compileCondition(expression))));
  return found;
}

function compileCondition(expression: string): Program | Error {
  try {
    return compile(expression, ENVIRONMENT);
  } catch (error) {
    return new Error(`compilation error: compilation failed: ${(error as Error).message}`);
  }
}

function variablesOf(attributes: AdmissionAttributes, requested: View, view: View, authorizer: Authorizer) {
  const { object, oldObject, user, group, resource, subresource, name } = attributes;
  const checks = new AuthorizerValue(user, synchronous(authorizer));
  return {
    object: jsonValue(object ? view.show(object) : null),
    oldObject: jsonValue(oldObject ? view.show(oldObject) : null),
    request: jsonValue(requestOf(attributes, requested, view)),
    authorizer: checks,
    'authorizer.requestResource': checks.resource({ apiGroup: group, resource, subresource, namespace: namespaceOf(attributes), name }),
  };
}

/** An expression cannot wait for those who must ask elsewhere. */
const synchronous =
  (authorizer: Authorizer): Authorize =>
  (attributes) => {
    const decision = authorizer.authorize(attributes);
    if (!(decision instanceof Promise)) return decision;
    decision.catch(() => {});
    return { decision: 'noOpinion', reason: '', error: 'this authorizer cannot be asked from an expression' };
  };
