import { describe, expect, test } from 'vitest';
import { configMaps } from '../../apis/core/config-map.ts';
import { deployments } from '../../apis/apps/deployment.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { ApiError } from '../../api/errors.ts';
import { AdmissionChain } from '../chain.ts';
import { type TestEnvironment, type TestedWrite, testEnvironment, writeOf } from '../testing/attributes.ts';
import { mutatingAdmissionPolicy } from './mutating-admission-policy.ts';

const GROUP = 'admissionregistration.k8s.io';
const RULE = { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['*'] };
const apply = (expression: string): object => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

async function put(environment: TestEnvironment, group: string, plural: string, object: object): Promise<void> {
  await environment.client.resource(group, plural).create('', { kind: '', apiVersion: '', ...object } as never);
}

/** One policy for each list of mutations, bound, in that order. */
const chainWith = (...policies: MutatingSpec[]): Promise<AdmissionChain> => chainIn(testEnvironment(), ...policies);

interface MutatingSpec {
  mutations: object[];
  failurePolicy?: string;
  reinvocationPolicy?: string;
  matchConditions?: object[];
}

async function chainIn(environment: TestEnvironment, ...policies: MutatingSpec[]): Promise<AdmissionChain> {
  await put(environment, '', 'namespaces', { metadata: { name: 'n' } });
  for (const [index, spec] of policies.entries()) {
    const name = `p${index}`;
    const whole = { failurePolicy: 'Fail', reinvocationPolicy: 'Never', matchConstraints: { resourceRules: [RULE] }, ...spec };
    await put(environment, GROUP, 'mutatingadmissionpolicies', { metadata: { name, uid: name }, spec: whole });
    await put(environment, GROUP, 'mutatingadmissionpolicybindings', { metadata: { name: 'b' + index }, spec: { policyName: name } });
  }
  const chain = new AdmissionChain(environment.metrics);
  chain.use([mutatingAdmissionPolicy(environment)]);
  return chain;
}

function aConfigMap(data: Record<string, string> = {}): TestedWrite {
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  return writeOf('configmaps', { kind: 'ConfigMap', apiVersion: 'v1', data }, { kind, definition: configMaps as unknown as ResourceDefinition });
}

async function dataAfter(chain: AdmissionChain, data: Record<string, string> = {}): Promise<Record<string, string>> {
  const write = aConfigMap(data);
  const { object } = write;
  await chain.mutate(write);
  expect(write.object).toBe(object);
  return (object as unknown as { data: Record<string, string> }).data;
}

async function messageOf(chain: AdmissionChain): Promise<{ code: number; reason: string | undefined; message: string }> {
  const error = (await Promise.resolve(chain.mutate(aConfigMap({ a: '1' }))).catch((thrown: unknown) => thrown)) as ApiError;
  return { code: error.code, reason: error.reason, message: error.message };
}

describe('a mutation', () => {
  test('applies a configuration: maps are joined, and lists by their keys', async () => {
    const chain = await chainWith({ mutations: [apply("Object{data: Object.data{b: object.data.a + '!'}}")] });
    expect(await dataAfter(chain, { a: '1' })).toEqual({ a: '1', b: '1!' });
  });

  test('adds to a list by its key, with defaults', async () => {
    const chain = await chainWith({
      mutations: [
        apply(
          "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'b', image: 'i'}]}}}}",
        ),
      ],
    });
    const object = {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      spec: { selector: {}, template: { metadata: {}, spec: { containers: [{ name: 'a', image: 'i' }] } } },
    };
    const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
    const write = writeOf('deployments.apps', object, { kind, definition: deployments as unknown as ResourceDefinition });
    await chain.mutate(write);
    expect(write.object).toMatchObject({
      spec: { replicas: 1, template: { spec: { containers: [{ name: 'a' }, { name: 'b', terminationMessagePolicy: 'File' }] } } },
    });
  });

  test('applies JSON patches, unless a test among them fails', async () => {
    const testing = (value: string): object =>
      patch(`[JSONPatch{op: 'test', path: '/data/a', value: '${value}'}, JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('x/y'), value: 'z'}]`);
    expect(await dataAfter(await chainWith({ mutations: [testing('1')] }), { a: '1' })).toEqual({ a: '1', 'x/y': 'z' });
    expect(await dataAfter(await chainWith({ mutations: [testing('2')] }), { a: '1' })).toEqual({ a: '1' });
  });

  test('that do not apply are told as upstream tells them, a test of nothing among them', async () => {
    const denied = async (expression: string): Promise<string> => (await messageOf(await chainWith({ mutations: [patch(expression)] }))).message;
    expect(await denied("[JSONPatch{op: 'test', path: '/none/a', value: 'x'}]")).toContain(
      'denied request: JSON Patch: test operation does not apply: is missing path: /none/a: missing value',
    );
    expect(await denied("[JSONPatch{op: 'add', path: '/none/a', value: 'x'}]")).toContain(
      'denied request: JSON Patch: add operation does not apply: doc is missing path: "/none/a": missing value',
    );
  });

  test('that fails denies, or is passed over', async () => {
    const failing = [apply('Object{data: Object.data{b: object.data.missing}}')];
    expect(await messageOf(await chainWith({ mutations: failing }))).toEqual({
      code: 403,
      reason: 'Invalid',
      message:
        "policy 'p0' with binding 'b0' denied request: expression 'Object{data: Object.data{b: object.data.missing}}' resulted in error: no such key: missing",
    });
    expect(await dataAfter(await chainWith({ mutations: failing, failurePolicy: 'Ignore' }), { a: '1' })).toEqual({ a: '1' });
  });

  test('may not add what the type does not have', async () => {
    const { code, message } = await messageOf(await chainWith({ mutations: [patch("[JSONPatch{op: 'add', path: '/bogus', value: 'x'}]")] }));
    expect([code, message]).toEqual([500, 'Internal error occurred: strict decoding error: unknown field "bogus"']);
  });

  test('that makes what the type can not be denies', async () => {
    const chain = await chainWith({ mutations: [apply("Object{binaryData: Object.binaryData{b: '!'}}")] });
    expect(await messageOf(chain)).toEqual({
      code: 403,
      reason: 'Invalid',
      message:
        "policy 'p0' with binding 'b0' denied request: unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from json: illegal base64 data at input byte 0",
    });
  });

  test('must name types by the way to them, and fields that there are', async () => {
    const denied = async (expression: string): Promise<string> => (await messageOf(await chainWith({ mutations: [apply(expression)] }))).message;
    expect(await denied("Object{data: Object.wrong{a: 'b'}}")).toContain(
      'type mismatch: unexpected type name "Object.wrong", expected "Object.data", which matches field name path from root Object type',
    );
    expect(await denied("Object{nothing: 'x'}")).toContain(
      'error applying patch: failed to convert patch object to typed object: .nothing: field not declared in schema',
    );
  });
});

