import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../scripts/facts/current.ts';
import { customResourceDefinitions } from '../apis/apiextensions/custom-resource-definition.ts';
import { apiServices } from '../apis/apiregistration/api-service.ts';
import type { ServiceAllocators } from '../apis/core/service/allocation.ts';
import { featuresWhere } from '../apis/features.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { codecOf, customCodec, storedKind } from '../registry/stored-codec.ts';
import { normalize } from '../schema/normalize.ts';
import { decodeEnvelope, encodeProtobufObject } from '../schema/protobuf.ts';
import { type StoredCodec, jsonCodec } from '../storage/codec.ts';
import type { StorageMediaType } from '../storage/encoding/upstream-codec.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { parseYaml, toYaml } from '../encoding/yaml.ts';
import { kubeKinds } from './kinds.ts';

/* Objects as kube-apiserver stores them. */

const kinds: ResourceDefinition[] = [
  ...kubeKinds({
    allocators: {} as ServiceAllocators,
    eventTtlSeconds: 3600,
    now: () => new Date(),
    settings: { features: featuresWhere(() => false), allowsPrivileged: false },
  }),
  customResourceDefinitions as unknown as ResourceDefinition,
  apiServices as unknown as ResourceDefinition,
];

const definitionOf = (plural: string, group = ''): ResourceDefinition => kinds.find((kind) => kind.plural === plural && kind.group === group)!;
const encodingWith = (mediaType: StorageMediaType = 'application/vnd.kubernetes.protobuf') => ({ mediaType, yaml: { parseYaml, toYaml } });
const codecFor = (definition: ResourceDefinition, mediaType?: StorageMediaType): StoredCodec => codecOf(definition, encodingWith(mediaType));
/** What another server would make of a value: this one has not written it. */
const read = (definition: ResourceDefinition, value: Buffer): ApiObject => JSON.parse(codecFor(definition).toClientBytes(value, 7).toString()) as ApiObject;
const canonical = (definition: ResourceDefinition, object: object): ApiObject => normalize(definition.schema, object as JsonObject) as unknown as ApiObject;

const SECRET = {
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 'token', namespace: 'default', uid: 'u-1', creationTimestamp: '2026-01-02T03:04:05Z' },
  data: { a: 'YQ==' },
  type: 'Opaque',
};
const secrets = definitionOf('secrets');

describe('a built-in kind', () => {
  const value = codecFor(secrets).encode(canonical(secrets, { ...SECRET, metadata: { ...SECRET.metadata, resourceVersion: '5', selfLink: '/x' } }));

  test('is protobuf in its envelope, without the version that the store gives it', () => {
    expect(value.toString('latin1')).toMatch(/^k8s\0/);
    expect(decodeEnvelope(value)).toMatchObject({ apiVersion: 'v1', kind: 'Secret', contentType: '', contentEncoding: '' });
    expect(read(secrets, value).metadata).toEqual({ ...SECRET.metadata, resourceVersion: '7' });
  });

  test('is sent as it would be from our own store', () => {
    const own = jsonCodec.toClientBytes(jsonCodec.encode(canonical(secrets, SECRET)), 7);
    expect(codecFor(secrets).toClientBytes(value, 7).toString()).toBe(own.toString());
    const codec = codecFor(secrets);
    expect(codec.toClientBytes(codec.encode(canonical(secrets, SECRET)), 7).toString()).toBe(own.toString());
  });

  test.each([
    ['application/json', `${JSON.stringify(SECRET)}\n`],
    ['application/yaml', 'apiVersion: v1\ndata:\n  a: YQ==\nkind: Secret\nmetadata:\n  creationTimestamp: "2026-01-02T03:04:05Z"\n'],
  ] as const)('is %s where that is asked for, and read whatever is asked for', (mediaType, text) => {
    const written = codecFor(secrets, mediaType).encode(canonical(secrets, SECRET));
    expect(written.toString().startsWith(text)).toBe(true);
    expect(read(secrets, written)).toEqual({ ...SECRET, metadata: { ...SECRET.metadata, resourceVersion: '7' } });
  });

  test('gets its defaults when it is read', () => {
    const { type: _type, ...older } = SECRET;
    expect(read(secrets, Buffer.from(JSON.stringify(older)))).toMatchObject({ type: 'Opaque' });
  });

  test('may hold more values than a request may', () => {
    const configMaps = definitionOf('configmaps');
    const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, '']));
    const large = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'large' }, data };
    expect(Object.keys((read(configMaps, codecFor(configMaps).encode(canonical(configMaps, large))) as unknown as { data: object }).data)).toHaveLength(60_000);
  });
});

