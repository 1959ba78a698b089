import { beforeAll, expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* What the reference (v1.36.4) answers where `npm run compare` found the two to differ: one row a rule. */

const NAMESPACE = '/api/v1/namespaces/compared';
const SELECTOR = { matchLabels: { app: 'web' } };
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

let client: ApiClient;

beforeAll(async () => {
  client = (await startServer()).client();
  await client.create('/api/v1/namespaces', { metadata: { name: 'compared' } });
});

test.each([
  ['POST', `${NAMESPACE}/configmaps`, 'application/json', {}],
  [
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/compared/leases/put',
    'application/json',
    { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 },
  ],
  ['PATCH', `${NAMESPACE}/configmaps/applied?fieldManager=m`, APPLY, { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 }],
])('a %s that creates: what is left of a deletionTimestamp', async (method, path, type, left) => {
  const isLease = path.includes('leases');
  const name = /(put|applied)/.exec(path)?.[0] ?? 'posted';
  const metadata = { name, deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 };
  const body = { apiVersion: isLease ? 'coordination.k8s.io/v1' : 'v1', kind: isLease ? 'Lease' : 'ConfigMap', metadata };
  const answer = await client.expect(201, { method, path, body, headers: { 'content-type': type } });
  const { deletionTimestamp, deletionGracePeriodSeconds } = answer.json<{ metadata: Record<string, unknown> }>().metadata;
  expect({
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  }).toEqual(left);
});

test.each([
  ['/api', 'APIVersions', ''],
  ['/api/v1', 'APIResourceList', ''],
  ['/apis', 'APIGroupList', 'v1'],
  ['/apis/apps/v1', 'APIResourceList', 'v1'],
])('%s in protobuf names a version where its JSON does', async (path, kind, apiVersion) => {
  const { body } = await client.expect(200, { path, headers: { accept: PROTOBUF } });
  const typeMeta = `\n${String.fromCharCode(apiVersion.length)}${apiVersion}\x12${String.fromCharCode(kind.length)}${kind}`;
  expect(body.subarray(0, 6 + typeMeta.length).toString('latin1')).toBe(`k8s\0\n${String.fromCharCode(typeMeta.length)}${typeMeta}`);
});

test('a version is any number of 64 bits, and events are not waited for', async () => {
  const tooLarge = (retryAfterSeconds?: number): object => ({
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
  const largest = await client.expect(504, { path: `${NAMESPACE}/configmaps?resourceVersion=18446744073709551615` });
  expect(largest.json()).toMatchObject({
    message: expect.stringContaining('Too large resource version: 18446744073709551615, current: '),
    details: tooLarge(1),
  });
  const beyond = await client.expect(400, { path: `${NAMESPACE}/configmaps?resourceVersion=18446744073709551616` });
  expect(beyond.text).toContain('value out of range');
  const events = await client.expect(504, { path: `${NAMESPACE}/events?resourceVersion=99999999999` });
  expect(events.json<{ details: object }>().details).toEqual(tooLarge());
  expect(events.headers['retry-after']).toBeUndefined();
});

test('/apis/ knows the legacy form alone', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  expect((await client.send({ path: '/apis/', headers: { accept } })).status).toBe(406);
  for (const path of ['/api', '/api/', '/apis']) expect((await client.send({ path, headers: { accept } })).status).toBe(200);
});

test.each(['//api/v1/pods', '//apis/apps/v1/deployments', '/apis//apps/v1', '/apis//v1/pods'])('nothing is at %s', async (path) => {
  const { status, text } = await client.send({ path });
  expect([status, text]).toEqual([404, '404 page not found\n']);
});

test("the row of a bookmark is an empty object's", async () => {
  const rowOf = async (collection: string): Promise<unknown> => {
    const query = 'watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1';
    const { text } = await client.send({ path: `${collection}?${query}`, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    return (JSON.parse(text.split('\n', 1)[0]!) as { object: { rows: { cells: unknown[] }[] } }).object.rows[0]!.cells;
  };
  expect(await rowOf('/apis/autoscaling/v1/namespaces/compared/horizontalpodautoscalers')).toEqual(['', '/', '<none>', '<unset>', 0, 0, '<unknown>']);
  expect(await rowOf(`${NAMESPACE}/limitranges`)).toEqual(['', '0001-01-01T00:00:00Z']);
  expect(await rowOf('/apis/events.k8s.io/v1/namespaces/compared/events')).toEqual(['<unknown>', '', '', '', '', '', '', '<unknown>', 1, '']);
});

test('a patched custom object is shown with its keys sorted', async () => {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const spec = { group: 'compared.example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions };
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { metadata: { name: 'things.compared.example.com' }, spec });
  const path = '/apis/compared.example.com/v1/things';
  while ((await client.send({ path })).status === 404);
  await client.create(path, { apiVersion: 'compared.example.com/v1', kind: 'Thing', metadata: { name: 'a' } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const { text } = await client.expect(422, { method: 'PATCH', path: `${path}/a?fieldValidation=Strict`, body: { unknown: 1 }, headers });
  const [shown] = /\{.*\}(?=": strict)/.exec((JSON.parse(text) as { message: string }).message)!;
  expect(Object.keys((JSON.parse(JSON.parse(`"${shown}"`) as string) as { metadata: object }).metadata)).toEqual([
    'creationTimestamp',
    'generation',
    'name',
    'resourceVersion',
    'uid',
  ]);
});

test.each([
  [{ metadata: { namespace: 1e300 } }, 'map[metadata:map[namespace:1e+300]]', 'unrecognized type: string'],
  [{ metadata: { name: 7 } }, 'map[metadata:map[name:7]]', 'cannot convert int64 to string'],
  [{ spec: { strategy: { renewTime: {}, preferredHolder: null } } }, 'map[spec:map[strategy:map[renewTime:map[]]]]', 'unrecognized type: string'],
])('a strategic merge patch of %j is refused as it was merged', async (body, shown, why) => {
  const path = '/apis/coordination.k8s.io/v1/namespaces/compared/leases';
  await client.send({ method: 'POST', path, body: { metadata: { name: 'strategic' } } });
  const headers = { 'content-type': 'application/strategic-merge-patch+json' };
  const { text } = await client.expect(422, { method: 'PATCH', path: `${path}/strategic`, body, headers });
  expect((JSON.parse(text) as { message: string }).message).toBe(` "" is invalid: patch: Invalid value: "${shown}": ${why}`);
});

test("an empty part of a claim's selector is not in what changed", async () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await client.create(`${NAMESPACE}/persistentvolumeclaims`, { metadata: { name: 'claim' }, spec });
  const body = { metadata: { name: 'claim' }, spec: { ...spec, selector: { matchLabels: {} } } };
  const { text } = await client.expect(422, { method: 'PUT', path: `${NAMESPACE}/persistentvolumeclaims/claim`, body });
  expect((JSON.parse(text) as { message: string }).message).toContain('- "Selector": null,\n+ "Selector": {},\n');
});

const definition = (versions: object[], more: object = {}): object => ({
  metadata: { name: 'odd.compared.example.com' },
  spec: { group: 'compared.example.com', scope: 'Cluster', names: { plural: 'odd', kind: 'Odd' }, versions, ...more },
});

const definitionMessage = async (body: object): Promise<string> =>
  (await client.send({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', body })).json<{ message: string }>().message;

const schemaOf = (properties: object): object => ({ openAPIV3Schema: { type: 'object', properties } });

test('errors of rules stand with those of their schema', async () => {
  const rules = [{ rule: 'self', messageExpression: 'self' }];
  const schema = schemaOf({ a: { type: 'boolean', 'x-kubernetes-validations': rules } });
  const message = await definitionMessage(definition([{ name: 'v1', served: true, storage: true, schema }], { preserveUnknownFields: true }));
  expect(message.indexOf('messageExpression must evaluate to a string')).toBeGreaterThan(0);
  expect(message.indexOf('messageExpression must evaluate to a string')).toBeLessThan(message.indexOf('spec.preserveUnknownFields: Invalid value'));
});

test('a default that breaks a rule is told before the rule', async () => {
  const rules = [{ rule: "self == 'b'", message: 'must be b', fieldPath: '.c' }];
  const message = await definitionMessage(
    definition([{ name: 'v1', served: true, storage: true, schema: schemaOf({ a: { type: 'string', default: 'a', 'x-kubernetes-validations': rules } }) }]),
  );
  expect(message.indexOf('must be b')).toBeGreaterThan(0);
  expect(message.indexOf('must be b')).toBeLessThan(message.indexOf('must be a valid path'));
});

test.each([
  [
    { a: 'object', b: { items: { required: [[]] } } },
    'array into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.items.required of type string',
  ],
  [
    { a: { items: { 'x-kubernetes-validations': [{ optionalOldSelf: 'x' }] } } },
    'string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.items.x-kubernetes-validations.optionalOldSelf of type bool',
  ],
  [{ a: { enum: ' ' } }, 'string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.enum of type []v1.JSON'],
])('a definition with properties %j is told what a schema can not be', async (properties, why) => {
  expect(await definitionMessage(definition([{ name: 'v1', schema: schemaOf(properties) }]))).toContain(`json: cannot unmarshal ${why}`);
});

test('one byte is not bytes', async () => {
  const message = await definitionMessage(
    definition([{ name: 'v1', served: true, storage: true, schema: schemaOf({ a: { type: 'string', maxLength: 1, default: 'ab' } }) }]),
  );
  expect(message).toContain('Too long: may not be more than 1 byte');
  expect(message).not.toContain('1 bytes');
});

test.each([
  ['resourceVersionMatch=Exact&fieldSelector=metadata.name%3Dx', undefined],
  ['limit=2&fieldSelector=metadata.name%3Dx', undefined],
  ['resourceVersionMatch=Exact', '1'],
  ['fieldSelector=metadata.name%3Dx', '1'],
])('a list of a version that is not there yet, with %s, tells when to come again: %s', async (query, seconds) => {
  const { text, headers } = await client.expect(504, { path: `${NAMESPACE}/configmaps?resourceVersion=99999999999&${query}` });
  expect(headers['retry-after']).toBe(seconds);
  expect(text.includes('retryAfterSeconds')).toBe(seconds !== undefined);
});

test('an apply to what nobody can own is refused for what is there', async () => {
  const path = `${NAMESPACE}/serviceaccounts`;
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'unowned' } };
  await client.create(path, body);
  await client.expect(200, {
    method: 'PATCH',
    path: `${path}/unowned`,
    body: { secrets: [{}] },
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
  });
  const { text } = await client.expect(500, { method: 'PATCH', path: `${path}/unowned?fieldManager=m`, body, headers: { 'content-type': APPLY } });
  expect((JSON.parse(text) as { message: string }).message).toBe(
    'failed to create manager for existing fields: failed to convert new object (compared/unowned; /v1, Kind=ServiceAccount) to smd typed: .secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
  );
});

test('a type that there is not keeps no rule of another property from being compiled', async () => {
  const properties = { a: { type: 'odd' }, b: { type: 'object', 'x-kubernetes-validations': [{ rule: 'has(self.c)' }] } };
  const message = await definitionMessage(definition([{ name: 'v1', served: true, storage: true, schema: schemaOf(properties) }]));
  expect(message).toContain('Unsupported value: "odd"');
  expect(message).toContain("undefined field 'c'");
});

const statusMessage = async (code: number, path: string, contentType: string, body: object): Promise<string> => {
  const { text } = await client.expect(code, { method: 'PATCH', path, body, headers: { 'content-type': contentType } });
  return (JSON.parse(text) as { message: string }).message;
};

test.each([
  ['application/json-patch+json', [{ op: 'replace', path: '', value: [null, { a: null }] }], '[null,{\\"a\\":null}]'],
  ['application/merge-patch+json', [null, { a: null }], '[null,{}]'],
])('a patch (%s) that makes a list of an object is told what it made', async (contentType, body, shown) => {
  const message = await statusMessage(422, `${NAMESPACE}?fieldValidation=Ignore`, contentType, body);
  expect(message).toBe(
    ` "" is invalid: patch: Invalid value: "${shown}": couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  );
});

test.each([
  [{ metadata: false, spec: { $retainKeys: [] } }, 'map[metadata:false spec:map[]]'],
  [{ metadata: false, spec: { $patch: 'replace', finalizers: ['a'] } }, 'map[metadata:false spec:map[finalizers:[a]]]'],
  [{ metadata: false, spec: { '$setElementOrder/finalizers': ['a'] } }, 'map[metadata:false spec:map[]]'],
])('directives that were obeyed are not in the strategic merge patch %j as it is shown', async (body, shown) => {
  const message = await statusMessage(422, `${NAMESPACE}?dryRun=All`, 'application/strategic-merge-patch+json', body);
  expect(message).toBe(` "" is invalid: patch: Invalid value: "${shown}": cannot restore struct from: bool`);
});

test('each byte of a character that is cut off is shown as one', async () => {
  const headers = { 'content-type': 'application/json' };
  const { text } = await client.expect(400, { method: 'POST', path: `${NAMESPACE}/configmaps`, body: `{${'a'.repeat(27)}\u20ac`, headers });
  expect((JSON.parse(text) as { message: string }).message).toContain(`({${'a'.repeat(27)}\ufffd\ufffd ...)`);
});

test.each(['limit=%zz', 'labelSelector=a;b', '%=1'])('a query with %s has no such parameter', async (query) => {
  await client.expect(200, { path: `${NAMESPACE}/configmaps?${query}` });
});

test.each(['/statusz', '/flagz'])('%s knows no protobuf, for its errors neither', async (path) => {
  const { headers } = await client.expect(406, { path, headers: { accept: PROTOBUF } });
  expect(headers['content-type']).toBe('application/json');
});

test('what an applied object can not have is told by name', async () => {
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { zz: 1, name: 5, labels: 1 } };
  expect(await statusMessage(500, `${NAMESPACE}/serviceaccounts/applied?fieldManager=m`, APPLY, body)).toBe(
    'failed to create typed patch object (/; /v1, Kind=ServiceAccount): errors:\n  .metadata.labels: expected map, got &{1}\n  .metadata.name: expected string, got &value.valueUnstructured{Value:5}\n  .metadata.zz: field not declared in schema',
  );
});

test.each([
  ['replicasets', { spec: { replicas: 0 } }],
  ['statefulsets', { spec: { replicas: 0 } }],
  ['deployments', { spec: { replicas: 0 } }],
  ['daemonsets', { metadata: { annotations: { 'deprecated.daemonset.template.generation': '0' } } }],
])('a bookmark of %s has what a conversion gives an empty object', async (plural, part) => {
  const query = 'watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1';
  const { text } = await client.send({ path: `/apis/apps/v1/namespaces/compared/${plural}?${query}` });
  expect(JSON.parse(text.split('\n', 1)[0]!)).toMatchObject({ type: 'BOOKMARK', object: part });
});

test("the path of a webhook's service is without its first byte, not its first character", async () => {
  const body = { metadata: { name: 'path' }, webhooks: [{ name: 'a.example.com', clientConfig: { service: { path: 'ü' } } }] };
  const { text } = await client.expect(422, { method: 'POST', path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', body });
  expect(text).toContain('segment[0]: a lowercase RFC 1123 subdomain must');
});

test('a webhook whose service has no URL is told of where it is called, and nowhere else', async () => {
  const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  const webhook = { name: 'a.example.com', clientConfig: { service: { namespace: '::1/2', name: 'none' } }, rules, sideEffects: 'None' };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'unusable' } };
  await client.create('/api/v1/namespaces', { metadata: { name: 'unusable' } });
  await client.create(configurations, { metadata: { name: 'unusable' }, webhooks: [{ ...webhook, namespaceSelector, admissionReviewVersions: ['v1'] }] });
  await client.create(`${NAMESPACE}/configmaps`, { metadata: { name: 'not-called' } });
  const { text } = await client.expect(500, { method: 'POST', path: '/api/v1/namespaces/unusable/configmaps', body: { metadata: { name: 'called' } } });
  expect((JSON.parse(text) as { message: string }).message).toBe(
    'Internal error occurred: failed calling webhook "a.example.com": could not get REST client: host must be a URL or a host:port pair: "https://[none.::1/2.svc]:443"',
  );
  await client.expect(200, { method: 'DELETE', path: `${configurations}/unusable` });
});

test('a value of an enumeration that there is not is told as JSON, one of a string as Go quotes it', async () => {
  const spec = { type: 'a<\u007f', ports: [{ port: 1 }], trafficDistribution: 'a<\u007f' };
  const { text } = await client.expect(422, { method: 'POST', path: `${NAMESPACE}/services?dryRun=All`, body: { metadata: { name: 'odd' }, spec } });
  const { message } = JSON.parse(text) as { message: string };
  expect(message).toContain('spec.type: Unsupported value: "a\\u003c\u007f": supported');
  expect(message).toContain('spec.trafficDistribution: Unsupported value: "a<\\x7f": supported');
});

test.each([
  ['configmaps', 'data', 200],
  ['configmaps', 'binaryData', 422],
  ['secrets', 'data', 422],
])('%s that are immutable, and %s that is sent empty: %i', async (resource, field, status) => {
  const path = `${NAMESPACE}/${resource}`;
  const name = `immutable-${field.toLowerCase()}`;
  await client.create(path, { metadata: { name }, immutable: true });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await client.expect(status, { method: 'PATCH', path: `${path}/${name}`, body: { [field]: {} }, headers });
  if (status === 422)
    expect(answer.json<{ message: string }>().message).toMatch(new RegExp(`: ${field}: Forbidden: field is immutable when \`immutable\` is set$`));
});

test('an immutable ConfigMap is changed by binaryData that is sent empty, but not by data, which is empty by default', async () => {
  const name = 'immutable';
  await client.create(`${NAMESPACE}/configmaps`, { metadata: { name }, immutable: true });
  const merge = (body: object) => ({
    method: 'PATCH',
    path: `${NAMESPACE}/configmaps/${name}`,
    body,
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await client.expect(200, merge({}));
  await client.expect(200, merge({ data: {} }));
  const message = `ConfigMap "${name}" is invalid: binaryData: Forbidden: field is immutable when \`immutable\` is set`;
  expect((await client.expect(422, merge({ binaryData: {} }))).json()).toMatchObject({ message });
  const body = { apiVersion: 'v1', kind: 'ConfigMap', binaryData: {} };
  const path = `${NAMESPACE}/configmaps/${name}?fieldManager=m`;
  expect((await client.expect(422, { method: 'PATCH', path, body, headers: { 'content-type': APPLY } })).json()).toMatchObject({ message });
});

test.each([
  ['10.0.0.1', 'cannot parse number 10.0.0.1'],
  ['/var/lib/x', "unrecognized character in action: U+002F '/'"],
  ['.a[?(@.b', 'unterminated filter'],
  ["'a", 'unterminated quoted string'],
])('a warning about an expression refers to a JSONPath, which %s is not', async (fieldRef, fault) => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const spec = {
    matchConstraints: { resourceRules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }] },
    validations: [{ expression: 'true' }],
  };
  const { metadata } = (await client.create(path, { metadata: { generateName: 'json-path-' }, spec })) as { metadata: { name: string } };
  const body = { status: { typeChecking: { expressionWarnings: [{ fieldRef, warning: 'w' }] } } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await client.expect(422, { method: 'PATCH', path: `${path}/${metadata.name}/status`, body, headers });
  expect(answer.json<{ message: string }>().message).toContain(`invalid JSONPath: ${fault}`);
});

test('unknown fields of a YAML body are told in the order of sorted keys, and items by their index', async () => {
  const body = `endpoints:\n${'- name: a\n'.repeat(11)}`;
  const path = '/apis/discovery.k8s.io/v1/namespaces/compared/endpointslices?fieldValidation=Strict';
  const answer = await client.expect(400, { method: 'POST', path, body, headers: { 'content-type': 'application/yaml' } });
  const fields = Array.from({ length: 11 }, (_, index) => `unknown field "endpoints[${index}].name"`);
  expect(answer.json<{ message: string }>().message).toContain(fields.join(', '));
});

test('a list of one object has no next page, and is of an older version only where it asks for it', async () => {
  const path = `${NAMESPACE}/secrets`;
  const { metadata } = (await client.create(path, { metadata: { name: 'one' } })) as { metadata: { resourceVersion: string } };
  await client.create(path, { metadata: { name: 'one-more' } });
  const list = async (query: string) => (await client.expect(200, { path: `${path}?fieldSelector=metadata.name%3Done&${query}` })).json<{ items: object[] }>();
  const exact = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
  expect(await list(exact)).toMatchObject({ metadata: { resourceVersion: metadata.resourceVersion }, items: [{ metadata: { name: 'one' } }] });
  expect(await list(`${exact}&limit=1`)).not.toHaveProperty('metadata.continue');
  await client.delete(`${path}/one`);
  expect((await list(`${exact}&limit=1`)).items).toHaveLength(1);
  expect((await list(`resourceVersion=${metadata.resourceVersion}&limit=1`)).items).toHaveLength(0);
});

test('an apply that creates takes any resourceVersion, and shows it where it is a dry run', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'versioned', resourceVersion: '7' } };
  const path = `${NAMESPACE}/configmaps/versioned?fieldManager=m`;
  const apply = { method: 'PATCH', body, headers: { 'content-type': APPLY } };
  expect((await client.expect(201, { ...apply, path: `${path}&dryRun=All` })).json()).toMatchObject({ metadata: { resourceVersion: '7' } });
  expect((await client.expect(201, { ...apply, path })).json()).not.toMatchObject({ metadata: { resourceVersion: '7' } });
});

test.each([
  [
    'the time is quoted byte by byte',
    { spec: { renewTime: 'é' } },
    String.raw`parsing time "\xc3\xa9" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "\xc3\xa9" as "2006"`,
  ],
])('%s', async (_, body, message) => {
  const answer = await client.expect(400, { method: 'POST', path: '/apis/coordination.k8s.io/v1/namespaces/compared/leases', body });
  expect(answer.json<{ message: string }>().message).toContain(message);
});

test('a Job that has an impossible name is warned about before it is refused', async () => {
  const answer = await client.expect(400, { method: 'DELETE', path: '/apis/batch/v1/namespaces/compared/jobs/%2e%2e' });
  expect(answer.headers['warning']).toContain('child pods are preserved by default');
});

test('of the metadata of a pod template, nothing is shown that was sent empty', async () => {
  const path = '/apis/batch/v1/namespaces/compared/jobs';
  const spec = { containers: [{ name: 'a', image: 'i' }], restartPolicy: 'Never' };
  const job = await client.create(path, { metadata: { name: 'shown' }, spec: { template: { spec } } });
  const body = { ...job, spec: { ...job.spec, template: { metadata: { name: 'n', labels: {}, annotations: {} }, spec } } };
  const { message } = (await client.expect(422, { method: 'PUT', path: `${path}/shown`, body })).json<{ message: string }>();
  expect(message).toContain('spec.template: Invalid value: {"name":"n","Spec":{');
});

test('limits that are sent empty make requests that are empty', async () => {
  await client.create(`${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } });
  const container = { name: 'a', image: 'i' };
  const pod = await client.create(`${NAMESPACE}/pods`, { metadata: { name: 'limits' }, spec: { containers: [container] } });
  const body = { ...pod, spec: { ...pod.spec, containers: [{ ...container, resources: { limits: {} }, workingDir: '/' }] } };
  const { message } = (await client.expect(422, { method: 'PUT', path: `${NAMESPACE}/pods/limits`, body })).json<{ message: string }>();
  expect(message).toContain('+    "Limits": {},\n+    "Requests": {},\n');
});

test('what may not be set on an ephemeral container may not be sent empty either, through the pod itself', async () => {
  const pod = await client.create(`${NAMESPACE}/pods`, {
    metadata: { name: 'ephemeral' },
    spec: { containers: [{ name: 'a', image: 'a' }], automountServiceAccountToken: false },
  });
  const ephemeralContainers = [{ name: 'debug', image: 'a', resources: { limits: {} } }];
  const answer = await client.send({ method: 'PUT', path: `${NAMESPACE}/pods/ephemeral`, body: { ...pod, spec: { ...pod.spec, ephemeralContainers } } });
  expect(answer.json<{ message: string }>().message).toContain('spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container');
});

test.each([
  ['/api/v1/namespaces/compared/podtemplates', (template: object) => ({ template }), 'template'],
  ['/api/v1/namespaces/compared/replicationcontrollers', (template: object) => ({ spec: { template } }), 'spec.template'],
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map(
    (kind) => [`/apis/apps/v1/namespaces/compared/${kind}`, (template: object) => ({ spec: { selector: SELECTOR, template } }), 'spec.template'] as const,
  ),
  ['/apis/batch/v1/namespaces/compared/jobs', (template: object) => ({ spec: { template } }), 'spec.template'],
  ['/apis/batch/v1/namespaces/compared/cronjobs', (template: object) => ({ spec: { jobTemplate: { spec: { template } } } }), 'spec.jobTemplate.spec.template'],
] as const)('nor may it in a template: %s', async (path, fields, place) => {
  const ephemeralContainers = [{ name: 'debug', image: 'a', resources: { limits: {} } }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }], ephemeralContainers } };
  const answer = await client.send({ method: 'POST', path, body: { metadata: { name: 'ephemeral' }, ...fields(template) } });
  expect(answer.json<{ message: string }>().message).toContain(
    `${place}.spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container`,
  );
});

test('a list that was sent empty is shown so in what may not change', async () => {
  const path = '/apis/storage.k8s.io/v1/csinodes';
  await client.create(path, { metadata: { name: 'compared' }, spec: { drivers: [{ name: 'd.example.com', nodeID: 'i-1' }] } });
  const body = { spec: { drivers: [{ name: 'd.example.com', nodeID: '*', topologyKeys: [] }] } };
  const answer = await client.send({ method: 'PATCH', path: `${path}/compared`, body, headers: { 'content-type': MERGE } });
  expect(answer.json<{ message: string }>().message).toContain(
    '{"Name":"d.example.com","NodeID":"*","TopologyKeys":[],"Allocatable":null}: field is immutable',
  );
});

test('a claim and what looks like a request of it', async () => {
  const claims = [{ name: 'example.com/thing' }, { name: 'example.com' }];
  const body = { metadata: { name: 'claims' }, spec: { containers: [{ name: 'a', image: 'a', resources: { claims } }] } };
  const answer = await client.send({ method: 'POST', path: `${NAMESPACE}/pods`, body });
  expect(answer.json<{ message: string }>().message).toContain('spec.containers[0].resources.claims[1]: Duplicate value: "example.com"');
});

test('a scale that is applied has the name of its path', async () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'app' }] } };
  await client.create(`${NAMESPACE}/replicationcontrollers`, { metadata: { name: 'scaled' }, spec: { selector: { app: 'web' }, template } });
  const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'other' } };
  const path = `${NAMESPACE}/replicationcontrollers/scaled/scale?fieldManager=m`;
  const answer = await client.expect(400, { method: 'PATCH', path, body, headers: { 'content-type': APPLY } });
  expect(answer.json()).toMatchObject({ message: 'the name of the object (other) does not match the name on the URL (scaled)' });
});

test('text that looks like a number too large for any float stands in YAML without quotes, and is read as text', async () => {
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata: {large: 1e999999999, negative: -1.5e400}\n';
  const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' };
  const answer = await client.expect(201, { method: 'POST', path: `${NAMESPACE}/configmaps`, body: Buffer.from(text), headers });
  expect(answer.body.toString()).toContain('data:\n  large: 1e999999999\n  negative: -1.5e400\n');
});

test('what may not change is shown as JSON has it where its type is its own', async () => {
  await client.create(`${NAMESPACE}/secrets`, { metadata: { name: 'typed' }, type: 'first' });
  const body = { metadata: { name: 'typed' }, type: '\u200b' };
  const answer = await client.expect(422, { method: 'PUT', path: `${NAMESPACE}/secrets/typed`, body });
  expect(answer.json()).toMatchObject({ message: 'Secret "typed" is invalid: type: Invalid value: "\u200b": field is immutable' });
});

test("what is wrong with the type of a claim's template is told with the struct that it is embedded in", async () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'app' }] } };
  const spec = { selector: { matchLabels: { app: 'web' } }, template, volumeClaimTemplates: [{ kind: [] }] };
  const answer = await client.expect(400, {
    method: 'POST',
    path: '/apis/apps/v1/namespaces/compared/statefulsets',
    body: { metadata: { name: 'typed' }, spec },
  });
  expect(answer.json<{ message: string }>().message).toContain(
    'cannot unmarshal array into Go struct field PersistentVolumeClaim.spec.volumeClaimTemplates.TypeMeta.kind of type string',
  );
});