test('policies run in order, and again where they ask for it and something changed after them', async () => {
  const count = apply('Object{data: Object.data{seen: string(object.data.size())}}');
  const add = apply("Object{data: Object.data{late: 'x'}}");
  expect(await dataAfter(await chainWith({ mutations: [count] }, { mutations: [add] }), { a: '1' })).toEqual({ a: '1', seen: '1', late: 'x' });
  expect(await dataAfter(await chainWith({ mutations: [count], reinvocationPolicy: 'IfNeeded' }, { mutations: [add] }), { a: '1' })).toEqual({
    a: '1',
    seen: '3',
    late: 'x',
  });
});

test('mutations are counted by what came of them, and conditions that kept a policy away', async () => {
  const environment = testEnvironment();
  const chain = await chainIn(
    environment,
    { mutations: [patch("[JSONPatch{op: 'add', path: '/data/b', value: 'x'}]")] },
    { mutations: [patch('object.none')], failurePolicy: 'Ignore' },
    { mutations: [patch('[]')], matchConditions: [{ name: 'never', expression: 'false' }] },
  );
  expect(await dataAfter(chain, { a: '1' })).toEqual({ a: '1', b: 'x' });
  const counted = environment.registry.print().match(/^apiserver_(?:mutating\S+_total|admission_match\S+_count)\{.*$/gm);
  expect(counted).toEqual([
    'apiserver_admission_match_condition_evaluation_seconds_count{kind="policy",name="p2",operation="CREATE",type="validate"} 2',
    'apiserver_mutating_admission_policy_check_total{error_type="invalid_error",policy="p1",policy_binding="b1"} 1',
    'apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="p0",policy_binding="b0"} 1',
  ]);
});

test('conditions look at what policies before have made of the object, and a refusal names it as it was changed', async () => {
  const named = patch(`[JSONPatch{op: 'replace', path: '/metadata/name', value: 'other'}]`);
  const hasName = [{ name: 'named', expression: `object.metadata.name == 'other'` }];
  const marked = { mutations: [patch(`[JSONPatch{op: 'add', path: '/data', value: {'is': 'marked'}}]`)], matchConditions: hasName };
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  const unnamed = (): TestedWrite =>
    writeOf(
      'configmaps',
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'g-' } },
      { kind, name: '', definition: configMaps as unknown as ResourceDefinition },
    );
  const after = unnamed();
  await (await chainWith({ mutations: [named] }, marked)).mutate(after);
  expect(after.object).toMatchObject({ metadata: { name: 'other' }, data: { is: 'marked' } });
  const refused: Promise<unknown> = (async () => (await chainWith(marked, { mutations: [named] })).mutate(unnamed()))();
  const error = await refused.then(
    () => undefined,
    (thrown: ApiError) => thrown,
  );
  expect(error?.message).toContain('no such key: name');
  expect(error?.status.details?.name).toBe('other');
});