describe('a value that can not be read', () => {
  test.each([
    [
      'no kind of the resource',
      '{"kind":"Foo","apiVersion":"v9"}',
      /^no kind "Foo" is registered for version "v9" in scheme ".*pkg\/api\/legacyscheme\/scheme\.go:30"$/,
    ],
    [
      'a wrong type',
      '{"kind":"Secret","apiVersion":"v1","metadata":{"name":5}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    ],
    ['cut protobuf', 'k8s\0\nbroken', 'unexpected EOF'],
    ['text', 'nonsense', /^couldn't get version\/kind/],
    ['no YAML', 'a: [', /yaml/],
  ])('is an error of the server: %s', (_what, text, message) => {
    const reading = (): unknown => read(secrets, Buffer.from(text));
    expect(reading).toThrow(message);
    expect(reading).toThrow(expect.objectContaining({ code: 500 }));
  });

  test('is not shown where it is still encrypted', () => {
    expect(() => read(secrets, Buffer.from('k8s:enc:aesgcm:v1:a:xxxx'))).toThrow('Internal error occurred: identity transformer tried to read encrypted data');
  });
});

describe('another version', () => {
  test('is read as the one that the server works in', () => {
    const autoscalers = definitionOf('horizontalpodautoscalers', 'autoscaling');
    const stored = {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    };
    expect(read(autoscalers, Buffer.from(JSON.stringify(stored)))).toMatchObject({
      apiVersion: 'autoscaling/v2',
      spec: { minReplicas: 1, metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }] },
    });
  });

  test('is written where upstream writes it', () => {
    const policies = definitionOf('mutatingadmissionpolicies', 'admissionregistration.k8s.io');
    const object = canonical(policies, { kind: 'MutatingAdmissionPolicy', apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'p' }, spec: {} });
    const value = codecFor(policies).encode(object);
    expect(decodeEnvelope(value).apiVersion).toBe('admissionregistration.k8s.io/v1beta1');
    expect(read(policies, value).apiVersion).toBe('admissionregistration.k8s.io/v1');
    expect(object.apiVersion).toBe('admissionregistration.k8s.io/v1');
  });

  test.each([
    ['policy/v1beta1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'policy', { selector: {} }, { selector: { matchExpressions: [{ operator: 'Exists' }] } }],
    ['batch/v1beta1', 'CronJob', 'cronjobs', 'batch', { schedule: '@daily' }, { schedule: '@daily', concurrencyPolicy: 'Allow' }],
    [
      'extensions/v1beta1',
      'Ingress',
      'ingresses',
      'networking.k8s.io',
      { backend: { serviceName: 'web', servicePort: 80 }, rules: [{ http: { paths: [{ backend: { serviceName: 'api', servicePort: 'http' } }] } }] },
      {
        defaultBackend: { service: { name: 'web', port: { number: 80 } } },
        rules: [{ http: { paths: [{ backend: { service: { name: 'api', port: { name: 'http' } } } }] } }],
      },
    ],
    [
      'flowcontrol.apiserver.k8s.io/v1beta2',
      'PriorityLevelConfiguration',
      'prioritylevelconfigurations',
      'flowcontrol.apiserver.k8s.io',
      { type: 'Limited', limited: { assuredConcurrencyShares: 7, limitResponse: { type: 'Reject' } } },
      { limited: { nominalConcurrencyShares: 7 } },
    ],
  ])('that is served no more is still read: %s %s', (apiVersion, kind, plural, group, spec, expected) => {
    const definition = definitionOf(plural, group);
    const stored = Buffer.from(JSON.stringify({ kind, apiVersion, metadata: { name: 'old' }, spec }));
    expect(read(definition, stored)).toMatchObject({ apiVersion: apiVersionOf(group, definition.version), spec: expected });
  });

  test('events of either group are those of core', () => {
    const events = definitionOf('events', 'events.k8s.io');
    const core = canonical(events, { kind: 'Event', apiVersion: 'v1', metadata: { name: 'e', namespace: 'default' }, involvedObject: {}, reason: 'Tested' });
    const value = codecFor(events).encode(core);
    expect(decodeEnvelope(value)).toMatchObject({ apiVersion: 'v1', kind: 'Event' });
    expect(read(events, value)).toMatchObject({ apiVersion: 'v1', reason: 'Tested' });
  });
});

