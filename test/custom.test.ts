import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSelfSigned } from '../src/serving/certificates/create.ts';
import type { ApiClient, TestList, TestObject } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* Custom resources over HTTP: one server, a group for every test. */

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SPEC = { type: 'object', properties: { size: { type: 'integer', minimum: 1, default: 3 }, big: { type: 'integer' } } };
const schema = (spec: object = SPEC): object => ({
  openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
});
const version = (name: string, more: object = {}): object => ({ name, served: true, storage: name === 'v1', schema: schema(), ...more });

let api: ApiClient;
let count = 0;

beforeAll(async () => {
  api = (await startServer()).client();
});

/** A definition of `things` in a group of its own. */
async function define(
  versions: readonly object[] = [version('v1')],
  more: object = {},
): Promise<{ name: string; group: string; things(version?: string): string }> {
  const group = `g${++count}.example.com`;
  const name = `things.${group}`;
  const spec = { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing', singular: 'thing' }, versions, ...more };
  await api.create(DEFINITIONS, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name }, spec });
  return { name, group, things: (spoken = 'v1') => `/apis/${group}/${spoken}/namespaces/default/things` };
}

const thing = (group: string, name: string, spec: object, spoken = 'v1'): object => ({
  apiVersion: `${group}/${spoken}`,
  kind: 'Thing',
  metadata: { name },
  spec,
});

interface OpenApiType {
  properties: Record<string, OpenApiType>;
}

const changeDefinition = (name: string, operations: readonly object[]) =>
  api.expect(200, {
    method: 'PATCH',
    path: `${DEFINITIONS}/${name}`,
    headers: { 'content-type': 'application/json-patch+json' },
    body: JSON.stringify(operations),
  });

