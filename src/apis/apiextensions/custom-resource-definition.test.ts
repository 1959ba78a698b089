import { describe, expect, test } from 'vitest';
import { created, testChange, testWrite, updated } from '../testing/kind-tester.ts';
import { CLEANUP_FINALIZER, customResourceDefinitions } from './custom-resource-definition.ts';

const AT = 'spec.validation.openAPIV3Schema';
const version = (more: object = {}): object => ({ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } }, ...more });
const definition = (spec: object = {}, annotations = {}): object => {
  const whole = { group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: [version()], ...spec };
  return { metadata: { name: `${whole.names.plural}.${whole.group}`, annotations }, spec: whole };
};
const withSchema = (schema: object, more: object = {}): object =>
  definition({ versions: [version({ schema: { openAPIV3Schema: { type: 'object', ...schema } }, ...more })] });
const problems = (sent: object): string[] => created(customResourceDefinitions, sent).problems;

test('defaults, and what is stored', () => {
  const { object, problems: none } = created(customResourceDefinitions, definition());
  expect(none).toEqual([]);
  expect(object.spec).toMatchObject({ names: { singular: 'thing', listKind: 'ThingList' }, conversion: { strategy: 'None' } });
  expect(object.status.storedVersions).toEqual(['v1']);
});

test.each([
  [{ group: 'nodots' }, ['spec.group: Invalid value: "nodots": should be a domain with at least one dot']],
  [{ scope: 'Galaxy' }, ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"']],
  [{ names: { plural: 'things', kind: 'Thing', listKind: 'Thing' } }, ['spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same']],
  [
    { versions: [] },
    [
      'spec.versions: Invalid value: null: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: null: must have at least one stored version',
    ],
  ],
  [{ versions: [version({ schema: undefined })] }, ['spec.versions[0].schema.openAPIV3Schema: Required value']],
  [
    { versions: [version(), version({ name: 'v2', storage: false, schema: { openAPIV3Schema: { type: 'string' } } })] },
    ['spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
  ],
  [
    { conversion: { strategy: 'Webhook' } },
    [
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions: Required value',
    ],
  ],
  [
    { preserveUnknownFields: true },
    [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ],
  [
    { versions: [version({ additionalPrinterColumns: [{ name: 'A', type: 'weird', jsonPath: 'x' }] })] },
    [
      'spec.additionalPrinterColumns[0].type: Invalid value: "weird": must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .',
    ],
  ],
  [
    { versions: [version({ subresources: { scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.spec.r' } } })] },
    ['spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.r": should be a json path under .status'],
  ],
  [
    { versions: [version({ selectableFields: [{ jsonPath: '.spec.none' }] })] },
    ['spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field'],
  ],
  [{ versions: [version({ deprecationWarning: 'x' })] }, ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions']],
])('%j', (spec, expected) => {
  expect(problems(definition(spec))).toEqual(expected);
});

describe('schemas', () => {
  test.each([
    [{ properties: { a: {} } }, [`${AT}.properties[a].type: Required value: must not be empty for specified object fields`]],
    [{ properties: { a: { type: 'array' } } }, [`${AT}.properties[a].items: Required value: must be specified`]],
    [
      { properties: { a: { type: 'string', pattern: '(' } } },
      [`${AT}.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``],
    ],
    [
      { anyOf: [{ properties: { x: { type: 'string' } } }] },
      [
        `${AT}.anyOf[0].properties[x].type: Forbidden: must be empty to be structural`,
        `${AT}.properties[x]: Required value: because it is defined in ${AT}.anyOf[0].properties[x]`,
      ],
    ],
    [
      { properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
      [`${AT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`],
    ],
    [{ additionalProperties: true }, [`${AT}.additionalProperties: Forbidden: must not be used at the root`]],
    [
      { properties: { a: { type: 'integer', default: 'x' } } },
      [`${AT}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    [{ properties: { a: { type: 'object', default: { b: 1 } } } }, [`${AT}.properties[a].default: Invalid value: {"b":1}: must not have unknown fields`]],
    [{ properties: { a: { $ref: '#/x' } } }, [`${AT}.properties[a].$ref: Forbidden: $ref is not supported`]],
    [
      { patternProperties: {}, definitions: {}, properties: { a: { type: 'object', dependencies: {} } } },
      [`${AT}.properties[a].dependencies: Forbidden: dependencies is not supported`],
    ],
    [
      { properties: { a: { type: 'string', uniqueItems: true } } },
      [`${AT}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`],
    ],
    [
      {
        properties: {
          a: {
            type: 'array',
            items: { type: 'object', properties: { k: { type: 'string' } } },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
          },
        },
      },
      [
        `${AT}.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ],
    [
      { properties: { a: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' } } },
      [`${AT}.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`],
    ],
    [
      { properties: { a: { type: 'array', items: { type: 'object', 'x-kubernetes-list-type': '<' }, 'x-kubernetes-list-type': 'set' } } },
      [
        `${AT}.properties[a].items.type: Invalid value: "object": must be array if x-kubernetes-list-type is specified`,
        `${AT}.properties[a].items.x-kubernetes-list-type: Unsupported value: "<": supported values: "atomic", "set", "map"`,
        `${AT}.properties[a].items.x-kubernetes-map-type: Invalid value: "\\u003c": must be atomic as item of a list with x-kubernetes-list-type=set`,
      ],
    ],
    [
      { 'x-kubernetes-validations': [{ rule: ' ', reason: 'No', fieldPath: '.nope' }] },
      [
        `${AT}.x-kubernetes-validations[0].rule: Required value: rule is not specified`,
        `${AT}.x-kubernetes-validations[0].reason: Unsupported value: "No": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
        `${AT}.x-kubernetes-validations[0].fieldPath: Invalid value: ".nope": must be a valid path`,
      ],
    ],
    [{ $schema: 'x' }, [`${AT}: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`]],
    [{ properties: { a: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true } } }, []],
  ])('%j', (schema, expected) => {
    expect(problems(withSchema(schema))).toEqual(expected);
  });

  test('a default is printed with its keys in order, and an embedded one is a resource', () => {
    const wrong = { type: 'object', default: { b: 1, a: 2 } };
    expect(problems(withSchema({ properties: { wrong } }))).toEqual([
      `${AT}.properties[wrong].default: Invalid value: {"a":2,"b":1}: must not have unknown fields`,
    ]);
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true, default: { kind: 'A' } };
    expect(problems(withSchema({ properties: { embedded } }))).toEqual([`${AT}.properties[embedded].default.apiVersion: Required value`]);
  });

  test.each([
    [{ kind: { type: 'string', default: 'not a kind' } }, '[kind]', '"not a kind"', 'kind: Invalid value: "not a kind": may have mixed case, but should'],
    [
      { metadata: { type: 'object', properties: { finalizers: { type: 'array', items: { type: 'string', default: 'a b' } } } } },
      '[metadata].properties[finalizers].items',
      '"a b"',
      'metadata.finalizers: Invalid value: "a b": ',
    ],
    [
      { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a/b' } } } },
      '[metadata].properties[name]',
      '"a/b"',
      `metadata.name: Invalid value: "a/b": may not contain '/'`,
    ],
    [
      { metadata: { type: 'object', properties: { labels: { type: 'array', items: { type: 'string' }, default: [] } } } },
      '[metadata].properties[labels]',
      '[]',
      'metadata: Invalid value: {"labels":[]}: json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string',
    ],
  ])("a default in an embedded resource's metadata %j makes valid metadata", (properties, at, shown, why) => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, properties };
    const [problem] = problems(withSchema({ properties: { embedded } }));
    expect(problem).toContain(`${AT}.properties[embedded].properties${at}.default: Invalid value: ${shown}: must result in valid metadata: ${why}`);
  });

  test('a default that is a resource is told what it cannot be, by what comes first', () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
    const properties = { embedded: { ...embedded, default: { apiVersion: 1, metadata: { labels: 1 } } } };
    expect(problems(withSchema({ properties }))).toEqual([`${AT}.properties[embedded].default.apiVersion: Invalid value: 1: must be a string`]);
  });

  test('with /status, the root says little', () => {
    const [problem, ...others] = problems(withSchema({ enum: [{}] }, { subresources: { status: {} } }));
    expect(problem).toMatch(
      /^spec.validation.openAPIV3Schema: Invalid value: \{"ID":"","Schema":"".*only \[Description Type .* XValidations\] fields are allowed at the root of the schema if the status subresource is enabled$/,
    );
    expect(others).toEqual([]);
  });

  test('formats that nobody checks by are warned of', () => {
    const { object } = created(
      customResourceDefinitions,
      withSchema({ properties: { a: { type: 'string', format: 'date-time' }, b: { type: 'string', format: 'weird' } } }),
    );
    expect(customResourceDefinitions.warnings!(testWrite(object))).toEqual(['unrecognized format "weird"']);
    expect(customResourceDefinitions.warnings!(testChange(object, object))).toEqual([]);
  });

  test('a schema of 1,000 levels and one of 20,000 fields are checked in time', () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 1000; level++) deep = { type: 'object', properties: { a: deep } };
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, { type: 'string', pattern: '^a+$', default: 'a' }]));
    const before = process.cpuUsage();
    expect(problems(withSchema({ properties: { deep, wide: { type: 'object', properties } } }))).toEqual([]);
    // It takes 1.5 s. A square of the fields would take minutes.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(15);
  });
});

test("the community's groups need an approval", () => {
  const group = { group: 'new.k8s.io' };
  expect(problems(definition(group))).toEqual([
    'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  ]);
  for (const value of ['https://github.com/kubernetes/kubernetes/pull/1', 'unapproved, an experiment'])
    expect(problems(definition(group, { 'api-approved.kubernetes.io': value }))).toEqual([]);
  expect(problems(definition(group, { 'api-approved.kubernetes.io': 'yes' }))[0]).toContain('with either a URL or a reason');
});

test('what an update may change', () => {
  const { object: old } = created(customResourceDefinitions, definition());
  old.status.conditions = [{ type: 'Established', status: 'True', lastTransitionTime: null }];
  const change = updated(customResourceDefinitions, old, ({ spec }) => {
    spec.scope = 'Cluster';
    spec.names.kind = 'Other';
    spec.group = 'other.example.com';
  });
  expect(change.problems).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Other": field is immutable',
    'spec.group: Invalid value: "other.example.com": field is immutable',
  ]);
  const renamed = updated(customResourceDefinitions, old, ({ spec }) => void (spec.versions![0]!.name = 'v2'));
  expect(renamed.object.status.storedVersions).toEqual(['v1', 'v2']);
  expect(renamed.problems).toEqual([
    expect.stringMatching(/^status.storedVersions\[0\]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version/),
  ]);
});

test('the first deletion marks', () => {
  const { object } = created(customResourceDefinitions, definition());
  expect(customResourceDefinitions.deletion!.mayRemove!(object)).toBe(false);
  Object.assign(object.metadata, { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, generation: 2 });
  customResourceDefinitions.deletion!.mark!(object);
  expect(object.metadata).toMatchObject({ finalizers: [CLEANUP_FINALIZER], generation: 1 });
  expect(object.status.conditions).toMatchObject([{ type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' }]);
});
