import { describe, expect, test } from 'vitest';
import { cellsOf, created, decodedWrite, testWrite, updated } from '../testing/kind-tester.ts';
import { mutatingAdmissionPolicies } from './mutating-admission-policy.ts';
import { mutatingAdmissionPolicyBindings } from './mutating-admission-policy-binding.ts';
import { mutatingWebhookConfigurations } from './mutating-webhook-configuration.ts';
import { validatingAdmissionPolicies } from './validating-admission-policy.ts';
import { validatingAdmissionPolicyBindings } from './validating-admission-policy-binding.ts';
import { validatingWebhookConfigurations } from './validating-webhook-configuration.ts';

const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };

const configuration = (...webhooks: object[]): object => ({ metadata: { name: 'hooks' }, webhooks });
const binding = (spec: object): object => ({ metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], ...spec } });

describe('webhook configurations', () => {
  const hook = { name: 'deny.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1/deny' } };
  const problems = (change: object): string[] => created(validatingWebhookConfigurations, configuration({ ...hook, ...change })).problems;

  test('an update that sends an empty list is a new generation', () => {
    const { object } = created(validatingWebhookConfigurations, configuration(hook));
    for (const webhooks of [[], [{ ...hook, objectSelector: { matchLabels: {} } }]]) {
      const write = { ...decodedWrite(validatingWebhookConfigurations, configuration(...webhooks)), old: object };
      validatingWebhookConfigurations.prepareForUpdate!(write);
      expect(write.object.metadata.generation).toBe(2);
    }
  });

  test('defaults', () => {
    const { object } = created(
      mutatingWebhookConfigurations,
      configuration({ ...hook, clientConfig: { service: { name: 's', namespace: 'n' } }, rules: [rule] }),
    );
    expect(object.webhooks).toEqual([
      {
        name: 'deny.example.com',
        clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
        rules: [{ ...rule, scope: '*' }],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        sideEffects: 'None',
        timeoutSeconds: 10,
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: 'Never',
      },
    ]);
    expect(cellsOf(mutatingWebhookConfigurations, object)).toMatchObject({ Webhooks: 1 });
  });

  test.each([
    [{ name: 'short' }, 'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots'],
    [{ sideEffects: 'Some' }, 'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    [{ sideEffects: null }, 'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun'],
    [{ timeoutSeconds: 31 }, 'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    [{ clientConfig: {} }, 'webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    [
      { clientConfig: { url: 'http://x' } },
      'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
    ],
    [
      { clientConfig: { service: { namespace: 'n', name: 's', path: '/a//b' } } },
      'webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
    ],
    [{ admissionReviewVersions: ['v2'] }, 'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
    [
      { rules: [{ ...rule, operations: ['*', 'CREATE'] }] },
      'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
    ],
    [
      { rules: [{ ...rule, resources: ['pods/*', 'pods/log'] }] },
      'webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if \'pods/*\' is present, must not specify pods/log',
    ],
    [{ matchConditions: [{ name: 'a', expression: ' ' }] }, 'webhooks[0].matchConditions[0].expression: Required value'],
  ])('%j is refused', (change, problem) => {
    expect(problems(change)).toEqual([problem]);
  });

  test('two webhooks of one name', () => {
    expect(created(validatingWebhookConfigurations, configuration(hook, hook)).problems).toEqual(['webhooks[1].name: Duplicate value: "deny.example.com"']);
  });

  test('what was stored before it was refused may stay', () => {
    const { object: old } = created(validatingWebhookConfigurations, configuration({ ...hook, sideEffects: 'Unknown' }));
    const change = (next: typeof old): void => void (next.webhooks![0]!.timeoutSeconds = 5);
    expect(updated(validatingWebhookConfigurations, old, change).problems).toEqual([]);
  });

  test('names of static configuration are warned of', () => {
    const { object } = created(validatingWebhookConfigurations, { metadata: { name: 'a.static.k8s.io' } });
    expect(validatingWebhookConfigurations.warnings!(testWrite(object))).toEqual([
      'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
    ]);
  });
});

describe('policies', () => {
  const matchConstraints = { resourceRules: [rule] };
  const policy = (spec: object): object => ({ metadata: { name: 'policy' }, spec: { matchConstraints, validations: [{ expression: 'true' }], ...spec } });
  const problems = (spec: object): string[] => created(validatingAdmissionPolicies, policy(spec)).problems;

  test('defaults', () => {
    const { object } = created(validatingAdmissionPolicies, policy({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }));
    expect(object.spec).toMatchObject({
      failurePolicy: 'Fail',
      matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, resourceRules: [{ scope: '*' }] },
    });
    expect(cellsOf(validatingAdmissionPolicies, object)).toMatchObject({ Validations: 1, ParamKind: 'v1/ConfigMap' });
  });

  test.each([
    [{ matchConstraints: undefined }, ['spec.matchConstraints: Required value']],
    [{ matchConstraints: {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      { validations: [] },
      ['validations', 'auditAnnotations'].map((field) => `spec.${field}: Required value: validations or auditAnnotations must contain at least one item`),
    ],
    [{ paramKind: { apiVersion: 'a/b/c', kind: 'K' } }, ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c']],
    [
      { validations: [{ expression: 'variables.a' }] },
      [
        "spec.validations[0].expression: Invalid value: \"variables.a\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.a\n | ^",
      ],
    ],
    [{ variables: [{ name: 'for', expression: '1' }] }, ['spec.variables[0].name: Invalid value: "for": must be a valid CEL identifier']],
    [
      { validations: [{ expression: 'true', message: 'a\nb', reason: 'Gone' }] },
      [
        'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
        'spec.validations[0].reason: Unsupported value: "Gone": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
    ],
    [
      {
        auditAnnotations: [
          { key: 'a', valueExpression: '"x"' },
          { key: 'a', valueExpression: ' ' },
        ],
      },
      ['spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified', 'spec.auditAnnotations[1].key: Duplicate value: "a"'],
    ],
  ])('%j', (spec, expected) => {
    expect(problems(spec)).toEqual(expected);
  });

  test('a status has paths and conditions', () => {
    const { object } = created(validatingAdmissionPolicies, policy({}));
    const change = (next: typeof object): void => {
      next.status = {
        typeChecking: { expressionWarnings: [{ fieldRef: 'spec[', warning: '' }] },
        conditions: [{ type: 'T', status: 'Maybe', lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'R', message: '' }],
      };
    };
    expect(updated(validatingAdmissionPolicies, object, change, 'status').problems).toEqual([
      'status.typeChecking.expressionWarnings[0].warning: Required value',
      'status.typeChecking.expressionWarnings[0].fieldRef: Invalid value: "spec[": invalid JSONPath: unterminated array',
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
    ]);
  });

  test('what is deleted can not be mutated', () => {
    const mutation = {
      patchType: 'JSONPatch',
      jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' },
      applyConfiguration: { expression: 'Object{}' },
    };
    const spec = { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] }, mutations: [mutation], reinvocationPolicy: 'Never' };
    expect(created(mutatingAdmissionPolicies, { metadata: { name: 'p' }, spec }).problems).toEqual([
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
    ]);
  });

  test.each([
    [
      'validations',
      [{ expression: 'object.' }],
      'spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input \'.\'\n | object.\n | .......^',
    ],
    ['validations', [{ expression: '1' }], 'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int'],
    ['validations', [{ expression: 'variables.b' }], 'spec.validations[0].expression: Invalid value: "variables.b": must evaluate to bool but got int'],
    [
      'validations',
      [{ expression: 'true', messageExpression: 'authorizer' }],
      "spec.validations[0].messageExpression: Invalid value: \"authorizer\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer\n | ^",
    ],
    [
      'auditAnnotations',
      [{ key: 'a', valueExpression: '1' }],
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ],
  ])('%s %j do not compile', (field, value, problem) => {
    const variables = [
      { name: 'a', expression: '1' },
      { name: 'b', expression: 'variables.a + 1' },
    ];
    const spec = { matchConstraints: { resourceRules: [rule] }, variables, [field]: value };
    expect(created(validatingAdmissionPolicies, { metadata: { name: 'p' }, spec }).problems).toEqual([problem]);
  });

  test('bindings', () => {
    const paramRef = { name: 'n', selector: {}, parameterNotFoundAction: 'Maybe' };
    expect(created(validatingAdmissionPolicyBindings, binding({ validationActions: ['<', '<'] })).problems.at(-1)).toBe(
      String.raw`spec.validationActions[1]: Duplicate value: "\u003c"`,
    );
    const matchExpressions = [{ key: 'a', operator: '<' }];
    expect(created(validatingAdmissionPolicyBindings, binding({ matchResources: { objectSelector: { matchExpressions } } })).problems[0]).toContain(
      String.raw`matchExpressions[0].operator: Invalid value: "\u003c": not a valid selector operator`,
    );
    expect(created(validatingAdmissionPolicyBindings, binding({ paramRef, validationActions: ['Deny', 'Warn', 'Deny'] })).problems).toEqual([
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.parameterNotFoundAction: Unsupported value: "Maybe": supported values: "Deny", "Allow"',
      'spec.validationActions[2]: Duplicate value: "Deny"',
      'spec.validationActions: Invalid value: ["Deny","Warn","Deny"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ]);
    const { object, problems: none } = created(
      mutatingAdmissionPolicyBindings,
      binding({ paramRef: { name: 'n', parameterNotFoundAction: 'Deny' }, validationActions: undefined }),
    );
    expect(none).toEqual([]);
    expect(cellsOf(mutatingAdmissionPolicyBindings, object)).toMatchObject({ PolicyName: 'p', ParamRef: '*/n' });
  });
});
