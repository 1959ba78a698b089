import { describe, expect, test } from 'vitest';
import type { ResourceIdentity } from '../../client/client.ts';
import type { ApiError } from '../../api/errors.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { type TestEnvironment, type TestedWrite, testEnvironment, writeOf } from '../testing/attributes.ts';
import { validatingAdmissionPolicy } from './validating-admission-policy.ts';

const GROUP = 'admissionregistration.k8s.io';
const CONFIG_MAPS = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] };

async function put(environment: TestEnvironment, group: string, plural: string, namespace: string, object: object): Promise<void> {
  await environment.client.resource(group, plural).create(namespace, { kind: '', apiVersion: '', ...object } as never);
}

const addPolicy = (environment: TestEnvironment, name: string, spec: object): Promise<void> =>
  put(environment, GROUP, 'validatingadmissionpolicies', '', {
    metadata: { name, uid: name },
    spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules: [CONFIG_MAPS], matchPolicy: 'Equivalent' }, ...spec },
  });

const bind = (environment: TestEnvironment, name: string, spec: object): Promise<void> =>
  put(environment, GROUP, 'validatingadmissionpolicybindings', '', { metadata: { name }, spec: { validationActions: ['Deny'], ...spec } });

/** A plug-in with one policy `p`, bound by `b`. */
async function pluginWith(spec: object, binding: object = {}, environment = testEnvironment()): Promise<AdmissionPlugin> {
  await put(environment, '', 'namespaces', '', { metadata: { name: 'n', labels: { team: 'a' } } });
  await addPolicy(environment, 'p', spec);
  await bind(environment, 'b', { policyName: 'p', ...binding });
  return validatingAdmissionPolicy(environment);
}

const aConfigMap = (data: Record<string, string> = {}, more: Partial<TestedWrite> = {}): TestedWrite => writeOf('configmaps', { data }, more);

async function refusalOf(plugin: AdmissionPlugin, write = aConfigMap()): Promise<{ code: number; reason?: string; message: string }> {
  try {
    await plugin.validate!(write);
  } catch (error) {
    const { code, reason, message } = error as ApiError;
    return {
      code,
      message: message.replace(/^configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: /, ''),
      ...(reason && { reason }),
    };
  }
  return { code: 200, message: '' };
}

describe('a validation', () => {
  test('refuses with its message, its expression, or what its message expression says', async () => {
    const messages = async (validation: object): Promise<unknown> =>
      refusalOf(await pluginWith({ validations: [{ expression: 'has(object.data.a)', ...validation }] }));
    expect(await messages({})).toEqual({ code: 422, reason: 'Invalid', message: 'failed expression: has(object.data.a)' });
    expect(await messages({ message: 'want a', reason: 'Forbidden' })).toEqual({ code: 403, reason: 'Forbidden', message: 'want a' });
    expect(await messages({ message: 'want a', messageExpression: "object.metadata.name + ' wants a'" })).toMatchObject({ message: 'x wants a' });
    expect(await messages({ message: 'want a', messageExpression: "'two\\nlines'" })).toMatchObject({ message: 'want a' });
  });

  test('lets pass what keeps it', async () => {
    const plugin = await pluginWith({ validations: [{ expression: "object.data.a == '1' && oldObject == null && request.operation == 'CREATE'" }] });
    expect(await refusalOf(plugin, aConfigMap({ a: '1' }))).toMatchObject({ code: 200 });
  });

  test('that has no answer is left to the failure policy', async () => {
    const validations = [{ expression: "object.data.a == ''" }];
    expect(await refusalOf(await pluginWith({ validations }))).toEqual({
      code: 422,
      reason: 'Invalid',
      message: "expression 'object.data.a == ''' resulted in error: no such key: a",
    });
    expect(await refusalOf(await pluginWith({ validations, failurePolicy: 'Ignore' }))).toMatchObject({ code: 200 });
  });

  test('sees variables that build on each other, the namespace, and what the user may do', async () => {
    const variables = [
      { name: 'one', expression: '1' },
      { name: 'two', expression: 'variables.one + 1' },
    ];
    const expression =
      "variables.two == 2 && namespaceObject.metadata.labels.team == 'a' && authorizer.group('').resource('pods').namespace('n').check('get').allowed()";
    const environment = testEnvironment((verb, resource) => verb === 'get' && resource === 'pods');
    expect(await refusalOf(await pluginWith({ variables, validations: [{ expression }] }, {}, environment))).toMatchObject({ code: 200 });
  });

  test('waits for authorizers that answer later', async () => {
    const environment = testEnvironment();
    environment.authorizer.authorize = async () => ({ decision: 'allow', reason: '' });
    const expression = "authorizer.requestResource.check('delete').allowed() && authorizer.path('/x').check('get').allowed()";
    expect(await refusalOf(await pluginWith({ validations: [{ expression }] }, {}, environment))).toMatchObject({ code: 200 });
  });

  test('that costs too much ends the evaluation', async () => {
    const check = "authorizer.group('').resource('pods').check('get').allowed()";
    const expression = Array.from({ length: 2 }, () => check).join(' || ');
    const validations = Array.from({ length: 20 }, () => ({ expression }));
    expect(await refusalOf(await pluginWith({ validations }))).toMatchObject({
      message: 'validation failed due to running out of cost budget, no further validation rules will be run',
    });
  });
});

