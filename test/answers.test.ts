import { beforeAll, expect, test } from 'vitest';
import type { ApiClient, TestObject } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* What the reference (v1.36.4) answers where no recorded scenario asks: one row a rule. */

const MERGE_PATCH = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const NAMESPACE = '/api/v1/namespaces/answers';

let client: ApiClient;

beforeAll(async () => {
  client = (await startServer()).client();
  await client.create('/api/v1/namespaces', { metadata: { name: 'answers' } });
});

const definitionOf = (plural: string): object => ({
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural, kind: plural.toUpperCase() },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
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
  await client.create(path, definitionOf('things'));
  const marked = (await send('DELETE', `${path}/things.example.com`, { propagationPolicy: 'Orphan' })).json<{ metadata: { finalizers: string[] } }>();
  expect(marked.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
});

test('who sends a list that is always written owns it, empty as it is', async () => {
  const created = await send('POST', '/apis/storage.k8s.io/v1/csinodes', { metadata: { name: 'empty' }, spec: { drivers: [] } });
  expect(created.json<{ metadata: { managedFields: object[] } }>().metadata.managedFields).toMatchObject([{ fieldsV1: { 'f:spec': { 'f:drivers': {} } } }]);
});

test("who owns what: a status through the object is nobody's, metadata through a definition's status is somebody's, and so is what was filled in", async () => {
  const ownersOf = async (method: string, path: string, body: object, type?: string): Promise<object[]> =>
    (await send(method, path, body, type)).json<{ metadata: { managedFields?: object[] } }>().metadata.managedFields ?? [];
  expect(await ownersOf('POST', '/api/v1/nodes', { metadata: { name: 'one' }, status: { nodeInfo: { osImage: 'x' } } })).toEqual([]);
  await client.create(`${NAMESPACE}/serviceaccounts`, { metadata: { name: 'one' } });
  expect(await ownersOf('POST', `${NAMESPACE}/serviceaccounts/one/token`, { spec: {} })).toMatchObject([
    { fieldsV1: { 'f:spec': { 'f:expirationSeconds': {} } } },
  ]);
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await client.create(path, definitionOf('owned'));
  expect(await ownersOf('PATCH', `${path}/owned.example.com/status?fieldManager=me`, { metadata: { labels: { a: 'b' } } }, MERGE_PATCH)).toContainEqual(
    expect.objectContaining({ manager: 'me', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } } }),
  );
});

