import { describe, expect, test } from 'vitest';
import { encodeProtobufObject } from '../schema/protobuf.ts';
import { schemaOfKind } from '../apis/facts/schemas.ts';
import type { ApiObject } from '../api/api-object.ts';
import { configMap, configMaps, serve, targetOf } from './test-support.ts';

const COLLECTION = '/api/v1/namespaces/ns/configmaps';
const ITEM = `${COLLECTION}/a`;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

function oneConfigMap() {
  const target = configMaps();
  target.store.put(configMap('a'));
  return target;
}

describe('create', () => {
  test('answers with what was stored', async () => {
    const target = configMaps();
    const { exchange } = await serve(target, 'POST', COLLECTION, { body: { data: { b: '2', a: '1' }, metadata: { name: 'a' } } });
    expect(exchange.status).toBe(201);
    expect(exchange.text).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"101"},"data":{"a":"1","b":"2"}}\n',
    );
    expect(target.store.calls).toEqual([
      { apiVersion: 'v1', dryRun: false, fieldManager: '', fieldValidation: 'Warn', raw: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' } },
    ]);
  });

  test('applies the defaults of the version and converts to the stored one', async () => {
    const target = configMaps();
    const served = {
      ...target.served,
      default: (object: ApiObject) => void (object.metadata.labels = { from: 'default' }),
      toStored: (object: ApiObject) => ({ ...object, data: { converted: 'yes' } }),
    };
    await serve({ ...target, served }, 'POST', COLLECTION, { body: configMap('a') });
    expect(target.store.entries.get('a')!.object()).toMatchObject({ metadata: { labels: { from: 'default' } }, data: { converted: 'yes' } });
  });

  test('a dry run answers without storing', async () => {
    const target = configMaps();
    const { exchange } = await serve(target, 'POST', `${COLLECTION}?dryRun=All`, { body: configMap('a') });
    expect([exchange.status, exchange.json.metadata.name, target.store.entries.size]).toEqual([201, 'a', 0]);
  });

  test('protobuf bodies', async () => {
    const body = encodeProtobufObject(schemaOfKind('', 'v1', 'ConfigMap'), configMap('a', { x: 'y' }));
    const { exchange } = await serve(configMaps(), 'POST', COLLECTION, { headers: { 'content-type': 'application/vnd.kubernetes.protobuf' }, body });
    expect(exchange.json).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: 'y' } });
  });

  test('YAML bodies', async () => {
    const headers = { 'content-type': 'application/yaml' };
    const { exchange, warnings } = await serve(configMaps(), 'POST', COLLECTION, { headers, body: 'x: &x [1]\nz: *x\nkind: ConfigMap\nmetadata: {name: a}\n' });
    expect([exchange.status, exchange.json.metadata.name, warnings]).toEqual([201, 'a', ['unknown field "x"', 'unknown field "z"']]);
    const bad = await serve(configMaps(), 'POST', COLLECTION, { headers, body: 'a: [' });
    expect([bad.exchange.status, bad.exchange.json.message]).toEqual([
      400,
      expect.stringMatching(/^the object provided is unrecognized \(must be of type ConfigMap\): .* \(613a205b\)$/),
    ]);
  });

  test('unknown and repeated fields warn, or are refused, or do not matter', async () => {
    const body = '{"kind":"ConfigMap","metadata":{"name":"a","name":"b"},"extra":1}';
    const warned = await serve(configMaps(), 'POST', COLLECTION, { body });
    expect([warned.exchange.status, warned.warnings]).toEqual([201, ['duplicate field "metadata.name"', 'unknown field "extra"']]);
    const ignored = await serve(configMaps(), 'POST', `${COLLECTION}?fieldValidation=Ignore`, { body });
    expect([ignored.exchange.status, ignored.warnings]).toEqual([201, []]);
    const strict = await serve(configMaps(), 'POST', `${COLLECTION}?fieldValidation=Strict`, { body });
    expect(strict.exchange.json).toMatchObject({
      code: 400,
      message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "metadata.name", unknown field "extra"',
    });
  });

  test('a YAML text tells of its repeats by their lines', async () => {
    const headers = { 'content-type': 'application/yaml' };
    const body = 'metadata:\n  name: a\n  name: b\nextra: 1\ndata:\n  x: "1"\n  x: "2"\nextra: 2\nbelow: 1\n';
    const warned = await serve(configMaps(), 'POST', COLLECTION, { headers, body });
    expect([warned.exchange.status, warned.warnings]).toEqual([
      201,
      [
        'line 3: key "name" already set in map',
        'line 7: key "x" already set in map',
        'line 8: key "extra" already set in map',
        'unknown field "below"',
        'unknown field "extra"',
      ],
    ]);
    const strict = await serve(configMaps(), 'POST', `${COLLECTION}?fieldValidation=Strict`, { headers, body });
    expect(strict.exchange.json.message).toContain(
      'strict decoding error: yaml: unmarshal errors:\n  line 3: key "name" already set in map\n  line 7: key "x" already set in map\n  line 8: key "extra" already set in map, unknown field "below"',
    );
  });

  test('equal owners are kept once', async () => {
    const target = configMaps();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
    const { warnings } = await serve(target, 'POST', COLLECTION, { body: { metadata: { name: 'a', ownerReferences: [owner, { ...owner }] } } });
    expect(target.store.entries.get('a')!.object<ApiObject>().metadata.ownerReferences).toEqual([owner]);
    expect(warnings[0]).toMatch(/^\.metadata\.ownerReferences contains duplicate entries; .* duplicate UID\(s\) observed: u$/);
  });

  const struct = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;
  test.each([
    [
      '{not json',
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'n' looking for beginning of object key string ({not json)`,
    ],
    [
      '',
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)`,
    ],
    [
      '[]',
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${struct} (5b5d)`,
    ],
    [
      '"x"',
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${struct} (227822)`,
    ],
    [
      '{"apiVersion":"v1","kind":"Secret"}',
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      '{"apiVersion":"v2","kind":"ConfigMap"}',
      'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      '{"apiVersion":"a/b/c"}',
      'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})',
    ],
    [
      '{"data":{"a":1}}',
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      '{"apiVersion":"v1","kind":"Pod","spec":{"containers":{}}}',
      'Pod in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      '{"apiVersion":"apps/","kind":"ConfigMap"}',
      `ConfigMap in version "" cannot be handled as a ConfigMap: Object 'apiVersion' is missing in '{"apiVersion":"apps/","kind":"ConfigMap"}'`,
    ],
    [
      '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"}',
      'CustomResourceDefinition in version "v1" cannot be handled as a ConfigMap: no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    ['{"metadata":{"name":"x","namespace":"kube-system"}}', 'the namespace of the provided object does not match the namespace sent on the request'],
  ])('%s is refused', async (body, message) => {
    const { exchange } = await serve(configMaps(), 'POST', COLLECTION, { body });
    expect([exchange.status, exchange.json.message]).toEqual([400, message]);
  });

  test('the servers of other groups know their own kinds', async () => {
    const target = targetOf('CustomResourceDefinition', 'customresourcedefinitions', 'apiextensions.k8s.io', 'v1');
    const { exchange } = await serve(target, 'POST', '/apis/apiextensions.k8s.io/v1/namespaces/ns/customresourcedefinitions', {
      body: { apiVersion: 'v1', kind: 'Pod' },
    });
    expect(exchange.json.message).toContain(
      'no kind "Pod" is registered for version "v1" in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55"',
    );
  });

  test('what can only be made has no table', async () => {
    const target = targetOf('ConfigMap', 'configmaps', '', 'v1', { verbs: ['create'] });
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    expect((await serve(target, 'POST', COLLECTION, { headers, body: configMap('a') })).exchange.status).toBe(406);
  });

  test('another version of the same kind is refused as such', async () => {
    const target = targetOf('HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'autoscaling', 'v2');
    const { exchange } = await serve(target, 'POST', '/apis/autoscaling/v2/namespaces/ns/horizontalpodautoscalers', {
      body: { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler' },
    });
    expect(exchange.json.message).toBe('the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)');
  });

  test.each([
    ['dryRun=Nope', 'dryRun: Unsupported value: ["Nope"]: supported values: "All"'],
    ['fieldValidation=Maybe', 'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"'],
    ['fieldManager=%07', 'fieldManager: Invalid value: "\\a": invalid character U+0007 (at position 0)'],
    [`fieldManager=${'m'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
  ])('?%s is refused', async (query, message) => {
    const { exchange } = await serve(configMaps(), 'POST', `${COLLECTION}?${query}`, { body: configMap('a') });
    expect([exchange.status, exchange.json.message]).toEqual([422, `CreateOptions.meta.k8s.io "" is invalid: ${message}`]);
  });

  test('unknown content types and bodies too large', async () => {
    expect((await serve(configMaps(), 'POST', COLLECTION, { headers: { 'content-type': 'text/plain' }, body: '{}' })).exchange.status).toBe(415);
    expect((await serve(configMaps(), 'POST', COLLECTION, { body: 'x'.repeat(3 * 1024 * 1024 + 1) })).exchange.json.message).toBe(
      'Request entity too large: limit is 3145728',
    );
  });
});

describe('update', () => {
  test('puts what was sent', async () => {
    const target = oneConfigMap();
    const { exchange } = await serve(target, 'PUT', ITEM, { body: { metadata: { name: 'a' }, data: { a: '2' } } });
    expect([exchange.status, exchange.json.data]).toEqual([200, { a: '2' }]);
    expect(target.store.calls[0]).toMatchObject({ subresource: '', mayCreate: true, isApply: false, raw: { kind: 'UpdateOptions' } });
  });

  test.each([
    [{ metadata: { name: 'other' } }, 'the name of the object (other) does not match the name on the URL (a)'],
    [{ metadata: {} }, 'the name of the object (a based on URL) was undeterminable: name must be provided'],
    [{ metadata: { name: 'a', namespace: 'x' } }, 'the namespace of the provided object does not match the namespace sent on the request'],
  ])('%j is refused', async (body, message) => {
    const { exchange } = await serve(oneConfigMap(), 'PUT', ITEM, { body });
    expect([exchange.status, exchange.json.message]).toEqual([400, message]);
  });
});

function scalable() {
  const target = targetOf('ReplicaSet', 'replicasets', 'apps');
  target.store.put({
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: { name: 'a', namespace: 'ns' },
    spec: { replicas: 1, selector: {} },
  } as unknown as ApiObject);
  type Scaled = ApiObject & { spec: { replicas: number } };
  const scale = {
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    schema: schemaOfKind('autoscaling', 'v1', 'Scale'),
    verbs: ['get', 'patch', 'update'],
    read: (object: ApiObject) =>
      ({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: object.metadata,
        spec: { replicas: (object as Scaled).spec.replicas },
        status: { replicas: 0 },
      }) as ApiObject,
    write: (object: ApiObject, sent: ApiObject) => ({ ...object, spec: { ...(object as Scaled).spec, replicas: (sent as Scaled).spec.replicas } }) as ApiObject,
  };
  return { ...target, subresource: scale };
}

const evict = async ({ name }: { name: string }) =>
  ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name } }) as unknown as ApiObject;

describe('a subresource of another kind', () => {
  const SCALE = '/apis/apps/v1/namespaces/ns/replicasets/a/scale';

  test('has the metadata of its own kind in a table as well', async () => {
    const target = scalable();
    const bare = (object: ApiObject) => ({ ...target.subresource.read(object), metadata: { name: object.metadata.name } }) as ApiObject;
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const { exchange } = await serve({ ...target, subresource: { ...target.subresource, read: bare } }, 'GET', SCALE, { headers });
    expect(exchange.json).toMatchObject({ rows: [{ object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } } }] });
    expect(JSON.stringify(exchange.json)).not.toContain('"namespace"');
  });

  test('is read, put and patched as its own kind', async () => {
    const target = scalable();
    expect((await serve(target, 'GET', SCALE)).exchange.json).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 } });
    const put = await serve(target, 'PUT', SCALE, { body: { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, spec: { replicas: 3 } } });
    expect(put.exchange.json).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
    const patched = await serve(target, 'PATCH', SCALE, { headers: MERGE, body: { spec: { replicas: 5 } } });
    expect(patched.exchange.json).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
    expect(target.store.entries.get('a')!.object()).toMatchObject({ kind: 'ReplicaSet', spec: { replicas: 5 } });
    expect(target.store.calls.at(-1)).toMatchObject({ subresource: 'scale', mayCreate: false });
  });

  test('a POST of what cannot be done yet makes nothing', async () => {
    const target = scalable();
    const { exchange } = await serve({ ...target, subresource: { ...target.subresource, verbs: ['create'] } }, 'POST', SCALE, { body: {} });
    expect([exchange.status, target.store.calls]).toEqual([405, []]);
  });

  test('a POST does what it does', async () => {
    const target = scalable();
    const { exchange } = await serve({ ...target, subresource: { ...target.subresource, verbs: ['create'], create: evict } }, 'POST', SCALE, {
      body: { kind: 'Scale', apiVersion: 'autoscaling/v1' },
    });
    expect([exchange.status, exchange.json]).toEqual([
      201,
      { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'a' }, code: 201 },
    ]);
  });
});

describe('patch', () => {
  test.each([
    [MERGE, { data: { b: '2', a: null } }, { b: '2' }],
    [STRATEGIC, { data: { b: '2' } }, { a: '1', b: '2' }],
    [JSON_PATCH, [{ op: 'replace', path: '/data/a', value: '3' }], { a: '3' }],
  ])('%j', async (headers, body, data) => {
    const { exchange } = await serve(oneConfigMap(), 'PATCH', ITEM, { headers, body });
    expect([exchange.status, exchange.json.data, exchange.json.kind]).toEqual([200, data, 'ConfigMap']);
  });

  test('unknown fields warn, or are refused', async () => {
    const body = { unknown: 1 };
    expect((await serve(oneConfigMap(), 'PATCH', ITEM, { headers: MERGE, body })).warnings).toEqual(['unknown field "unknown"']);
    const { exchange } = await serve(oneConfigMap(), 'PATCH', `${ITEM}?fieldValidation=Strict`, { headers: STRATEGIC, body });
    expect(exchange.json).toMatchObject({
      code: 422,
      message: ' "" is invalid: patch: Invalid value: "map[unknown:1]": strict decoding error: unknown field "unknown"',
    });
  });

  test.each([
    [{ 'content-type': 'application/json' }, {}, 415, '415: Unsupported Media Type'],
    [MERGE, 'nope', 400, "error decoding patch: invalid character 'o' in literal null (expecting 'u')"],
    [JSON_PATCH, [{ op: 'remove', path: '/data/zzz' }], 422, 'the server rejected our request due to an error in our request'],
    [MERGE, { metadata: { name: 'b' } }, 400, 'the name of the object (b) does not match the name on the URL (a)'],
    [STRATEGIC, { data: { $patch: 'bogus' } }, 500, 'unknown patch type: bogus in map: map[$patch:bogus]'],
  ])('%j with %j is refused', async (headers, body, status, message) => {
    const { exchange } = await serve(oneConfigMap(), 'PATCH', ITEM, { headers, body });
    expect([exchange.status, exchange.json.message]).toEqual([status, message]);
  });

  test('a value of the wrong type is shown in the object it would have made', async () => {
    const { exchange } = await serve(oneConfigMap(), 'PATCH', ITEM, { headers: MERGE, body: { data: { a: 5 } } });
    expect(exchange.json.message).toMatch(
      /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"data\\":\{\\"a\\":5\},\\"kind\\":\\"ConfigMap\\",.*json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
    );
    expect(exchange.json.details.causes[0]!.field).toBe('patch');
  });

  test.each([
    [{ kind: 'Pod', spec: 5 }, 'json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec'],
    [{ kind: 'DeleteOptions' }, 'converting (v1.DeleteOptions) to (core.ConfigMap): unknown conversion'],
    [{ kind: 'Nothing' }, 'no kind "Nothing" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"'],
  ])('%j makes another kind of it', async (body, why) => {
    const { exchange } = await serve(oneConfigMap(), 'PATCH', ITEM, { headers: MERGE, body });
    expect([exchange.status, exchange.json.message?.endsWith(`: ${why}`)]).toEqual([422, true]);
  });

  test('custom resources have no strategic merge; apply needs a manager, and it alone may be forced', async () => {
    const custom = await serve({ ...oneConfigMap(), isCustom: true }, 'PATCH', ITEM, { headers: STRATEGIC, body: {} });
    expect(custom.exchange.json.message).toBe(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
    const unmanaged = await serve(oneConfigMap(), 'PATCH', ITEM, { headers: { 'content-type': 'application/apply-patch+yaml' }, body: '{}' });
    expect(unmanaged.exchange.json.message).toBe('PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch');
    const forced = await serve(oneConfigMap(), 'PATCH', `${ITEM}?force=true`, { headers: MERGE, body: {} });
    expect(forced.exchange.json.message).toBe('PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch');
  });
});

describe('delete', () => {
  test('answers with a Status that names what is gone', async () => {
    const { exchange } = await serve(oneConfigMap(), 'DELETE', ITEM);
    expect([exchange.status, exchange.json]).toEqual([
      200,
      { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'a', kind: 'configmaps', uid: 'uid-a' } },
    ]);
  });

  test('answers with the object where it stands, 202 to who cascades in the old way', async () => {
    const target = configMaps();
    const held = configMap('a');
    held.metadata.finalizers = ['example.com/x'];
    target.store.put(held);
    const { exchange } = await serve(target, 'DELETE', ITEM);
    expect([exchange.status, exchange.json.kind]).toEqual([200, 'ConfigMap']);
    expect((await serve(target, 'DELETE', `${ITEM}?orphanDependents=false`)).exchange.status).toBe(202);
  });

  test('options come from the body, else from the query', async () => {
    const target = oneConfigMap();
    await serve(target, 'DELETE', `${ITEM}?gracePeriodSeconds=3`, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u' }, dryRun: ['All'] },
    });
    expect(target.store.calls[0]).toMatchObject({
      dryRun: true,
      gracePeriodSeconds: undefined,
      preconditions: { uid: 'u' },
      raw: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] },
    });
    target.store.put(configMap('a'));
    await serve(target, 'DELETE', `${ITEM}?gracePeriodSeconds=3&propagationPolicy=Orphan`);
    expect(target.store.calls[1]).toMatchObject({ dryRun: false, gracePeriodSeconds: 3, propagationPolicy: 'Orphan' });
  });

  test.each([
    [
      { orphanDependents: true, propagationPolicy: 'Foreground' },
      'propagationPolicy: Invalid value: "Foreground": orphanDependents and deletionPropagation cannot be both set',
    ],
    [{ propagationPolicy: 'Sideways' }, 'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"'],
    [{ dryRun: ['Some'] }, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
  ])('%j is refused', async (options, message) => {
    const { exchange } = await serve(oneConfigMap(), 'DELETE', ITEM, { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options } });
    expect([exchange.status, exchange.json.message]).toEqual([422, `DeleteOptions.meta.k8s.io "" is invalid: ${message}`]);
  });

  test('bodies that are no options are refused with the bare reason', async () => {
    const malformed = await serve(oneConfigMap(), 'DELETE', ITEM, { body: '{' });
    expect(malformed.exchange.json.message).toBe("couldn't get version/kind; json parse error: unexpected end of JSON input");
    const mistyped = await serve(oneConfigMap(), 'DELETE', ITEM, { body: { gracePeriodSeconds: 'x' } });
    expect(mistyped.exchange.json.message).toBe('json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64');
  });

  test('of a collection the version is looked at after the options', async () => {
    const refused = async (body?: object): Promise<unknown> =>
      (await serve(configMaps(), 'DELETE', `${COLLECTION}?resourceVersion=x`, body === undefined ? {} : { body })).exchange.json.message;
    expect(await refused({ kind: 'Pod' })).toBe(
      'no kind "Pod" is registered for version "meta.k8s.io/v1" in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
    );
    expect(await refused()).toBe('invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax');
  });

  test('a collection answers with what it held', async () => {
    const target = oneConfigMap();
    target.store.put(configMap('b'));
    const { exchange } = await serve(target, 'DELETE', `${COLLECTION}?fieldSelector=metadata.name%3Db`, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] },
    });
    expect(exchange.json).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'b' } }] });
    expect(target.store.calls.at(-1)).toMatchObject({ dryRun: true });
  });
});
