import { beforeAll, describe, expect, test } from 'vitest';
import { schemaOfKind } from '../src/apis/facts/schemas.ts';
import type { JsonObject } from '../src/encoding/json-types.ts';
import { decode } from '../src/schema/decode.ts';
import { encodeProtobufObject } from '../src/schema/protobuf.ts';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';
import { WebhookServer } from './support/webhook-server.ts';

/* What the reference (v1.36.4) answers about custom resources and admission where `npm run compare` found the two to differ: one test a rule. */

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const NAMESPACE = 'compared';
const TEXT = { type: 'string' };

let api: ApiClient;
let groups = 0;

beforeAll(async () => {
  api = (await startServer()).client();
  await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
});

interface Defined {
  group: string;
  things: string;
  thing(name: string, fields: object): object;
}

/** A resource in a group of its own. */
async function define(properties: object, version: object = {}): Promise<Defined> {
  const group = `g${groups++}.example.com`;
  const schema = { openAPIV3Schema: { type: 'object', properties } };
  await api.create(DEFINITIONS, {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema, ...version }],
    },
  });
  const things = `/apis/${group}/v1/namespaces/${NAMESPACE}/things`;
  while ((await api.send({ path: things })).status === 404);
  return { group, things, thing: (name, fields) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, ...fields }) };
}

async function registerMutating(name: string, group: string, resource: string): Promise<WebhookServer> {
  const hook = await new WebhookServer().listen();
  const rules = [{ operations: ['*'], apiGroups: [group], apiVersions: ['*'], resources: [resource] }];
  const webhook = { name: `${name}.example.com`, clientConfig: hook.clientConfig, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  await api.create(`${REGISTRATION}/mutatingwebhookconfigurations`, { metadata: { name }, webhooks: [webhook] });
  return hook;
}

const messageOf = (answer: { json<T>(): T }): string => answer.json<{ message: string }>().message;

describe('a mutating webhook', () => {
  test('sees a custom object that is not of its type without owners', async () => {
    const { group, things, thing } = await define({ spec: { type: 'object', properties: { host: TEXT } } });
    const hook = await registerMutating('typed', group, 'things');
    await api.expect(422, { method: 'POST', path: things, body: thing('a', { spec: { host: 1 } }) });
    await api.expect(201, { method: 'POST', path: things, body: thing('b', { spec: { host: 'h' } }) });
    expect(hook.requests.map(({ object }) => Object.hasOwn(object!['metadata'] as object, 'managedFields'))).toEqual([false, true]);
  });

  test('sees a list as empty as it was sent, where it is always written', async () => {
    const hook = await registerMutating('empties', 'rbac.authorization.k8s.io', 'roles');
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`;
    await api.expect(201, { method: 'PUT', path: `${roles}/put`, body: { metadata: { name: 'put' }, rules: [] } });
    await api.expect(201, { method: 'POST', path: roles, body: { metadata: { name: 'posted' }, rules: [] } });
    await api.expect(201, { method: 'POST', path: roles, body: { metadata: { name: 'none' } } });
    expect(hook.requests.map(({ object }) => object!['rules'])).toEqual([[], [], null]);
  });
});

test.each([
  ['autoscaling/v1, Kind=Scale', 'replicationcontrollers/a/scale', 'PUT', { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' } }],
  ['authentication.k8s.io/v1, Kind=TokenRequest', 'serviceaccounts/a/token', 'POST', { spec: {} }],
  ['policy/v1, Kind=Eviction', 'pods/a/eviction', 'POST', { metadata: { name: 'a' } }],
  ['/v1, Kind=PodExecOptions', 'pods/a/exec?command=ls', 'POST', undefined],
])('a policy that applies a configuration knows no type %s', async (type, path, method, body) => {
  const name = `types-${groups++}`;
  const namespace = `/api/v1/namespaces/${name}`;
  await api.create('/api/v1/namespaces', { metadata: { name } });
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await api.create(`${namespace}/serviceaccounts`, { metadata: { name: 'a' } });
  await api.create(`${namespace}/pods`, { metadata: { name: 'a' }, spec: { ...template.spec, serviceAccountName: 'a' } });
  await api.create(`${namespace}/replicationcontrollers`, { metadata: { name: 'a' }, spec: { replicas: 1, selector: { a: 'b' }, template } });
  const expression = "Object{metadata: Object.metadata{labels: {'mutated': 'yes'}}}";
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    resourceRules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['*/*'] }],
  };
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }];
  await api.create(`${REGISTRATION}/mutatingadmissionpolicies`, { metadata: { name }, spec: { matchConstraints, mutations, reinvocationPolicy: 'Never' } });
  await api.create(`${REGISTRATION}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } });
  const refusal = await api.expect(403, { method, path: `${namespace}/${path}`, ...(body && { body }) });
  expect(messageOf(refusal)).toBe(
    `policy '${name}' with binding '${name}' denied request: error applying patch: failed to convert patch object to typed object: no corresponding type for ${type}`,
  );
});