describe('definitions of custom resources', () => {
  const versionOf = (name: string, more: object = {}) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object' } },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    ...more,
  });
  const definitionWith = (versions: object[], more: object = {}) =>
    canonical(definitionOf('customresourcedefinitions', 'apiextensions.k8s.io'), {
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'widgets.example.com', uid: 'u-1' },
      spec: {
        group: 'example.com',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        scope: 'Namespaced',
        versions,
        conversion: { strategy: 'None' },
        ...more,
      },
      status: { conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
    });
  const crds = definitionOf('customresourcedefinitions', 'apiextensions.k8s.io');
  const storedSpec = (object: ApiObject): JsonObject => (JSON.parse(codecFor(crds).encode(object).toString()) as { spec: JsonObject }).spec;

  test('are JSON of v1beta1, with what all versions have alike above them, in the order of its fields', () => {
    const text = codecFor(crds)
      .encode(definitionWith([versionOf('v1')]))
      .toString();
    expect(text).toMatch(/^\{"kind":"CustomResourceDefinition","apiVersion":"apiextensions\.k8s\.io\/v1beta1",.*\}\n$/);
    expect(JSON.stringify(storedSpec(definitionWith([versionOf('v1')])))).toBe(
      '{"group":"example.com","version":"v1","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"scope":"Namespaced",' +
        '"validation":{"openAPIV3Schema":{"type":"object"}},"versions":[{"name":"v1","served":true,"storage":true}],' +
        '"additionalPrinterColumns":[{"name":"Size","type":"integer","JSONPath":".spec.size"}],"conversion":{"strategy":"None"},"preserveUnknownFields":false}',
    );
  });

  test.each([
    ['of one version', [versionOf('v1', { subresources: { status: {} }, selectableFields: [{ jsonPath: '.spec.color' }] })], {}],
    [
      'of versions that differ',
      [versionOf('v1'), versionOf('v2', { schema: { openAPIV3Schema: { type: 'object', description: 'other' } }, additionalPrinterColumns: undefined })],
      {},
    ],
    [
      'with a webhook',
      [versionOf('v1')],
      {
        conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: { namespace: 'a', name: 'b', port: 443 } }, conversionReviewVersions: ['v1'] } },
      },
    ],
    ['that keep unknown fields', [versionOf('v1')], { preserveUnknownFields: true }],
  ])('are read back as they were: %s', (_what, versions, more) => {
    const object = definitionWith(versions, more);
    const { metadata, ...rest } = read(crds, codecFor(crds).encode(object));
    expect({ ...rest, metadata }).toEqual({ ...object, metadata: { ...object.metadata, resourceVersion: '7' } });
  });

  test('as old releases stored them, with one version and no list of them', () => {
    const old = {
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', version: 'v1alpha1', names: { plural: 'widgets', kind: 'Widget' } },
      status: { conditions: null, acceptedNames: { plural: 'widgets', kind: 'Widget' } },
    };
    expect(read(crds, Buffer.from(JSON.stringify(old)))).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      spec: {
        scope: 'Namespaced',
        names: { singular: 'widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1alpha1', served: true, storage: true }],
        preserveUnknownFields: true,
      },
      status: { storedVersions: ['v1alpha1'] },
    });
  });
});

test('custom resources are JSON with sorted keys, whatever the encoding', () => {
  const codec = customCodec(jsonCodec, encodingWith());
  const object = {
    kind: 'Widget',
    apiVersion: 'example.com/v1',
    metadata: { name: 'one', resourceVersion: '5', labels: { b: '1', a: '<' } },
    spec: { 9: 'x', 10: 'y' },
  };
  expect(codec.encode(object).toString()).toBe(
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"labels":{"a":"\\u003c","b":"1"},"name":"one"},"spec":{"10":"y","9":"x"}}\n',
  );
});

/** Upstream's own golden files (staging/src/k8s.io/api/testdata), without what is never stored. */
describe('golden objects', () => {
  const objects = JSON.parse(readFileSync(`${CURRENT_FACTS}/wire.json`, 'utf8')) as Record<string, { json: ApiObject }>;
  const cases = Object.entries(objects).flatMap(([file, { json }]) => {
    const { metadata, ...rest } = json;
    const { selfLink: _link, resourceVersion: _version, ...kept } = metadata ?? {};
    const golden = { ...rest, metadata: kept } as ApiObject;
    return kinds.flatMap((definition) => {
      const versions = storedKind(definition).readable.filter(
        (each) => each.kind === golden.kind && apiVersionOf(each.group, each.version) === golden.apiVersion,
      );
      return versions.flatMap((version) =>
        version.schema ? [{ name: `${definition.plural}: ${file}`, golden, definition, version, schema: version.schema }] : [],
      );
    });
  });

  test('are there', () => expect(cases.length).toBeGreaterThan(70));

  test.each(cases)('$name', ({ golden, definition, version, schema }) => {
    const stored = schema.protoMessage ? encodeProtobufObject(schema, golden) : Buffer.from(JSON.stringify(golden));
    const client = codecFor(definition).toClientBytes(stored, 7);
    const value = codecFor(definition).encode(JSON.parse(client.toString()) as ApiObject);
    expect(codecFor(definition).toClientBytes(value, 7).toString() === client.toString()).toBe(true);
    const { written, isJson, readable } = storedKind(definition);
    if (version === written && version === readable[0] && !isJson) expect(codecFor(definition).encode(canonical(definition, golden)).equals(stored)).toBe(true);
  });
});
