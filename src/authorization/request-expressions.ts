import { compile } from '../cel/cel.ts';
import { jsonValue } from '../cel/data/json-value.ts';
import { recordTypes } from '../cel/data/record-types.ts';
import { KUBERNETES_ENVIRONMENT } from '../cel/library/kubernetes.ts';
import { STRING, formatType, listType, mapType, structType } from '../cel/types.ts';
import { CelError } from '../cel/values.ts';
import type { ConditionCompiler } from './match-conditions.ts';

const [REQUEST, RESOURCE, PATH, SELECTOR, REQUIREMENT] = [
  'SubjectAccessReviewSpec',
  'ResourceAttributes',
  'NonResourceAttributes',
  'SelectorAttributes',
  'SelectorRequirement',
].map((name) => `kubernetes.${name}`) as [string, string, string, string, string];
const TEXTS = listType(STRING);

/** apiserver/pkg/authorization/cel/compile.go */
const ENVIRONMENT = KUBERNETES_ENVIRONMENT.extend({
  variables: { request: structType(REQUEST) },
  types: [
    recordTypes({
      [REQUEST]: {
        resourceAttributes: structType(RESOURCE),
        nonResourceAttributes: structType(PATH),
        user: STRING,
        groups: TEXTS,
        extra: mapType(STRING, TEXTS),
        uid: STRING,
      },
      [RESOURCE]: {
        namespace: STRING,
        verb: STRING,
        group: STRING,
        version: STRING,
        resource: STRING,
        subresource: STRING,
        name: STRING,
        fieldSelector: structType(SELECTOR),
        labelSelector: structType(SELECTOR),
      },
      [PATH]: { path: STRING, verb: STRING },
      [SELECTOR]: { rawSelector: STRING, requirements: listType(structType(REQUIREMENT)) },
      [REQUIREMENT]: { key: STRING, operator: STRING, values: TEXTS },
    }),
  ],
});

/** Loads the expression language: to be imported where there are conditions. */
export const compileCondition: ConditionCompiler = (text) => {
  const program = compiled(text);
  if (program.resultType.kind !== 'bool') throw new Error(`must evaluate to bool but got ${formatType(program.resultType)}`);
  return {
    text,
    holds(request) {
      const { value } = program.evaluate({ request: jsonValue(request) });
      if (value instanceof CelError) throw new Error(value.message);
      return value === true;
    },
  };
};

function compiled(text: string): ReturnType<typeof compile> {
  try {
    return compile(text, ENVIRONMENT);
  } catch (error) {
    throw new Error(`compilation failed: ${(error as Error).message}`, { cause: error });
  }
}