test('an apply to a custom object that someone owns in a version that is gone fails; an update forgets the owners', async () => {
  const { group, things, thing } = await define({ spec: { type: 'object', properties: { host: TEXT } } });
  const definition = `${DEFINITIONS}/things.${group}`;
  const { spec, ...rest } = (await api.expect(200, { path: definition })).json<{ spec: { versions: object[] } }>();
  const two = (await api.update(definition, {
    ...rest,
    spec: { ...spec, versions: [spec.versions[0]!, { ...spec.versions[0], name: 'v2', storage: false }] },
  })) as unknown as JsonObject;
  const second = things.replace('/v1/', '/v2/');
  while ((await api.send({ path: second })).status === 404);
  await api.create(second, { ...thing('gone', { spec: { host: 'a' } }), apiVersion: `${group}/v2` });
  const { metadata } = (await api.expect(200, { path: definition })).json<{ metadata: object }>();
  await api.update(definition, { ...two, metadata, spec });
  while ((await api.send({ path: second })).status !== 404);
  const apply = { method: 'PATCH', path: `${things}/gone?fieldManager=x`, headers: { 'content-type': 'application/apply-patch+yaml' } };
  const refusal = await api.expect(500, { ...apply, body: thing('gone', { spec: { host: 'b' } }) });
  expect(messageOf(refusal)).toBe(`request to convert CR to an invalid group/version: ${group}/v2`);
  const headers = { 'content-type': 'application/merge-patch+json' };
  const updated = await api.expect(200, { method: 'PATCH', path: `${things}/gone`, headers, body: { spec: { host: 'c' } } });
  expect(updated.json<{ metadata: object }>().metadata).not.toHaveProperty('managedFields');
});