describe('a definition', () => {
  test('is served, discovered and watchable as soon as its create is answered', async () => {
    const { group, things } = await define();
    expect(await api.get<TestList>(things())).toMatchObject({ kind: 'ThingList', items: [] });
    expect(await api.get(`/apis/${group}/v1`)).toMatchObject({ resources: [{ name: 'things', kind: 'Thing' }] });
    expect(await api.get(`/apis/${group}`)).toMatchObject({ preferredVersion: { version: 'v1' } });
    const openApi = await api.get<{ components: { schemas: Record<string, object> } }>(`/openapi/v3/apis/${group}/v1`);
    expect(Object.keys(openApi.components.schemas)).toContain(`com.example.g${count}.v1.Thing`);
    const watch = await api.watch(`${things()}?watch=1`);
    await api.create(things(), thing(group, 'a', {}));
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' }, spec: { size: 3 } } });
    watch.response.destroy();
  });

  test('is told as established, and registered with the aggregator', async () => {
    const { name, group } = await define();
    await vi.waitFor(async () => expect(JSON.stringify((await api.get(`${DEFINITIONS}/${name}`)).status)).toContain('InitialNamesAccepted'));
    await vi.waitFor(async () => {
      const service = await api.get(`/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`);
      expect(service.metadata.labels).toEqual({ 'kube-aggregator.kubernetes.io/automanaged': 'true' });
    });
  });

  test('takes its objects with it', async () => {
    const { name, group, things } = await define();
    await api.create(things(), thing(group, 'a', {}));
    const watch = await api.watch(`${things()}?watch=1&resourceVersion=0`);
    expect(await watch.next()).toMatchObject({ type: 'ADDED' });
    await api.delete(`${DEFINITIONS}/${name}`);
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } });
    await vi.waitFor(async () => expect((await api.send({ path: `${DEFINITIONS}/${name}` })).status).toBe(404));
    expect((await api.send({ path: things() })).status).toBe(404);
    await vi.waitFor(async () => expect((await api.send({ path: `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}` })).status).toBe(404));
  });

  test('may change in use: what is stored is read by the new schema', async () => {
    const { name, group, things } = await define([version('v1', { schema: schema({ type: 'object', properties: { old: { type: 'string' } } }) })]);
    await api.create(things(), thing(group, 'a', { old: 'x' }));
    await changeDefinition(name, [
      { op: 'replace', path: '/spec/versions/0/schema', value: schema() },
      { op: 'add', path: '/spec/versions/-', value: version('v2') },
    ]);
    expect((await api.get(`${things()}/a`)).spec).toEqual({ size: 3 });
    expect(await api.get(`${things('v2')}/a`)).toMatchObject({ apiVersion: `${group}/v2`, spec: { size: 3 } });
  });

  test('changes the documents about it at once', async () => {
    const { name, group } = await define();
    const [typeName, path] = [`com.example.${group.split('.')[0]}.v1.Thing`, `/openapi/v3/apis/${group}/v1`];
    const propertiesIn = async () => {
      const v2 = await api.get<{ definitions: Record<string, OpenApiType> }>('/openapi/v2');
      const v3 = await api.get<{ components: { schemas: Record<string, OpenApiType> } }>(path);
      return [v2.definitions[typeName], v3.components.schemas[typeName]].map((type) => Object.keys(type?.properties['spec']?.properties ?? {}).sort());
    };
    expect(await propertiesIn()).toEqual([
      ['big', 'size'],
      ['big', 'size'],
    ]);
    await changeDefinition(name, [
      { op: 'replace', path: '/spec/versions/0/schema', value: schema({ type: 'object', properties: { now: { type: 'string' } } }) },
    ]);
    expect(await propertiesIn()).toEqual([['now'], ['now']]);
  });

  test('ends its watches without a word when it changes', async () => {
    const { name, group, things } = await define();
    await api.create(things(), thing(group, 'a', {}));
    const watch = await api.watch(`${things()}?watch=1&resourceVersion=0`);
    expect(await watch.next()).toMatchObject({ type: 'ADDED' });
    await changeDefinition(name, [{ op: 'replace', path: '/spec/versions/0/schema', value: schema({ type: 'object', properties: {} }) }]);
    expect(await watch.next()).toBeUndefined();
  });

  test('moves what is stored to another version when it is written again, changed or not', async () => {
    const { name, group, things } = await define([version('v1'), version('v2')]);
    const { metadata } = await api.create(things(), thing(group, 'a', {}));
    const rewrite = async () => (await api.update(`${things()}/a`, await api.get(`${things()}/a`))).metadata.resourceVersion;
    expect(await rewrite()).toBe(metadata.resourceVersion);
    await changeDefinition(name, [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ]);
    expect((await api.get(`${DEFINITIONS}/${name}`)).status).toMatchObject({ storedVersions: ['v1', 'v2'] });
    const moved = await rewrite();
    expect(moved).not.toBe(metadata.resourceVersion);
    expect(await rewrite()).toBe(moved);
  });

  test.each([
    ['https://github.com/kubernetes/enhancements/pull/1111', 'True', 'ApprovedAnnotation'],
    ['unapproved, experimental', 'False', 'UnapprovedAnnotation'],
  ])("of the community's groups tells whether it was approved: %s", async (annotation, status, reason) => {
    const group = `g${++count}.k8s.io`;
    const name = `things.${group}`;
    const spec = { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: [version('v1')] };
    const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', spec };
    const refused = await api.expect(422, { method: 'POST', path: DEFINITIONS, body: { ...definition, metadata: { name } } });
    expect(refused.text).toContain('protected groups must have approval annotation');
    await api.create(DEFINITIONS, { ...definition, metadata: { name, annotations: { 'api-approved.kubernetes.io': annotation } } });
    await vi.waitFor(async () => {
      const { conditions } = (await api.get(`${DEFINITIONS}/${name}`)).status as { conditions: object[] };
      expect(conditions).toContainEqual(expect.objectContaining({ type: 'KubernetesAPIApprovalPolicyConformant', status, reason }));
    });
  });

  test('whose rule could cost too much is refused', async () => {
    const texts = { type: 'array', items: { type: 'array', items: { type: 'string' } } };
    const rule = 'self.lists.all(a, a.all(x, self.lists.all(b, b.all(y, x == y))))';
    const costly = { type: 'object', properties: { lists: texts }, 'x-kubernetes-validations': [{ rule }] };
    const group = `g${++count}.example.com`;
    const spec = { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: [version('v1', { schema: schema(costly) })] };
    const metadata = { name: `things.${group}` };
    const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec };
    const refused = await api.expect(422, { method: 'POST', path: DEFINITIONS, body });
    expect(refused.text).toContain('estimated rule cost exceeds budget by factor of more than 100x');
  });
});

