import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* What the reference (v1.36.4) makes of what is sent empty, null or too large, where `npm run compare` found the two to differ: one test a rule. */

const NAMESPACE = '/api/v1/namespaces/compared';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

interface Shown {
  metadata: { resourceVersion: string; labels?: object; managedFields?: { manager: string; operation: string }[] };
  spec?: Record<string, unknown>;
  status?: unknown;
  message: string;
  details?: { causes: { message: string }[] };
}

let api: ApiClient;
let groups = 0;

beforeAll(async () => {
  api = (await startServer()).client();
  await api.create('/api/v1/namespaces', { metadata: { name: 'compared' } });
});

const send = async (method: string, path: string, body: object, type = 'application/json'): Promise<Shown & { code: number }> => {
  const answer = await api.send({ method, path, body, headers: { 'content-type': type } });
  return { ...answer.json<Shown>(), code: answer.status };
};

/** A resource with a status, in a group of its own; the path of its objects, and one that has these fields. */
async function define(properties: object): Promise<{ things: string; thing(fields: object, metadata?: object): object }> {
  const group = `e${groups++}.example.com`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties } };
  const versions = [{ name: 'v1', served: true, storage: true, subresources: { status: {}, scale: SCALE }, schema }];
  await api.create(DEFINITIONS, {
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions },
  });
  const things = `/apis/${group}/v1/things`;
  while ((await api.send({ path: things })).status === 404);
  return { things, thing: (fields, metadata = {}) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a', ...metadata }, ...fields }) };
}

const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