test('an address that cannot be had for a service without a name is the refusal', async () => {
  const body = { spec: { ports: [{ port: 80 }] } };
  const refusal = await api.expect(422, { method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/services`, body });
  expect(messageOf(refusal)).toMatch(
    /^Service "" is invalid: spec.clusterIPs: Invalid value: \[""\]: failed to allocate IP: IPAddress.networking.k8s.io "[\d.]+" is invalid: spec.parentRef.name: Required value$/,
  );
});

test('a scale that says nothing new writes nothing, also when the default that was to come is in the schema no more', async () => {
  const schemaOf = (other: object): object => ({ spec: { type: 'object', properties: { replicas: { type: 'integer' }, other } } });
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const { group, things, thing } = await define(schemaOf({ ...TEXT, default: 'b' }), { subresources: { scale } });
  await api.create(things, thing('a', {}));
  const put = { method: 'PUT', path: `${things}/a/scale`, body: { metadata: { name: 'a' }, spec: { replicas: 2 } } };
  const versionOf = async (): Promise<string> => (await api.expect(200, put)).json<{ metadata: { resourceVersion: string } }>().metadata.resourceVersion;
  const first = await versionOf();
  const schema = { openAPIV3Schema: { type: 'object', properties: schemaOf({ type: 'number' }) } };
  await api.expect(200, {
    method: 'PATCH',
    path: `${DEFINITIONS}/things.${group}`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { scale } }] } },
  });
  await expect.poll(async () => (await api.get<{ spec: object }>(`${things}/a`)).spec).toEqual({ replicas: 2 });
  expect(await versionOf()).toBe(first);
});

test('a scale that makes the spec leaves its defaults to be read, and to the next write to be stored', async () => {
  const spec = { type: 'object', properties: { replicas: { type: 'integer' }, on: { type: 'boolean', default: true } } };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const { things, thing } = await define({ spec }, { subresources: { scale } });
  await api.create(things, thing('a', {}));
  await api.expect(200, { method: 'PUT', path: `${things}/a/scale`, body: { metadata: { name: 'a' }, spec: { replicas: 2 } } });
  const scaled = await api.get<{ metadata: { resourceVersion: string }; spec: object }>(`${things}/a`);
  expect(scaled.spec).toEqual({ replicas: 2, on: true });
  const versions: string[] = [scaled.metadata.resourceVersion];
  for (let times = 0; times < 2; times++) {
    const answer = await api.expect(200, { method: 'PATCH', path: `${things}/a`, body: {}, headers: { 'content-type': 'application/merge-patch+json' } });
    versions.push(answer.json<{ metadata: { resourceVersion: string } }>().metadata.resourceVersion);
  }
  expect(versions[1]).not.toBe(versions[0]);
  expect(versions[2]).toBe(versions[1]);
});

test('an integer in a table is the integer that was sent', async () => {
  const additionalPrinterColumns = [{ name: 'Count', type: 'integer', jsonPath: '.count' }];
  const { things, group } = await define({ count: { type: 'integer' } }, { additionalPrinterColumns });
  const body = `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"large"},"count":9223372036854775807}`;
  await api.expect(201, { method: 'POST', path: things, body, headers: { 'content-type': 'application/json' } });
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const answer = await api.expect(200, { method: 'GET', path: `${things}/large`, headers: { accept } });
  expect(answer.text).toContain('"cells":["large",9223372036854775807]');
});

test('text with a format may be any scalar to who applies it', async () => {
  const properties = { plain: TEXT, bytes: { type: 'string', format: 'byte' }, address: { type: 'string', format: 'uri' } };
  const { things, group } = await define(properties);
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const messages: (string | undefined)[] = [];
  for (const field of Object.keys(properties)) {
    const body = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: field }, [field]: {} };
    messages.push(messageOf(await api.send({ method: 'PATCH', path: `${things}/${field}?fieldManager=m`, body, headers })));
  }
  const [plain, bytes, address] = messages;
  expect(plain).toContain('.plain: expected string, got &value.valueUnstructured{Value:map[string]interface {}{}}');
  expect(bytes).toContain('.bytes: expected string, got');
  expect(address).toContain('.address: expected any scalar, got &{map[]}');
});

test("a patch of a policy makes of a custom resource's scale what its converter does not know", async () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const spec = { type: 'object', properties: { replicas: { type: 'integer' } } };
  const { things, thing, group } = await define({ spec }, { subresources: { scale } });
  await api.create(things, thing('a', {}));
  const name = `scale-${groups++}`;
  const matchConstraints = { resourceRules: [{ operations: ['UPDATE'], apiGroups: [group], apiVersions: ['*'], resources: ['things/*'] }] };
  const expression = "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'patched': 'yes'}}]";
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }];
  await api.create(`${REGISTRATION}/mutatingadmissionpolicies`, { metadata: { name }, spec: { matchConstraints, mutations, reinvocationPolicy: 'Never' } });
  await api.create(`${REGISTRATION}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } });
  const refusal = await api.expect(403, { method: 'PUT', path: `${things}/a/scale`, body: { metadata: { name: 'a' }, spec: { replicas: 2 } } });
  expect(messageOf(refusal)).toBe(`policy '${name}' with binding '${name}' denied request: request to convert CR to an invalid group/version: autoscaling/v1`);
});