describe('a request is evaluated', () => {
  const denying = { validations: [{ expression: 'false' }] };

  test('where rules, selectors and conditions say so', async () => {
    const codeFor = async (spec: object, write?: TestedWrite): Promise<number> => (await refusalOf(await pluginWith({ ...denying, ...spec }), write)).code;
    const constraints = (more: object): object => ({ matchConstraints: { resourceRules: [CONFIG_MAPS], ...more } });
    expect(await codeFor({})).toBe(422);
    expect(await codeFor({}, writeOf('secrets', {}))).toBe(200);
    expect(await codeFor({}, aConfigMap({}, { operation: 'DELETE' }))).toBe(200);
    expect(await codeFor(constraints({ excludeResourceRules: [{ ...CONFIG_MAPS, resourceNames: ['x'] }] }))).toBe(200);
    expect(await codeFor(constraints({ namespaceSelector: { matchLabels: { team: 'b' } } }))).toBe(200);
    expect(await codeFor(constraints({ objectSelector: { matchLabels: { a: 'b' } } }))).toBe(200);
    expect(await codeFor(constraints({ resourceRules: [{ ...CONFIG_MAPS, resources: ['*/status'] }] }))).toBe(200);
    expect(await codeFor({ matchConditions: [{ name: 'c', expression: "object.metadata.name != 'x'" }] })).toBe(200);
    expect(await codeFor({}, writeOf(`validatingadmissionpolicies.${GROUP}`, {}))).toBe(200);
  });

  test('as soon as a policy is bound, and no longer than it is', async () => {
    const environment = testEnvironment();
    const plugin = validatingAdmissionPolicy(environment);
    expect((await refusalOf(plugin)).code).toBe(200);
    await addPolicy(environment, 'p', denying);
    expect((await refusalOf(plugin)).code).toBe(200);
    await put(environment, '', 'namespaces', '', { metadata: { name: 'n' } });
    await bind(environment, 'b', { policyName: 'p' });
    expect((await refusalOf(plugin)).code).toBe(422);
    await environment.client.resource(GROUP, 'validatingadmissionpolicies').delete('', 'p');
    expect((await refusalOf(plugin)).code).toBe(200);
  });
});

test('warnings and annotations take the place of a refusal', async () => {
  const spec = { validations: [{ expression: 'false', message: 'no' }], auditAnnotations: [{ key: 'n', valueExpression: 'string(object.data.size())' }] };
  const write = aConfigMap({ a: '1' });
  await (
    await pluginWith(spec, { validationActions: ['Warn', 'Audit'] })
  ).validate!(write);
  expect(write.warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"]);
  expect(write.auditAnnotations).toEqual({
    'p/n': '1',
    'validation.policy.admission.k8s.io/validation_failure':
      '[{"message":"no","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Warn","Audit"]}]',
  });
});

describe('parameters', () => {
  const SECRETS: ResourceIdentity = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', apiVersions: ['v1'], namespaced: true, verbs: [] };
  const spec = { paramKind: { apiVersion: 'v1', kind: 'Secret' }, validations: [{ expression: 'object.data.a == params.data.a' }] };

  async function codeWith(paramRef: object, resources = [SECRETS]): Promise<{ code: number; message: string }> {
    const environment = testEnvironment();
    environment.client.resources = () => resources;
    for (const a of ['1', '2']) await put(environment, '', 'secrets', 'n', { metadata: { name: `s${a}`, namespace: 'n', labels: { a } }, data: { a } });
    return refusalOf(await pluginWith(spec, { paramRef }, environment), aConfigMap({ a: '1' }));
  }

  test('are found by name or selector, and all must be kept', async () => {
    expect(await codeWith({ name: 's1', parameterNotFoundAction: 'Deny' })).toMatchObject({ code: 200 });
    expect(await codeWith({ name: 's2', parameterNotFoundAction: 'Deny' })).toMatchObject({ code: 422 });
    expect(await codeWith({ selector: { matchLabels: { a: '1' } }, parameterNotFoundAction: 'Deny' })).toMatchObject({ code: 200 });
    expect(await codeWith({ selector: {}, parameterNotFoundAction: 'Deny' })).toMatchObject({ code: 422 });
  });

  test('that are missing deny or let pass', async () => {
    expect(await codeWith({ name: 's3', parameterNotFoundAction: 'Allow' })).toMatchObject({ code: 200 });
    expect(await codeWith({ name: 's3', parameterNotFoundAction: 'Deny' })).toMatchObject({
      message: 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    });
  });

  test('of a kind that nobody serves are a fault of the policy', async () => {
    const { message } = await codeWith({ name: 's1' }, []);
    expect(message).toContain(
      "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: '/v1, Kind=Secret'",
    );
  });
});

test('what is not admitted without an error is counted, by what is done about it', async () => {
  const environment = testEnvironment();
  const validations = [{ expression: 'has(object.data.a)' }, { expression: 'true' }, { expression: 'object.none' }];
  const plugin = await pluginWith({ validations }, { validationActions: ['Deny', 'Audit'] }, environment);
  expect(await refusalOf(plugin)).toMatchObject({ code: 422 });
  const counted = environment.registry.print().match(/^apiserver_validating\S+_total\{.*$/gm);
  expect(counted).toEqual(
    ['audit', 'deny'].flatMap((action) => [
      `apiserver_validating_admission_policy_check_total{enforcement_action="${action}",error_type="compile_error",policy="p",policy_binding="b"} 1`,
      `apiserver_validating_admission_policy_check_total{enforcement_action="${action}",error_type="invalid_error",policy="p",policy_binding="b"} 1`,
    ]),
  );
});