describe('a custom object', () => {
  test('keeps its owners where managedFields are sent empty', async () => {
    const { things, thing } = await define({});
    await api.create(things, thing({ spec: { a: 1 } }));
    const { metadata } = await send('PATCH', `${things}/a`, { metadata: { managedFields: [] } }, MERGE);
    expect(metadata.managedFields).toHaveLength(1);
    expect((await send('PATCH', `${things}/a`, { metadata: { managedFields: [{}] } }, MERGE)).metadata.managedFields).toBeUndefined();
  });

  test.each([{ labels: {} }, { annotations: {} }, { finalizers: [] }, { ownerReferences: [] }])(
    'is stored with %j of an apply, and read without it',
    async (empty) => {
      const { things, thing } = await define({});
      const apply = async (): Promise<Shown> => send('PATCH', `${things}/a?fieldManager=m`, thing({}, empty), APPLY);
      const versions = [await apply(), await apply(), await send('PATCH', `${things}/a`, {}, MERGE), await send('PATCH', `${things}/a`, {}, MERGE)].map(
        ({ metadata }) => metadata.resourceVersion,
      );
      // What is applied is never what was read; the patch stores what was read, once.
      expect(new Set(versions).size).toBe(3);
      expect(versions[3]).toBe(versions[2]);
      expect((await api.get<Shown>(`${things}/a`)).metadata).not.toHaveProperty(Object.keys(empty)[0]!);
    },
  );

  test('has the null that is written as its status', async () => {
    const { things, thing } = await define({});
    await api.create(things, thing({}));
    expect((await send('PATCH', `${things}/a/status`, [{ op: 'add', path: '/status', value: null }], JSON_PATCH)).status).toBeNull();
    expect((await api.get<Shown>(`${things}/a`)).status).toBeNull();
  });

  test('has no null as its status where its type allows none', async () => {
    const { things, thing } = await define({ status: { type: 'object' } });
    await api.create(things, thing({}));
    const applied = await send('PATCH', `${things}/a/status?fieldManager=m`, thing({ status: null }), APPLY);
    expect(applied).not.toHaveProperty('status');
    const patched = await send('PATCH', `${things}/a/status`, [{ op: 'add', path: '/status', value: null }], JSON_PATCH);
    expect(patched.metadata.resourceVersion).not.toBe(applied.metadata.resourceVersion);
  });

  test('shows the default of its status as soon as it is created', async () => {
    const { things, thing } = await define({ status: { type: 'object', default: {}, properties: { a: { type: 'integer', default: 3 } } } });
    expect((await send('POST', `${things}?dryRun=All`, thing({}))).status).toEqual({ a: 3 });
    expect((await send('POST', things, thing({ status: { a: 7 } }))).status).toEqual({ a: 3 });
    expect((await api.get<Shown>(`${things}/a`)).status).toEqual({ a: 3 });
  });

  test('is shown with the values of a JSON patch as they were sent', async () => {
    const { things, thing } = await define({
      spec: { type: 'object', properties: { more: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
    });
    await api.create(things, thing({ spec: { more: { b: 1, a: 2 } } }));
    const patch = [
      { op: 'replace', path: '/spec/more', value: { z: 1, c: 2 } },
      { op: 'add', path: '/spec/unknown', value: 1 },
    ];
    const { message } = await send('PATCH', `${things}/a?fieldValidation=Strict`, patch, JSON_PATCH);
    expect(message).toContain('\\"spec\\":{\\"more\\":{\\"z\\":1,\\"c\\":2},\\"unknown\\":1}');
  });

  test('has a scale whose metadata is shown in its own order', async () => {
    const { things, thing } = await define({ spec: { type: 'object', properties: { replicas: { type: 'integer' } } } });
    await api.create(things, thing({ spec: { replicas: 1 } }));
    const { message } = await send('PATCH', `${things}/a/scale?fieldValidation=Strict`, [{ op: 'add', path: '/spec/unknown', value: 1 }], JSON_PATCH);
    expect(message).toContain('\\"metadata\\":{\\"name\\":\\"a\\",\\"uid\\"');
  });
});

describe('a whole number that no int64 holds', () => {
  test.each([APPLY, STRATEGIC])('becomes the smallest one (%s)', async (type) => {
    const name = type === APPLY ? 'applied' : 'merged';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const path = '/apis/apps/v1/namespaces/compared/deployments';
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    if (type === STRATEGIC) await api.create(path, deployment);
    const grace = { ...template, spec: { ...template.spec, terminationGracePeriodSeconds: 1e300 } };
    const body = { ...deployment, spec: { ...deployment.spec, replicas: 1e300, template: grace } };
    const answer = await send('PATCH', `${path}/${name}?fieldManager=m`, body, type);
    expect([answer.code, answer.spec!['replicas']]).toEqual([type === APPLY ? 201 : 200, 0]);
    expect(answer.spec!['template']).toMatchObject({ spec: { terminationGracePeriodSeconds: -(2 ** 63) } });
  });
});

test('a list that is owned as a whole has changed where something in it is sent empty', async () => {
  const path = `${NAMESPACE}/limitranges/l`;
  const limit = { type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m' }, max: { cpu: '2' } };
  await send('PATCH', `${path}?fieldManager=m`, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [limit] } }, APPLY);
  const ownersAfter = async (item: object): Promise<string[]> =>
    (await send('PATCH', `${path}?fieldManager=other`, { spec: { limits: [item] } }, MERGE)).metadata.managedFields!.map(({ manager }) => manager);
  expect(await ownersAfter(limit)).toEqual(['m']);
  expect(await ownersAfter({ ...limit, min: {} })).toEqual(['other']);
});

describe('a strategic merge patch that is refused', () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const webhook = { name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } };

  test.each([
    [
      [{ name: 'a.example.com', clientConfig: [], namespaceSelector: { matchExpressions: null }, matchConditions: [{ expression: null }] }],
      'map[clientConfig:[] matchConditions:[map[]] name:a.example.com namespaceSelector:map[matchExpressions:<nil>]]',
    ],
    [
      [{ name: 'n' }, { name: 'n', clientConfig: [], sideEffects: 'None' }],
      'map[clientConfig:[] name:n sideEffects:None] map[clientConfig:[] name:n sideEffects:None]',
    ],
  ])('shows its items as they were merged: %j', async (webhooks, shown) => {
    const name = `strategic-${webhooks.length}`;
    await api.create(path, { metadata: { name }, webhooks: [webhook] });
    expect((await send('PATCH', `${path}/${name}`, { webhooks }, STRATEGIC)).message).toContain(`map[webhooks:[${shown}]]`);
  });

  test('names unknown fields without the keys of maps', async () => {
    const slices = '/apis/resource.k8s.io/v1/resourceslices';
    const spec = { nodeName: 'n', driver: 'd.example.com', pool: { name: 'p', resourceSliceCount: 1 } };
    await api.create(slices, { metadata: { name: 's' }, spec });
    const devices = [{ name: 'd', capacity: { memory: { value: '1', unknown: 1 } } }];
    const { message } = await send('PATCH', `${slices}/s?fieldValidation=Strict`, { spec: { devices } }, STRATEGIC);
    expect(message).toContain('unknown field "spec.devices[0].capacity.unknown"');
  });
});