test.each([
  ['ephemeralcontainers', { ephemeralContainers: [{ name: 'debug', image: 'b' }] }, 'f:ephemeralContainers'],
  ['resize', { containers: [{ name: 'a', resources: { requests: { cpu: '2' } } }] }, 'f:containers'],
])('who writes /%s of a pod owns it', async (subresource, spec, field) => {
  await send('POST', `${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } });
  const resources = { requests: { cpu: '1' } };
  await client.create(`${NAMESPACE}/pods`, { metadata: { name: subresource }, spec: { containers: [{ name: 'a', image: 'b', resources }] } });
  const patch = await send('PATCH', `${NAMESPACE}/pods/${subresource}/${subresource}?fieldManager=me`, { spec }, 'application/strategic-merge-patch+json');
  const owners = patch.json<{ metadata: { managedFields: { manager: string; subresource?: string; fieldsV1: { 'f:spec'?: object } }[] } }>().metadata
    .managedFields;
  const own = owners.find(({ manager }) => manager === 'me');
  expect([own?.subresource, Object.keys(own?.fieldsV1['f:spec'] ?? {})]).toEqual([subresource, [field]]);
});

test.each([
  [{ apiVersion: 'v2' }, 422, 'no kind "ConfigMap" is registered for version "v2" in scheme "pkg/api/legacyscheme/scheme.go:30"'],
  [{ apiVersion: 1 }, 422, "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string"],
  [{ apiVersion: null }, 400, 'the name of the object (patched based on URL) was undeterminable: name must be provided'],
  [{ metadata: { uid: 'x' } }, 422, 'metadata.uid: Invalid value: "x": field is immutable'],
])('a patch with %j', async (body, status, words) => {
  await send('POST', `${NAMESPACE}/configmaps`, { metadata: { name: 'patched' } });
  const [actual, message] = await messageOf('PATCH', `${NAMESPACE}/configmaps/patched`, body, MERGE_PATCH);
  expect([actual, message]).toEqual([status, expect.stringContaining(words)]);
});

test('a patch that forgets the kind is none the worse for it', async () => {
  expect((await send('PATCH', `${NAMESPACE}/configmaps/patched`, { kind: null }, MERGE_PATCH)).status).toBe(200);
});

test('the status of a service is written without a look at its addresses', async () => {
  await client.create(`${NAMESPACE}/services`, { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
  const { status, text } = await send('PATCH', `${NAMESPACE}/services/web/status`, { spec: { ipFamilyPolicy: 'RequireDualStack', type: 'Foo' } }, MERGE_PATCH);
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

test.each([
  ['POST', '/api/v1', 'application/json', 405],
  ['HEAD', '/apis/apps/v1', 'application/json', 405],
  ['POST', '/apis/apps', 'application/json', 200],
  ['DELETE', '/version', 'application/json', 405],
  ['GET', '/version', 'application/yaml', 406],
  ['GET', '/openid/v1/jwks', 'text/html', 406],
  ['PUT', '/.well-known/openid-configuration', 'application/json', 405],
  ['GET', '/api/v1/bindings', 'application/json', 404],
  ['GET', '/api/v1/namespaces/answers/pods/x/resize', 'application/json;as=Table;g=meta.k8s.io;v=v1', 406],
  ['GET', '/api/v1/namespaces/answers/pods/x/resize', 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json', 404],
  ['GET', '/api/v1/namespaces/answers/bindings/x', 'application/json', 404],
  ['DELETE', '/apis/authorization.k8s.io/v1/subjectaccessreviews/x', 'application/json', 404],
])('%s %s as %s is answered with %i', async (method, path, accept, status) => {
  expect((await client.send({ method, path, headers: { accept } })).status).toBe(status);
});

test('a version that a group does not have is told as a resource is', async () => {
  for (const path of ['/api/v2', '/apis/apps/v2']) expect(await messageOf('GET', path)).toEqual([404, 'the server could not find the requested resource']);
});

test('a dry run never comes to the storage, which refuses versions of what is new', async () => {
  const body = { metadata: { name: 'versioned', resourceVersion: '5' } };
  expect((await send('POST', `${NAMESPACE}/configmaps?dryRun=All`, body)).status).toBe(201);
  expect(await messageOf('POST', `${NAMESPACE}/configmaps`, body)).toEqual([500, 'resourceVersion should not be set on objects to be created']);
});

test('a list of one name is whole, whatever the limit', async () => {
  for (const name of ['one-a', 'one-b']) await client.create(`${NAMESPACE}/configmaps`, { metadata: { name } });
  const answer = await send('GET', `${NAMESPACE}/configmaps?fieldSelector=metadata.name%3Done-a&limit=1`);
  expect(answer.json<{ metadata: object }>().metadata).not.toHaveProperty('continue');
});

test('an owner of no group and version is refused', async () => {
  const owner = { apiVersion: 'a/b/c', kind: 'K', name: 'n', uid: 'u' };
  const [status, message] = await messageOf('POST', `${NAMESPACE}/configmaps`, { metadata: { name: 'owned', ownerReferences: [owner] } });
  expect([status, message]).toEqual([
    422,
    'ConfigMap "owned" is invalid: metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
  ]);
});

test('a pod keeps the quality of service that it is sent with', async () => {
  const pod = { metadata: { name: 'sure' }, spec: { containers: [{ name: 'c', image: 'i' }] }, status: { qosClass: 'Guaranteed', phase: 'Running' } };
  const answer = await send('POST', `${NAMESPACE}/pods`, pod);
  expect(answer.json<{ status: object }>().status).toEqual({ phase: 'Pending', qosClass: 'Guaranteed' });
});

test('a version that is no number is an error of the storage, and a uid is compared before a dry run gets there', async () => {
  await client.create(`${NAMESPACE}/configmaps`, { metadata: { name: 'numbered' } });
  const put = (metadata: object, query = '') => messageOf('PUT', `${NAMESPACE}/configmaps/numbered${query}`, { metadata: { name: 'numbered', ...metadata } });
  expect(await put({ resourceVersion: 'x' })).toEqual([500, 'strconv.ParseUint: parsing "x": invalid syntax']);
  expect(await put({ resourceVersion: '99999999999999999999' })).toEqual([500, 'strconv.ParseUint: parsing "99999999999999999999": value out of range']);
  expect((await put({ resourceVersion: '00' }))[0]).toBe(200);
  expect(await put({ uid: 'x' })).toEqual([409, expect.stringContaining('Key: /registry/configmaps/answers/numbered,')]);
  expect(await put({ uid: 'x' }, '?dryRun=All')).toEqual([409, expect.stringContaining('Key: /configmaps/answers/numbered,')]);
});

test('a namespace that is being emptied is left alone, and one without finalizers goes with the second DELETE', async () => {
  const path = '/api/v1/namespaces/going';
  const finalizersAfter = async (body?: object): Promise<string[] | undefined> =>
    (await send('DELETE', path, body)).json<{ metadata: { finalizers?: string[] } }>().metadata.finalizers;
  await client.create('/api/v1/namespaces', { metadata: { name: 'going' } });
  expect([await finalizersAfter(), await finalizersAfter({ propagationPolicy: 'Orphan' })]).toEqual([undefined, undefined]);
  await client.create('/api/v1/namespaces', { metadata: { name: 'kept' } });
  const marked = (await send('DELETE', '/api/v1/namespaces/kept', { orphanDependents: false })).json<{ metadata: { finalizers: string[] } }>();
  expect(marked.metadata.finalizers).toEqual(['foregroundDeletion']);
  await client.create('/api/v1/namespaces', { metadata: { name: 'idle' } });
  await send('PUT', '/api/v1/namespaces/idle/finalize', { metadata: { name: 'idle' }, spec: { finalizers: [] } });
  const phase = async (): Promise<string | undefined> => (await send('DELETE', '/api/v1/namespaces/idle')).json<{ status: { phase?: string } }>().status.phase;
  expect(await phase()).toBe('Terminating');
  await phase();
  expect((await send('GET', '/api/v1/namespaces/idle')).status).toBe(404);
});

test('a service may be created through its status, without addresses', async () => {
  const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'by-status' }, spec: { ports: [{ port: 80 }] } };
  expect(await messageOf('PATCH', `${NAMESPACE}/services/none/status?fieldManager=m`, { ...body, metadata: { name: 'none' }, spec: {} }, APPLY)).toEqual([
    422,
    'Service "none" is invalid: spec.ports: Required value',
  ]);
  const made = await send('PUT', `${NAMESPACE}/services/by-status/status`, body);
  expect([made.status, made.json<{ spec: object }>().spec]).toEqual([201, expect.not.objectContaining({ clusterIP: expect.anything() })]);
});

test('what goes at once is answered as it was, with the finalizer that a DELETE took back', async () => {
  await client.create(`${NAMESPACE}/podtemplates`, {
    metadata: { name: 'template' },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  });
  const finalizersAfter = async (propagationPolicy: string): Promise<string[] | undefined> =>
    (await send('DELETE', `${NAMESPACE}/podtemplates/template`, { propagationPolicy })).json<{ metadata: { finalizers?: string[] } }>().metadata.finalizers;
  expect([await finalizersAfter('Orphan'), await finalizersAfter('Background')]).toEqual([['orphan'], ['orphan']]);
  expect((await send('GET', `${NAMESPACE}/podtemplates/template`)).status).toBe(404);
});

test('the default columns come without rows where there is nothing', async () => {
  const rowsOf = async (plural: string): Promise<unknown> =>
    (await client.send({ path: `${NAMESPACE}/${plural}?labelSelector=nothing`, headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } })).json<{
      rows: unknown;
    }>().rows;
  expect([await rowsOf('limitranges'), await rowsOf('secrets')]).toEqual([null, []]);
});

test('a key that is written twice is read into what the first has left', async () => {
  const body = '{"metadata":{"name":"twice","labels":{"a":"1"}},"metadata":{"labels":{"b":"2"}},"data":{"a":"1"},"data":{"b":"2"}}';
  const answer = (await send('POST', `${NAMESPACE}/configmaps?dryRun=All`, body)).json<TestObject & { data: object }>();
  expect([answer.metadata.name, answer.metadata.labels, answer.data]).toEqual(['twice', { a: '1', b: '2' }, { a: '1', b: '2' }]);
});

test.each([
  ['priorityClassName', 'a/b', 403, 'pods "odd" is forbidden: no PriorityClass with name a/b was found'],
  ['runtimeClassName', '..', 500, `invalid resource name "..": [may not be '..']`],
  [
    'serviceAccountName',
    'a%b',
    403,
    `pods "odd" is forbidden: error looking up service account answers/a%b: invalid resource name "a%b": [may not contain '%']`,
  ],
])('a pod with the %s %s', async (field, value, status, message) => {
  await client.create(`${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } }).catch(() => undefined);
  const pod = { metadata: { name: 'odd' }, spec: { [field]: value, containers: [{ name: 'c', image: 'i' }] } };
  expect(await messageOf('POST', `${NAMESPACE}/pods`, pod)).toEqual([status, message]);
});

