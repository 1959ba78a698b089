import { describe, expect, test } from 'vitest';
import type { ValidatingAdmissionPolicy } from '../facts/types/admissionregistration-v1.ts';
import { runAtOnce } from '../../util/time-slice.ts';
import { groupVersions, resourcesOf } from '../facts/resources.ts';
import { schemaOfKind } from '../facts/schemas.ts';
import { seenType } from './seen-type.ts';
import { type ServedType, expressionWarnings } from './type-checking.ts';

const served: ServedType[] = groupVersions.flatMap(({ group, version }) =>
  resourcesOf(group, version).map(({ plural, kind }) => ({ group, version, plural, kind, seen: () => seenType(schemaOfKind(group, version, kind)) })),
);

const DEPLOYMENTS = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments'] };

/** The warnings of one expression, and of what stands beside it in the spec. */
function warningsOf(expression: string, spec: object = {}): string[] {
  const policy = { spec: { matchConstraints: { resourceRules: [DEPLOYMENTS] }, validations: [{ expression }], ...spec } };
  return runAtOnce(expressionWarnings(policy as unknown as ValidatingAdmissionPolicy, served)).map(({ warning }) => warning);
}

/* The expectations are what upstream's TypeChecker (v1.36.4) answered to the same expressions. */

describe('an expression', () => {
  test('that fits its kinds has no warning', () => {
    expect(warningsOf("object.spec.replicas > 1 && object.metadata.name.startsWith('a') && request.operation == 'CREATE'")).toEqual([]);
  });

  test('that does not is told of with kind and place', () => {
    expect(warningsOf('object.spec.replica > 1')).toEqual([
      "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'\n | object.spec.replica > 1\n | ...........^\n",
    ]);
  });

  test.each([
    ["object.spec.replicas == '1'", "found no matching overload for '_==_' applied to '(int, string)'"],
    ['object.spec.template.spec.containers[0].image.bar', "type 'string' does not support field selection"],
    ['object.metadata.labels.x == 1', "found no matching overload for '_==_' applied to '(string, int)'"],
    ['oldObject.spec.foo', "undefined field 'foo'"],
    ['namespaceObject.spec.x', "undefined field 'x'"],
    ['params.data.x == 1', "undeclared reference to 'params' (in container '')"],
    ['variables.a', "undefined field 'a'"],
    ['authorizer.requestResource.check("create").allowed()', "unexpected failed resolution of 'kubernetes.authorization.Authorizer'"],
    // OpenAPI gives quantities no type, so that upstream's checker does not see them.
    ["object.spec.template.spec.containers.all(c, c.resources.limits.cpu == '1')", "undefined field 'limits'"],
    ['object.spec.x == (', "Syntax error: mismatched input '<EOF>'"],
  ])('%s is warned of', (expression, message) => {
    expect(warningsOf(expression)).toEqual([expect.stringContaining(message)]);
  });

  test.each(['object.spec.strategy.rollingUpdate.maxSurge > 1', "object.metadata.creationTimestamp < timestamp('2020-01-01T00:00:00Z')"])('%s fits', (text) => {
    expect(warningsOf(text)).toEqual([]);
  });
});

test('variables have the types of what they are, but objects are not looked into', () => {
  const variables = [
    { name: 'a', expression: 'object.metadata.name' },
    { name: 'b', expression: 'object.spec' },
    { name: 'c', expression: 'object.nope' },
    { name: 'd', expression: "variables.a + 'x'" },
  ];
  expect(warningsOf('variables.b.foo && variables.c', { variables })).toEqual([]);
  expect(warningsOf('variables.d == 1', { variables })).toEqual([expect.stringContaining("applied to '(string, int)'")]);
});

test('parameters have the type of their kind', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  expect(warningsOf("params.data.x == 'a'", { paramKind })).toEqual([]);
  expect(warningsOf('params.nope', { paramKind })).toEqual([expect.stringContaining("undefined field 'nope'")]);
  expect(warningsOf('params.nope', { paramKind: { apiVersion: 'example.com/v1', kind: 'Unknown' } })).toEqual([]);
});

describe('the kinds that rules name', () => {
  const rule = (apiGroups: string[], resources: string[]) => ({ apiGroups, apiVersions: ['v1'], operations: ['*'], resources });
  const kindsOf = (...resourceRules: object[]): string[] =>
    warningsOf('object.nope', { matchConstraints: { resourceRules } }).flatMap((text) => [...text.matchAll(/^(\S*, Kind=\w+)/gm)].map(([, kind]) => kind!));

  test.each<[string, object[], string[]]>([
    [
      'in order',
      [rule([''], ['pods']), rule(['apps'], ['statefulsets', 'deployments'])],
      ['/v1, Kind=Pod', 'apps/v1, Kind=Deployment', 'apps/v1, Kind=StatefulSet'],
    ],
    ['of any group, for the core one', [rule([''], ['events'])], ['/v1, Kind=Event', 'events.k8s.io/v1, Kind=Event']],
    ['none for stars and subresources', [rule(['*'], ['pods']), rule([''], ['*', 'pods/status'])], []],
    ['none where they are not served', [rule(['example.com'], ['widgets'])], []],
  ])('%s', (_, rules, kinds) => {
    expect(kindsOf(...rules)).toEqual(kinds);
  });

  test('no more than ten of a rule', () => {
    const many = ['configmaps', 'secrets', 'pods', 'services', 'endpoints', 'limitranges', 'nodes', 'namespaces', 'events', 'bindings', 'serviceaccounts'];
    expect(kindsOf(rule([''], many))).toHaveLength(10);
  });
});

test('messages are checked too', () => {
  const validations = [{ expression: 'true', messageExpression: "'x' + object.spec.replicas" }];
  const policy = { spec: { matchConstraints: { resourceRules: [DEPLOYMENTS] }, validations } };
  expect(runAtOnce(expressionWarnings(policy as unknown as ValidatingAdmissionPolicy, served))).toEqual([
    { fieldRef: 'spec.validations[0].messageExpression', warning: expect.stringContaining("found no matching overload for '_+_'") as string },
  ]);
});