describe('an object', () => {
  test('of a namespace cannot be written outside of it', async () => {
    const { group, things } = await define();
    const path = `/apis/${group}/v1/things`;
    expect((await api.expect(404, { method: 'POST', path, body: thing(group, 'a', {}) })).text).toBe('404 page not found\n');
    await api.create(things(), thing(group, 'a', {}));
    expect((await api.get<TestList>(path)).items).toHaveLength(1);
  });

  test('that broke a new rule before is let be, with a warning', async () => {
    const { name, group, things } = await define();
    await api.create(things(), thing(group, 'a', { size: 1 }));
    const ruled = { ...SPEC, 'x-kubernetes-validations': [{ rule: 'self.size > 1', message: 'too small' }] };
    await changeDefinition(name, [{ op: 'replace', path: '/spec/versions/0/schema', value: schema(ruled) }]);
    const relabel = { method: 'PATCH', path: `${things()}/a`, headers: { 'content-type': 'application/merge-patch+json' } };
    const answer = await api.expect(200, { ...relabel, body: '{"metadata":{"labels":{"a":"b"}}}' });
    expect(answer.headers['warning']).toBe('299 - "spec: Invalid value: too small"');
    await api.expect(422, { ...relabel, body: '{"spec":{"size":1,"big":1}}' });
  });

  test('cannot be patched into one of another type', async () => {
    const { group, things } = await define();
    await api.create(things(), thing(group, 'a', { size: 1 }));
    const refusal = async (status: number, change: object): Promise<string> => {
      const patch = { method: 'PATCH', path: `${things()}/a`, headers: { 'content-type': 'application/merge-patch+json' }, body: JSON.stringify(change) };
      return (await api.expect(status, patch)).json<{ message: string }>().message;
    };
    expect(await refusal(422, { apiVersion: 'x.y/v1' })).toBe(`Thing.x.y "a" is invalid: apiVersion: Invalid value: "x.y/v1": must be ${group}/v1`);
    expect(await refusal(422, { kind: 'Other' })).toBe(`Other.${group} "a" is invalid: kind: Invalid value: "Other": must be Thing`);
    expect(await refusal(422, { apiVersion: 'a/b/c' })).toMatch(/: unexpected GroupVersion string: a\/b\/c$/);
    expect(await refusal(422, { kind: 1 })).toMatch(
      /: couldn't get version\/kind; json parse error: json: cannot unmarshal number into Go struct field \.kind of type string$/,
    );
    expect(await refusal(500, { apiVersion: null })).toBe("Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'");
  });

  test('keeps integers beyond 2^53', async () => {
    const { group, things } = await define();
    const body = JSON.stringify(thing(group, 'a', { big: 1 })).replace('"big":1', '"big":9007199254740993');
    expect((await api.expect(201, { method: 'POST', path: things(), body })).text).toContain('"big":9007199254740993');
    expect((await api.expect(200, { path: `${things()}/a` })).text).toContain('"big":9007199254740993');
  });

  test('may keep what was wrong before, and nothing else', async () => {
    const { name, group, things } = await define([
      version('v1', { schema: schema({ type: 'object', properties: { size: { type: 'integer' }, other: { type: 'string' } } }) }),
    ]);
    await api.create(things(), thing(group, 'a', { size: 0 }));
    const stricter = { type: 'object', properties: { size: { type: 'integer', minimum: 1 }, other: { type: 'string' } } };
    await changeDefinition(name, [{ op: 'replace', path: '/spec/versions/0/schema', value: schema(stricter) }]);
    const merge = (spec: object) => ({
      method: 'PATCH',
      path: `${things()}/a`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ spec }),
    });
    await api.expect(200, merge({ other: 'x' }));
    expect((await api.expect(422, merge({ size: -1 }))).text).toContain('spec.size in body should be greater than or equal to 1');
  });

  test('is held to its rules, also to those of change', async () => {
    const rules = [{ rule: 'self.size >= oldSelf.size', messageExpression: "oldSelf.size > 4 ? 'must stay large' : 'must not shrink'", fieldPath: '.size' }];
    const { group, things } = await define([version('v1', { schema: schema({ ...SPEC, 'x-kubernetes-validations': rules }) })]);
    await api.create(things(), thing(group, 'a', { size: 5 }));
    const refused = await api.expect(422, {
      method: 'PATCH',
      path: `${things()}/a`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"spec":{"size":4}}',
    });
    expect(refused.json<{ message: string }>().message).toBe(`Thing.${group} "a" is invalid: spec.size: Invalid value: must stay large`);
  });

  test('cannot stall the server with a pattern', async () => {
    const { group, things } = await define([
      version('v1', { schema: schema({ type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } }) }),
    ]);
    const startedAt = performance.now();
    await api.expect(422, { method: 'POST', path: things(), body: thing(group, 'a', { text: `${'a'.repeat(100_000)}!` }) });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('is not made while its definition goes', async () => {
    const { name, group, things } = await define();
    const held = { ...thing(group, 'a', {}), metadata: { name: 'a', finalizers: ['example.com/hold'] } };
    await api.create(things(), held);
    await api.delete(`${DEFINITIONS}/${name}`);
    const refused = await api.expect(403, { method: 'POST', path: things(), body: thing(group, 'b', {}) });
    expect(refused.text).toContain('create not allowed while custom resource definition is terminating');
    await api.expect(200, {
      method: 'PATCH',
      path: `${things()}/a`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"metadata":{"finalizers":null}}',
    });
    await vi.waitFor(async () => expect((await api.send({ path: `${DEFINITIONS}/${name}` })).status).toBe(404));
  });
});