test('every driver of a CSINode that stands there again is held against the stored one', async () => {
  const path = '/apis/storage.k8s.io/v1/csinodes';
  await api.create(path, { metadata: { name: 'n' }, spec: { drivers: [{ name: 'd', nodeID: 'a' }] } });
  const { message } = await send('PATCH', `${path}/n`, { spec: { drivers: ['b', 'c'].map((nodeID) => ({ name: 'd', nodeID })) } }, MERGE);
  expect(message.match(/field is immutable/g)).toHaveLength(2);
});

test('an inline local volume has no node affinity, even where it has one', async () => {
  const inlineVolumeSpec = { local: { path: '/a' }, nodeAffinity: {}, accessModes: ['ReadWriteOnce'] };
  const body = { metadata: { name: 'v' }, spec: { attacher: 'a', nodeName: 'n', source: { inlineVolumeSpec } } };
  const { message } = await send('POST', '/apis/storage.k8s.io/v1/volumeattachments', body);
  expect(message).toContain('nodeAffinity: Forbidden: may not be specified in the context of inline volumes');
  expect(message).toContain('nodeAffinity: Required value: Local volume requires node affinity');
});

test('versions of a definition are shown with their empty maps and external documentation', async () => {
  const schema = { openAPIV3Schema: { type: 'object', definitions: {}, externalDocs: {} } };
  const versions = [{ name: 'v1', served: true, storage: false, schema }, { name: 'v1' }];
  const body = {
    metadata: { name: 'a.shown.example.com' },
    spec: { group: 'shown.example.com', scope: 'Cluster', names: { plural: 'a', kind: 'A' }, versions },
  };
  const { details } = await send('POST', DEFINITIONS, body);
  const shown = details!.causes.map(({ message }) => message).find((message) => message.includes('must contain unique version names'));
  expect(shown).toContain('"Definitions":{},"ExternalDocs":{"Description":"","URL":""}');
});

test("an update may send nothing of a template's metadata but labels and annotations, empty or not", async () => {
  const templates = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates';
  await api.create(templates, { metadata: { name: 'a' }, spec: { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'd' } }] } } } });
  const headers = { 'content-type': 'application/json-patch+json' };
  const patch = (value: object): object => ({ method: 'PATCH', path: `${templates}/a`, headers, body: [{ op: 'add', path: '/spec/metadata', value }] });
  for (const field of ['ownerReferences', 'finalizers', 'managedFields']) {
    const refusal = await api.expect(422, patch({ [field]: [] }) as never);
    expect(refusal.json()).toMatchObject({ details: { causes: [{ field: `spec.metadata.${field}`, message: 'Forbidden: cannot be set' }] } });
  }
  await api.expect(200, patch({ labels: {}, annotations: {} }) as never);
});

test('a list in place of a map of times is told by the type of the map', async () => {
  const budgets = '/apis/policy/v1/namespaces/compared/poddisruptionbudgets';
  await api.create(budgets, { metadata: { name: 'timed' } });
  const { message } = await send('PATCH', `${budgets}/timed/status`, { status: { disruptedPods: [] } }, MERGE);
  expect(message).toContain('cannot unmarshal array into Go struct field PodDisruptionBudgetStatus.status.disruptedPods of type map[string]v1.Time');
});