test('a list as of a version from before its definition changed', async () => {
  const { things, thing, group } = await define({ text: TEXT });
  const { metadata } = await api.create(things, thing('a', { text: 'x' }));
  const second = await api.create(things, { ...thing('b', { text: 'x' }), metadata: { name: 'b', labels: { which: 'b' } } });
  const path = `${DEFINITIONS}/things.${group}`;
  const body = [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/more', value: TEXT }];
  await api.expect(200, { method: 'PATCH', path, body, headers: { 'content-type': 'application/json-patch+json' } });
  await api.create(things, thing('c', { more: 'y' }));
  const list = await api.get<{ items: { metadata: { name: string } }[] }>(`${things}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`);
  expect(list.items.map((item) => item.metadata.name)).toEqual(['a']);
  const page = `${things}?resourceVersion=${second.metadata.resourceVersion}&resourceVersionMatch=Exact&limit=1`;
  const first = await api.get<{ items: { metadata: { name: string } }[]; metadata: { continue: string; remainingItemCount: number } }>(page);
  expect([first.items.length, first.metadata.remainingItemCount]).toEqual([1, 1]);
  const last = await api.get<typeof first>(`${things}?limit=1&continue=${encodeURIComponent(first.metadata.continue)}`);
  expect([last.items.map((item) => item.metadata.name), last.metadata.continue ?? '']).toEqual([['b'], '']);
  const selected = await api.get<typeof first>(`${page}&labelSelector=${encodeURIComponent('which=b')}`);
  expect([selected.items.map((item) => item.metadata.name), selected.metadata.continue ?? '']).toEqual([['b'], '']);
});

test('a default of a wrong type is told by the format, whether values are checked by it or not', async () => {
  const group = `g${groups++}.example.com`;
  const schema = { openAPIV3Schema: { type: 'object', properties: { flag: { type: 'boolean', format: 'int32', default: 5 } } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const definition = { metadata: { name: `things.${group}` }, spec: { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions } };
  const refusal = await api.expect(422, { method: 'POST', path: DEFINITIONS, body: definition });
  expect(messageOf(refusal)).toContain('properties[flag].default: Invalid value: "int64":  in body must be of type int32: "int64"');
});

test('a policy sees what is written through /status in the version of its rules', async () => {
  const group = `g${groups++}.example.com`;
  const version = (name: string, storage: boolean, other: object): object => ({
    name,
    storage,
    served: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { other, count: { type: 'integer' } } } } } },
    subresources: { status: {} },
  });
  const versions = [version('v1', true, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }), version('v2', false, { type: 'boolean' })];
  const names = { plural: 'things', kind: 'Thing' };
  await api.create(DEFINITIONS, { metadata: { name: `things.${group}` }, spec: { group, scope: 'Namespaced', names, versions } });
  const things = `/apis/${group}/v1/namespaces/${NAMESPACE}/things`;
  await api.create(things, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: { count: 1 } });
  const name = `status-${groups++}`;
  const resourceRules = [{ operations: ['UPDATE'], apiGroups: [group], apiVersions: ['v2'], resources: ['*/*'] }];
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{count: 3}}' } }];
  const spec = { matchConstraints: { matchPolicy: 'Equivalent', resourceRules }, mutations, reinvocationPolicy: 'Never' };
  await api.create(`${REGISTRATION}/mutatingadmissionpolicies`, { metadata: { name }, spec });
  await api.create(`${REGISTRATION}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const refusal = await api.expect(403, { method: 'PATCH', path: `${things}/a/status`, body: { spec: { other: { c: true } } }, headers });
  expect(messageOf(refusal)).toContain('failed to convert original object to typed object: .spec.other: expected boolean, got &{map[c:true]}');
});

test('the scale of a custom object is no list, which its type tells at once', async () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const spec = { type: 'object', properties: { replicas: { type: 'integer' } } };
  const { things, thing } = await define({ spec }, { subresources: { scale } });
  await api.create(things, thing('a', { spec: { replicas: 1 } }));
  const headers = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
  const answer = await api.expect(406, { path: `${things}/a/scale`, headers });
  expect(answer.json()).toMatchObject({ message: 'you requested PartialObjectMetadataList, but the requested object is not a list (*v1.Scale)' });
});

interface TwoVersions {
  path(version: string, rest: string): string;
  /** What applies the fields in a version, to an object that is always the same. */
  apply(version: string, rest: string, fields: object): { method: string; path: string; headers: Record<string, string>; body: object };
}

/** A resource with a status in two versions, of which the first is stored. */
async function defineTwoVersions(): Promise<TwoVersions> {
  const properties = { spec: { type: 'object', properties: { host: TEXT } }, status: { type: 'object', properties: { phase: TEXT } } };
  const group = `g${groups++}.example.com`;
  const version = (name: string): object => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', properties } },
    subresources: { status: {} },
  });
  await api.create(DEFINITIONS, {
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: [version('v1'), version('v2')] },
  });
  const path = (served: string, rest: string): string => `/apis/${group}/${served}/namespaces/${NAMESPACE}/things/a${rest}`;
  while ((await api.send({ path: path('v2', '') })).json<{ details?: object }>().details === undefined);
  const apply: TwoVersions['apply'] = (served, rest, fields) => ({
    method: 'PATCH',
    path: path(served, rest),
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: { apiVersion: `${group}/${served}`, kind: 'Thing', metadata: { name: 'a' }, ...fields },
  });
  return { path, apply };
}

test('a forced apply takes status from owners in other versions, though it does not write it', async () => {
  const { path, apply } = await defineTwoVersions();
  await api.expect(201, apply('v1', '?fieldManager=maker', {}));
  await api.expect(200, apply('v1', '/status?fieldManager=reporter', { status: { phase: 'old' } }));
  const owners = async (served: string, fields: object): Promise<string[]> => {
    const answer = await api.expect(200, apply(served, '?fieldManager=other&force=true', fields));
    return answer.json<{ metadata: { managedFields: { manager: string }[] } }>().metadata.managedFields.map(({ manager }) => manager);
  };
  expect(await owners('v1', { spec: { host: 'h' }, status: { phase: 'new' } })).toEqual(['other', 'reporter']);
  expect(await owners('v2', { spec: { host: 'i' }, status: { phase: 'new' } })).toEqual(['other']);
  expect((await api.expect(200, { path: path('v1', '') })).json()).toMatchObject({ status: { phase: 'old' } });
});

test('what a write of the status does not write is not taken from owners in other versions either', async () => {
  const { path, apply } = await defineTwoVersions();
  await api.expect(201, apply('v1', '?fieldManager=maker', { spec: { host: 'old' } }));
  const applied = await api.expect(200, apply('v2', '/status?fieldManager=reporter', { spec: { host: 'new' } }));
  const body = { spec: { host: 'newer' }, status: { phase: 'late' } };
  const patched = await api.expect(200, { method: 'PATCH', path: path('v2', '/status'), headers: { 'content-type': 'application/merge-patch+json' }, body });
  for (const answer of [applied, patched]) {
    const { metadata, spec } = answer.json<{ metadata: { managedFields: object[] }; spec: object }>();
    expect(spec).toEqual({ host: 'old' });
    expect(metadata.managedFields[0]).toMatchObject({ manager: 'maker', fieldsV1: { 'f:spec': { 'f:host': {} } } });
  }
});

test.each([
  [1e300, '1e+300'],
  [-(2 ** 63) * 4, '-3.6893488147419103e+19'],
])('%d replicas are floating point, and none that a scale has', async (replicas, shown) => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const { things, thing } = await define({ spec: { type: 'object', properties: { replicas: { type: 'integer' } } } }, { subresources: { scale } });
  const answer = await api.expect(422, { method: 'POST', path: things, body: thing('a', { spec: { replicas } }) });
  expect(messageOf(answer)).toContain(`.spec.replicas: Invalid value: 0: .spec.replicas accessor error: ${shown} is of the type float64, expected int64`);
});

test('the default of what is an integer or a string may be anything, but no object can have it', async () => {
  const spec = { type: 'object', properties: { port: { 'x-kubernetes-int-or-string': true, default: true } } };
  const { things, thing } = await define({ spec });
  const answer = await api.expect(422, { method: 'POST', path: things, body: thing('a', { spec: {} }) });
  expect(messageOf(answer)).toContain('spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"');
});

test('a webhook sees a field that was applied, is owned, and will not be stored', async () => {
  const { group, things, thing } = await define({ spec: { type: 'object', properties: {} } });
  const hook = await registerMutating('applied', group, 'things');
  const path = `${things}/a?fieldManager=applier`;
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const answer = await api.expect(201, { method: 'PATCH', path, headers, body: thing('a', { spec: { unknown: 1 } }) });
  expect(hook.requests.map(({ object }) => object!['spec'])).toEqual([{ unknown: 1 }]);
  expect(answer.json()).toMatchObject({ metadata: { managedFields: [{ fieldsV1: { 'f:spec': { 'f:unknown': {} } } }] }, spec: {} });
  expect(answer.json<{ spec: object }>().spec).toEqual({});
});

describe('the scale of a custom object', () => {
  const UNKNOWN = 'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"';
  let path: string;

  beforeAll(async () => {
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    const { things, thing } = await define({ spec: { type: 'object', properties: { replicas: { type: 'integer' } } } }, { subresources: { scale } });
    await api.create(things, thing('a', { spec: { replicas: 1 } }));
    path = `${things}/a/scale`;
  });

  test.each([
    [[{ op: 'replace', path: '', value: {} }], 400, 'was undeterminable: name must be provided'],
    [[{ op: 'remove', path: '/kind' }], 200, ''],
    [[{ op: 'remove', path: '/apiVersion' }], 200, ''],
    [{ kind: 'Foo' }, 422, 'no kind "Foo" is registered for version "autoscaling/v1" in scheme "k8s.io/client-go/scale/util.go:146"'],
    [{ apiVersion: 'autoscaling/v2' }, 422, 'no kind "Scale" is registered for version "autoscaling/v2" in scheme "k8s.io/client-go/scale/util.go:146"'],
    [{ apiVersion: 'a/b/c' }, 422, 'unexpected GroupVersion string: a/b/c'],
    [{ apiVersion: 'extensions/v1beta1' }, 422, 'converting (v1beta1.Scale) to (v1.Scale): unknown conversion'],
    [{ kind: 'DeleteOptions' }, 422, 'converting (v1.DeleteOptions) to (v1.Scale): unknown conversion'],
    [{ kind: 'Status' }, 422, 'json: cannot unmarshal object into Go struct field Status.status of type string'],
  ])('is patched as the type that it is: %j', async (body, status, message) => {
    const headers = { 'content-type': `application/${Array.isArray(body) ? 'json' : 'merge'}-patch+json` };
    const answer = await api.expect(status, { method: 'PATCH', path, headers, body });
    if (message !== '') expect(messageOf(answer)).toContain(message);
  });

  test.each([
    ['application/json', '{'],
    ['application/json', '{"kind":"Foo","metadata":{"name":"a"}}'],
    ['application/json', '{"apiVersion":"extensions/v1beta1","metadata":{"name":"a"}}'],
    ['application/json', '{"metadata":{"name":"a"},"spec":{"replicas":"x"}}'],
    ['application/yaml', 'a: ['],
    ['application/vnd.kubernetes.protobuf', 'none'],
  ])('is refused in the same words whatever is wrong with it: %s %s', async (type, body) => {
    expect(messageOf(await api.expect(400, { method: 'PUT', path, headers: { 'content-type': type }, body: Buffer.from(body) }))).toBe(UNKNOWN);
  });

  test.each([
    'json',
    'json;as=Table;v=v1;g=meta.k8s.io',
    'json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    'json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  ])('that has no replicas cannot be read, in whatever form: %s', async (form) => {
    await api.expect(200, {
      method: 'PATCH',
      path: path.replace('/scale', ''),
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: null },
    });
    const refusal = await api.expect(500, { path: `${path}?includeObject=Nonsense`, headers: { accept: `application/${form}` } });
    expect(messageOf(refusal)).toBe('Internal error occurred: the spec replicas field ".spec.replicas" does not exist');
    await api.expect(200, {
      method: 'PATCH',
      path: path.replace('/scale', ''),
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: { replicas: 1 } },
    });
  });

  test('may be sent in protobuf', async () => {
    const scale = await api.expect(200, { path });
    const schema = schemaOfKind('autoscaling', 'v1', 'Scale');
    const body = encodeProtobufObject(schema, {
      ...decode(schema, { ...scale.json<JsonObject>(), spec: { replicas: 5 } }),
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
    });
    const answer = await api.expect(200, { method: 'PUT', path, headers: { 'content-type': 'application/vnd.kubernetes.protobuf' }, body });
    expect(answer.json()).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
  });
});
