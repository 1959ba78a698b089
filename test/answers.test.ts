import { beforeAll, expect, test } from 'vitest';
import type { ApiClient, TestObject } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* What the reference (v1.36.4) answers where no recorded scenario asks: one row a rule. */

const JSON_PATCH = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const NAMESPACE = '/api/v1/namespaces/answers';

let client: ApiClient;

beforeAll(async () => {
  client = (await startServer()).client();
  await client.create('/api/v1/namespaces', { metadata: { name: 'answers' } });
});

interface StatusAnswer {
  message: string;
}

const send = (method: string, path: string, body?: object | string, type = 'application/json') =>
  client.send({ method, path, ...(body !== undefined && { body, headers: { 'content-type': type } }) });

async function messageOf(method: string, path: string, body?: object | string, type?: string): Promise<[status: number, message: string]> {
  const answer = await send(method, path, body, type);
  return [answer.status, answer.json<StatusAnswer>().message];
}

test.each([
  ['/api/v1/persistentvolumes?fieldSelector=name=x', '"name" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['/api/v1/nodes?fieldSelector=metadata.namespace=x', 'field label not supported: metadata.namespace'],
  ['/apis/batch/v1/jobs?fieldSelector=foo=x', 'field label "foo" not supported for Job'],
  ['/apis/resource.k8s.io/v1/resourceslices?fieldSelector=foo=x', 'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: foo'],
  ['/api/v1/configmaps?continue=x&resourceVersion=1', 'invalid continue token: continue key is not valid: illegal base64 data at input byte 0'],
])('GET %s', async (path, message) => {
  expect(await messageOf('GET', path)).toEqual([400, message]);
});

test('a field selector of a lone operator selects everything', async () => {
  const { status, text } = await send('GET', '/api/v1/namespaces?fieldSelector==');
  expect([status, text.includes('"name":"answers"')]).toEqual([200, true]);
});

test('a limit counts on what upstream does not cache, whatever the version', async () => {
  for (const name of ['a', 'b']) {
    await client.create(`${NAMESPACE}/events`, { metadata: { name }, involvedObject: { namespace: 'answers' } });
    await client.create(`${NAMESPACE}/configmaps`, { metadata: { name } });
  }
  const listed = async (plural: string): Promise<number> =>
    (await send('GET', `${NAMESPACE}/${plural}?limit=1&resourceVersion=0`)).json<{ items: object[] }>().items.length;
  expect([await listed('events'), await listed('configmaps')]).toEqual([1, 2]);
});

test('an empty list of metadata is none', async () => {
  const headers = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
  expect((await client.send({ path: `${NAMESPACE}/secrets`, headers })).json<{ items: null }>().items).toBeNull();
});

test('what the first DELETE only marks refuses preconditions in its own words, and definitions are marked whatever the propagation', async () => {
  const [status, message] = await messageOf('DELETE', NAMESPACE, { preconditions: { uid: 'x' } });
  expect([status, message]).toEqual([
    409,
    expect.stringMatching(/^Operation cannot be fulfilled on namespaces "answers": Precondition failed: UID in precondition: x, UID in object meta: .{36}$/),
  ]);
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  await client.create(path, {
    metadata: { name: 'things.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions },
  });
  const marked = (await send('DELETE', `${path}/things.example.com`, { propagationPolicy: 'Orphan' })).json<{ metadata: { finalizers: string[] } }>();
  expect(marked.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
});

test('who sends a list that is always written owns it, empty as it is', async () => {
  const created = await send('POST', '/apis/storage.k8s.io/v1/csinodes', { metadata: { name: 'empty' }, spec: { drivers: [] } });
  expect(created.json<{ metadata: { managedFields: object[] } }>().metadata.managedFields).toMatchObject([{ fieldsV1: { 'f:spec': { 'f:drivers': {} } } }]);
});

test('the status of a service is written without a look at its addresses', async () => {
  await client.create(`${NAMESPACE}/services`, { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
  const { status, text } = await send('PATCH', `${NAMESPACE}/services/web/status`, { spec: { ipFamilyPolicy: 'RequireDualStack', type: 'Foo' } }, JSON_PATCH);
  expect([status, text.includes('"ipFamilyPolicy":"SingleStack"')]).toEqual([200, true]);
});

test('labels that follow from the template are there although a write of the status left them out', async () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'b' }] } };
  const path = `${NAMESPACE}/replicationcontrollers`;
  await client.create(path, { metadata: { name: 'web' }, spec: { template } });
  const object = { metadata: { name: 'web' }, spec: { template: { spec: template.spec } } };
  for (const query of ['?dryRun=All', ''])
    expect((await send('PUT', `${path}/web/status${query}`, object)).json<TestObject>().metadata.labels).toEqual({ app: 'web' });
});

test('tables of daemon sets do not tell what conversion adds', async () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'b' }] } };
  const path = '/apis/apps/v1/namespaces/answers/daemonsets';
  const made = await client.create(path, { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } });
  expect(made.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '1' });
  const headers = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
  expect((await client.send({ path: `${path}/web`, headers })).json<TestObject>().metadata.annotations).toBeUndefined();
});

test.each([
  [
    'POST',
    '/apis/storage.k8s.io/v1/storageclasses',
    { metadata: { name: 'a' }, provisioner: 'a', allowedTopologies: [{}] },
    'application/json',
    422,
    'Duplicate value: ""',
  ],
  [
    'POST',
    '/apis/apps/v1/namespaces/answers/replicasets',
    { metadata: { name: 'a' }, spec: { selector: { matchLabels: {} }, template: {} } },
    'application/json',
    422,
    'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
  ],
  [
    'PATCH',
    `${NAMESPACE}/configmaps/z?fieldManager=t`,
    String.raw`{"data":{"a":"\ud83d\ude00"}}`,
    APPLY,
    400,
    'yaml: found invalid Unicode character escape code',
  ],
  ['POST', `${NAMESPACE}/configmaps`, { metadata: { name: '\u0000' } }, 'application/json', 422, String.raw`ConfigMap "\x00" is invalid`],
  [
    'POST',
    `${NAMESPACE}/resourcequotas`,
    { metadata: { name: '-' }, spec: { hard: { pods: '9223372036854775807' } } },
    'application/json',
    422,
    /^(?!.*must be an integer)/,
  ],
])('%s %s %j', async (method, path, body, type, status, words) => {
  const [actual, message] = await messageOf(method, path, body, type);
  expect(actual).toBe(status);
  expect(message).toMatch(words);
});