test('who changes a field through a subresource that does not write it owns it all the same', async () => {
  await client.create(`${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } }).catch(() => undefined);
  await client.create(`${NAMESPACE}/pods`, { metadata: { name: 'patient' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const body = { spec: { containers: [{ name: 'c', image: 'other' }] } };
  const answer = await send('PATCH', `${NAMESPACE}/pods/patient/ephemeralcontainers?fieldManager=m`, body, 'application/strategic-merge-patch+json');
  const { spec, metadata } = answer.json<{ spec: { containers: { image: string }[] }; metadata: { managedFields: { manager: string; fieldsV1: object }[] } }>();
  expect(spec.containers[0]!.image).toBe('i');
  expect(metadata.managedFields.find(({ manager }) => manager === 'm')?.fieldsV1).toEqual({
    'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:image': {} } } },
  });
});

test.each([
  [
    'Pod',
    '/api/v1/namespaces/answers/pods',
    { containers: [{ name: 'c', image: 'i' }], resources: { claims: [] } },
    'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
  ],
  [
    'ResourceSlice.resource.k8s.io',
    '/apis/resource.k8s.io/v1/resourceslices',
    { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n', sharedCounters: [], devices: [] },
    'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
  ],
  [
    'HorizontalPodAutoscaler.autoscaling',
    '/apis/autoscaling/v2/namespaces/answers/horizontalpodautoscalers',
    { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'a', name: 'b' }, maxReplicas: 1, behavior: { scaleUp: { policies: [] } } },
    'spec.behavior.scaleUp.policies: Required value: must specify at least one Policy',
  ],
  [
    'ResourceClaimTemplate.resource.k8s.io',
    '/apis/resource.k8s.io/v1/namespaces/answers/resourceclaimtemplates',
    { metadata: { finalizers: [] }, spec: {} },
    'spec.metadata.finalizers: Forbidden: cannot be set',
  ],
])('lists of a %s that were sent empty are checked', async (kind, path, spec, problem) => {
  expect(await messageOf('POST', path, { metadata: { name: 'emptied' }, spec })).toEqual([422, `${kind} "emptied" is invalid: ${problem}`]);
});

test('a policy may be applied into being through its status', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/none/status?fieldManager=m';
  const [status, message] = await messageOf(
    'PATCH',
    path,
    { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'none' } },
    APPLY,
  );
  expect([status, message]).toEqual([422, expect.stringContaining('spec.matchConstraints: Required value')]);
});

test('rows of addresses have an age, for which there is no column', async () => {
  const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
  await client.create('/apis/networking.k8s.io/v1/ipaddresses', {
    metadata: { name: '192.168.7.7' },
    spec: { parentRef: { resource: 'services', namespace: 'a', name: 'b' } },
  });
  const { columnDefinitions, rows } = (await client.send({ path: '/apis/networking.k8s.io/v1/ipaddresses/192.168.7.7', headers })).json<{
    columnDefinitions: { name: string }[];
    rows: { cells: string[] }[];
  }>();
  expect([columnDefinitions.map(({ name }) => name), rows[0]!.cells]).toEqual([
    ['Name', 'ParentRef'],
    ['192.168.7.7', 'services/a/b', expect.stringMatching(/^\d+s$/)],
  ]);
});