describe('conversion by webhook', () => {
  const { certPem, keyPem } = createSelfSigned({ commonName: 'converter', ips: ['127.0.0.1'] });
  const calls: number[] = [];
  let failure: string | undefined;

  interface Review {
    apiVersion: string;
    request: { uid: string; desiredAPIVersion: string; objects: (TestObject & { spec: { size?: number; width?: number } })[] };
  }
  /** v1 has a size, v2 calls it width. */
  const converted = ({ apiVersion, request: { uid, desiredAPIVersion, objects } }: Review): object => {
    calls.push(objects.length);
    const convertedObjects = objects.map((object) => {
      const amount = object.spec.size ?? object.spec.width;
      return { ...object, apiVersion: desiredAPIVersion, spec: desiredAPIVersion.endsWith('/v2') ? { width: amount } : { size: amount } };
    });
    const result = failure === undefined ? { status: 'Success' } : { status: 'Failed', message: failure };
    return { kind: 'ConversionReview', apiVersion, response: { uid, result, convertedObjects } };
  };
  const webhook = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.end(JSON.stringify(converted(JSON.parse(Buffer.concat(chunks).toString()) as Review))));
  });
  beforeAll(() => new Promise<void>((resolve) => void webhook.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void webhook.close());

  const defineConverted = (reviewVersion = 'v1') => {
    const clientConfig = { url: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/convert`, caBundle: Buffer.from(certPem).toString('base64') };
    const wide = { type: 'object', properties: { width: { type: 'integer', maximum: 100 } } };
    return define([version('v1'), version('v2', { schema: schema(wide) })], {
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: [reviewVersion] } },
    });
  };

  test('writes and reads in both versions', async () => {
    const { group, things } = await defineConverted();
    expect(await api.create(things('v2'), thing(group, 'a', { width: 7 }, 'v2'))).toMatchObject({ apiVersion: `${group}/v2`, spec: { width: 7 } });
    expect((await api.get(`${things()}/a`)).spec).toEqual({ size: 7 });
    const merge = { method: 'PATCH', path: `${things('v2')}/a`, headers: { 'content-type': 'application/merge-patch+json' }, body: '{"spec":{"width":8}}' };
    expect((await api.expect(200, merge)).json()).toMatchObject({ spec: { width: 8 } });
    expect((await api.get(`${things()}/a`)).spec).toEqual({ size: 8 });
    expect((await api.expect(422, { ...merge, body: '{"spec":{"width":101}}' })).text).toContain('spec.width in body should be less than or equal to 100');
  });

  test('converts a list in one call, each object once', async () => {
    const { group, things } = await defineConverted('v1beta1');
    for (const name of ['a', 'b', 'c']) await api.create(things(), thing(group, name, { size: 2 }));
    calls.length = 0;
    expect((await api.get<TestList>(things('v2'))).items.map(({ spec }) => spec)).toEqual([{ width: 2 }, { width: 2 }, { width: 2 }]);
    await api.get<TestList>(things('v2'));
    expect(calls).toEqual([3]);
  });

  test('watches in order', async () => {
    const { group, things } = await defineConverted();
    const watch = await api.watch(`${things('v2')}?watch=1`);
    for (const size of [1, 2, 3]) await api.create(things(), thing(group, `n${size}`, { size }));
    for (const width of [1, 2, 3]) expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { apiVersion: `${group}/v2`, spec: { width } } });
    watch.response.destroy();
  });

  test('a refusal is told as the reference tells it', async () => {
    const { group, things } = await defineConverted();
    await api.create(things(), thing(group, 'a', {}));
    failure = 'not today';
    const answer = await api.expect(500, { path: `${things('v2')}/a` });
    failure = undefined;
    expect(answer.json<{ message: string }>().message).toBe(`conversion webhook for ${group}/v1, Kind=Thing failed: not today`);
    const { text } = await api.expect(200, { path: '/metrics' });
    const labels = 'result="failure",failure_type="conversion_webhook_malformed_response_failure"';
    expect(text).toContain(`apiserver_conversion_webhook_request_total{${labels.split(',').toReversed().join(',')}} 1`);
    expect(text).toContain(
      `apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="things.${group}",from_version="v1",succeeded="false",to_version="v2"} 1`,
    );
  });
});

test('a scale without replicas can be patched, but not read', async () => {
  const { group, things } = await define([
    version('v1', {
      subresources: { scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' } },
      schema: schema({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
    }),
  ]);
  const scale = `${things()}/bare/scale`;
  const patched = (body: object) => api.send({ method: 'PATCH', path: scale, headers: { 'content-type': 'application/merge-patch+json' }, body });
  await api.create(things(), thing(group, 'bare', {}));
  expect((await api.send({ path: scale })).status).toBe(500);
  const unchanged = await patched({ metadata: { labels: { a: 'b' } } });
  expect([unchanged.status, unchanged.json<{ message: string }>().message]).toEqual([400, 'the spec replicas field ".spec.count" cannot be empty']);
  expect((await patched({ spec: { replicas: 2 } })).json<{ spec: object }>().spec).toEqual({ replicas: 2 });
  const table = await api.send({ path: scale, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  const { columnDefinitions, rows } = table.json<{ columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] }>();
  expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Desired', 'Available', 'Age']);
  expect(rows[0]!.cells.slice(0, 3)).toEqual(['bare', 2, 0]);
});

test('a null that is applied where none may be is refused, unless a default stands in for it', async () => {
  const { group, things } = await define();
  const applied = async (spec: object): Promise<[number, string | undefined]> => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const answer = await api.send({ method: 'PATCH', path: `${things()}/void?fieldManager=m`, headers, body: thing(group, 'void', spec) });
    return [answer.status, answer.json<{ message?: string }>().message];
  };
  expect(await applied({ big: null })).toEqual([
    422,
    `Thing.${group} "void" is invalid: spec.big: Invalid value: "null": spec.big in body must be of type integer: "null"`,
  ]);
  expect((await applied({ size: null }))[0]).toBe(201);
});

test('an update forgets who owns what where somebody owned it in a version that is gone', async () => {
  const { name, group, things } = await define([version('v1'), version('v2'), version('v3')]);
  await api.create(things('v2'), thing(group, 'old', { size: 2 }, 'v2'));
  const owners = async (size: number): Promise<string[] | undefined> => {
    const request = { method: 'PATCH', path: `${things()}/old`, headers: { 'content-type': 'application/merge-patch+json' }, body: { spec: { size } } };
    return (await api.send(request))
      .json<{ metadata: { managedFields?: { apiVersion: string }[] } }>()
      .metadata.managedFields?.map(({ apiVersion }) => apiVersion);
  };
  await changeDefinition(name, [{ op: 'replace', path: '/spec/versions/1/served', value: false }]);
  // Older owners come first where a second has passed between the two requests.
  expect((await owners(4))?.toSorted()).toEqual([`${group}/v1`, `${group}/v2`]);
  await changeDefinition(name, [{ op: 'remove', path: '/spec/versions/1' }]);
  expect(await owners(5)).toBeUndefined();
});
