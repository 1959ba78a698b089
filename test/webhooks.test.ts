import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../src/serving/certificates/create.ts';
import type { Answer, ApiClient, TestObject } from './support/api-client.ts';
import { startServer, temporaryFolder } from './support/server.ts';
import { ALLOWED, CA_BUNDLE, type Responder, WebhookServer, patched } from './support/webhook-server.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/admissionregistration.k8s.io/v1';

let client: ApiClient;

beforeAll(async () => {
  client = (await startServer({ flags: ['--enable-aggregator-routing=true'] })).client();
});

type Kind = 'Mutating' | 'Validating';

/** Registers one webhook for objects that bear the label `case` with its configuration's name. */
async function register(kind: Kind, name: string, webhook: object, on = client): Promise<void> {
  const defaults = {
    name: `${name}.example.com`,
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { case: name } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
  };
  const path = `${GROUP}/${kind.toLowerCase()}webhookconfigurations`;
  await on.create(path, {
    kind: `${kind}WebhookConfiguration`,
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata: { name },
    webhooks: [{ ...defaults, ...webhook }],
  });
}

async function hook(kind: Kind, name: string, respond: Responder, more: object = {}): Promise<WebhookServer> {
  const server = await new WebhookServer(respond).listen();
  await register(kind, name, { clientConfig: server.clientConfig, ...more });
  return server;
}

const configMap = (label: string, name = label): object => ({ metadata: { name, labels: { case: label } }, data: { key: 'value' } });
const post = (label: string, query = ''): Promise<Answer> => client.send({ method: 'POST', path: CONFIG_MAPS + query, body: configMap(label) });
const told = (answer: Answer): [number, string] => [answer.status, answer.json<{ message: string }>().message];

describe('a validating webhook', () => {
  test('that allows is asked from the next request on, over one connection, about every operation', async () => {
    const server = await hook('Validating', 'allow', () => ({ ...ALLOWED, warnings: ['careful'] }));
    const created = await post('allow');
    expect([created.status, created.headers['warning']]).toEqual([201, '299 - "careful"']);
    const path = `${CONFIG_MAPS}/allow`;
    await client.expect(200, { method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, body: '{"data":{"key":"other"}}' });
    const stored = await client.get(path);
    await client.delete(path);
    const seen = server.requests.map(({ operation, options, name, namespace, userInfo, dryRun }) => [
      operation,
      options?.kind,
      name,
      namespace,
      userInfo.username,
      dryRun,
    ]);
    expect(seen).toEqual([
      ['CREATE', 'CreateOptions', 'allow', 'default', 'admin', false],
      ['UPDATE', 'UpdateOptions', 'allow', 'default', 'admin', false],
      ['DELETE', 'DeleteOptions', 'allow', 'default', 'admin', false],
    ]);
    const [create, update, remove] = server.requests;
    expect([create!.oldObject, remove!.object]).toEqual([null, null]);
    expect([create!.object!['kind'], update!.object!['data'], update!.oldObject!['data']]).toEqual(['ConfigMap', { key: 'other' }, { key: 'value' }]);
    expect(remove!.oldObject).toEqual(stored);
    expect(server.clientPorts.size).toBe(1);
  });

  test.each<[string, object, number, string]>([
    ['bare', { allowed: false }, 400, 'admission webhook "bare.example.com" denied the request without explanation'],
    ['code', { allowed: false, status: { code: 418, message: 'no tea' } }, 418, 'admission webhook "code.example.com" denied the request: no tea'],
    ['reason', { allowed: false, status: { code: 200, reason: 'Forbidden' } }, 400, 'admission webhook "reason.example.com" denied the request: Forbidden'],
    ['uid', { ...ALLOWED, uid: 'x' }, 500, 'expected response.uid='],
    ['patch', patched({ op: 'add', path: '/x', value: 1 }), 500, 'received invalid webhook response: validating webhook may not return response.patch'],
    ['type', { allowed: 'yes' }, 500, 'json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool'],
  ])('%s: that answers so is told of', async (name, answer, status, message) => {
    await hook('Validating', name, () => answer);
    const [code, text] = told(await post(name));
    expect(code).toBe(status);
    expect(text).toContain(message);
  });

  test.each<[string, Responder, string]>([
    ['garbage', () => '<html>', "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value"],
    ['empty', () => '', 'failed to call webhook: 0-length response with status code: 200 and content type: application/json'],
    ['foreign', () => '{"kind":"Pod","apiVersion":"v1"}', 'no kind "Pod" is registered for version "v1" in scheme'],
    [
      'other-version',
      () => '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"allowed":true}}',
      'converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    ['unnamed', () => '{"response":{"allowed":true}}', 'received invalid webhook response: expected response.uid='],
    ['absent', () => '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', 'received invalid webhook response: webhook response was absent'],
    ['redirect', () => (response: ServerResponse) => response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end(), 'redirects are not followed'],
    [
      'broken',
      () => (response: ServerResponse) => response.writeHead(500).end('boom'),
      'an error on the server ("boom") has prevented the request from succeeding',
    ],
    ['cut', () => (response: ServerResponse) => response.destroy(), 'review?timeout=1s": EOF'],
    ['huge', () => ({ ...ALLOWED, status: { message: 'x'.repeat(9 << 20) } }), 'failed to call webhook: Post "https://127.0.0.1:'],
    [
      'status',
      () => (response: ServerResponse) => response.writeHead(409).end('{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not now","code":409}'),
      'failed to call webhook: not now',
    ],
    ['slow', () => () => {}, 'review?timeout=1s": context deadline exceeded'],
  ])('%s: that fails so is an error, or ignored by policy', async (name, respond, message) => {
    const server = await hook('Validating', name, respond, { timeoutSeconds: 1 });
    const [code, text] = told(await post(name));
    expect([code, text]).toEqual([500, expect.stringContaining(`Internal error occurred: failed calling webhook "${name}.example.com": `)]);
    expect(text).toContain(message);
    await register('Validating', `${name}-ignored`, { clientConfig: server.clientConfig, timeoutSeconds: 1, failurePolicy: 'Ignore' });
    expect((await post(`${name}-ignored`)).status).toBe(201);
  });

  test('that says a lot, as much as an object may be, is listened to; what it says of success is not passed on', async () => {
    await hook('Validating', 'large', () => ({ ...ALLOWED, status: { message: 'x'.repeat(3 << 20) } }));
    expect((await post('large')).status).toBe(201);
  });

  test('that is slow holds up nobody else', async () => {
    let arrived!: () => void;
    const hasArrived = new Promise<void>((resolve) => (arrived = resolve));
    await hook('Validating', 'held', () => () => arrived(), { timeoutSeconds: 3 });
    let isOver = false;
    const held = post('held').finally(() => (isOver = true));
    await hasArrived;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => client.send({ method: 'POST', path: CONFIG_MAPS, body: configMap('free', `free-${index}`) })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(isOver).toBe(false);
    expect(told(await held)).toEqual([500, expect.stringContaining('context deadline exceeded')]);
  });

  test('that is dead, or has a certificate of someone else, cannot be called', async () => {
    await register('Validating', 'dead', { clientConfig: { url: 'https://127.0.0.1:1/', caBundle: CA_BUNDLE } });
    expect(told(await post('dead'))).toEqual([
      500,
      'Internal error occurred: failed calling webhook "dead.example.com": failed to call webhook: Post "https://127.0.0.1:1/?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused',
    ]);
    const stranger = createAuthority({ commonName: 'stranger' });
    const server = await hook('Validating', 'stranger', () => ALLOWED, {});
    const caBundle = Buffer.from(stranger.certPem).toString('base64');
    await register('Validating', 'distrusted', { clientConfig: { url: server.url, caBundle } });
    const elsewhere = { url: server.url.replace('127.0.0.1', 'localhost'), caBundle: CA_BUNDLE };
    await register('Validating', 'misnamed', { clientConfig: elsewhere });
    expect(told(await post('misnamed'))).toEqual([500, expect.stringContaining('x509: certificate is valid for hook.web.svc, not localhost')]);
    expect(told(await post('distrusted'))).toEqual([
      500,
      expect.stringContaining('tls: failed to verify certificate: x509: certificate signed by unknown authority'),
    ]);
    expect(server.requests).toEqual([]);
  });

  test('is not asked on a dry run unless it has no side effects', async () => {
    const server = await hook('Validating', 'effects', () => ALLOWED, { sideEffects: 'NoneOnDryRun' });
    expect((await post('effects', '?dryRun=All')).status).toBe(201);
    expect(server.requests[0]!.dryRun).toBe(true);
  });

  test('is asked in the version of review that it knows', async () => {
    const server = await hook('Validating', 'beta', () => ({ allowed: true, uid: 'any' }), { admissionReviewVersions: ['v7', 'v1beta1'] });
    expect((await post('beta')).status).toBe(201);
    expect(server.bodies[0]!.apiVersion).toBe('admission.k8s.io/v1beta1');
  });

  test('is asked where its conditions hold', async () => {
    const expression = "object != null && 'wanted' in object.data && request.operation == 'CREATE' && authorizer.requestResource.check('create').allowed()";
    const server = await hook('Validating', 'condition', () => ({ allowed: false }), { matchConditions: [{ name: 'wanted', expression }] });
    expect((await post('condition')).status).toBe(201);
    expect(server.requests).toEqual([]);
    const body = { metadata: { name: 'wanted', labels: { case: 'condition' } }, data: { wanted: '' } };
    expect((await client.send({ method: 'POST', path: CONFIG_MAPS, body })).status).toBe(400);
    await register('Validating', 'unsure', { clientConfig: server.clientConfig, matchConditions: [{ name: 'x', expression: 'object.spec.none == 1' }] });
    expect(told(await post('unsure'))).toEqual([
      403,
      `configmaps "unsure" is forbidden: expression 'object.spec.none == 1' resulted in error: no such key: spec`,
    ]);
  });

  test('sees objects of the namespaces that it selects, and their connections and other kinds', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
    const namespaceSelector = { matchLabels: { watched: 'yes' } };
    const server = await hook('Validating', 'namespaces', () => ALLOWED, { rules, objectSelector: {}, namespaceSelector });
    await client.create('/api/v1/namespaces', { metadata: { name: 'watched', labels: { watched: 'yes' } } });
    await client.create('/apis/apps/v1/namespaces/watched/deployments', deployment('d'));
    const scale = '/apis/apps/v1/namespaces/watched/deployments/d/scale';
    await client.update(scale, { ...(await client.get(scale)), spec: { replicas: 3 } });
    await client.create('/apis/apps/v1/namespaces/default/deployments', deployment('unseen'));
    const seen = server.requests.filter(({ userInfo }) => userInfo.username === 'admin');
    expect(seen.map(({ operation, kind, resource, subResource, namespace }) => [operation, kind.kind, resource.resource, subResource, namespace])).toEqual([
      ['CREATE', 'Namespace', 'namespaces', undefined, 'watched'],
      ['CREATE', 'Deployment', 'deployments', undefined, 'watched'],
      ['UPDATE', 'Scale', 'deployments', 'scale', 'watched'],
    ]);
    expect([seen[2]!.object!['spec'], seen[2]!.oldObject!['spec']]).toEqual([{ replicas: 3 }, { replicas: 1 }]);
    await client.delete(`${GROUP}/validatingwebhookconfigurations/namespaces`);
  });

  test('is not asked about the configurations of admission', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }];
    await hook('Validating', 'everything', () => ({ allowed: false }), { rules, objectSelector: {} });
    expect((await post('other')).status).toBe(400);
    await client.delete(`${GROUP}/validatingwebhookconfigurations/everything`);
    expect((await post('other')).status).toBe(201);
  });
});

test('what was stored before a restart is in force from the first request on', async () => {
  const dataDir = temporaryFolder();
  const former = await startServer({ storage: 'embedded', dataDir });
  const webhook = {
    name: 'stored.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { case: 'stored' } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await former.client().create(`${GROUP}/validatingwebhookconfigurations`, { metadata: { name: 'stored' }, webhooks: [webhook] });
  await former.stop();
  const next = await startServer({ storage: 'embedded', dataDir });
  const answer = await next.client().send({ method: 'POST', path: CONFIG_MAPS, body: configMap('stored') });
  expect(told(answer)).toEqual([500, expect.stringContaining('failed calling webhook "stored.example.com"')]);
  await next.stop();
});

describe('a webhook that is a service', () => {
  test('is looked for at its endpoints, where routing is asked for', async () => {
    await client.create('/api/v1/namespaces', { metadata: { name: 'web' } });
    const service = { namespace: 'web', name: 'hook', path: '/review', port: 8443 };
    await register('Validating', 'service', { clientConfig: { service, caBundle: CA_BUNDLE } });
    expect(told(await post('service'))).toEqual([500, expect.stringContaining('service "hook" not found')]);
    await client.create('/api/v1/namespaces/web/services', { metadata: { name: 'hook' }, spec: { ports: [{ port: 8443, name: 'https' }] } });
    expect(told(await post('service'))).toEqual([500, expect.stringContaining('no endpoints available for service "hook"')]);
    const endpointSlices = '/apis/discovery.k8s.io/v1/namespaces/web/endpointslices';
    await client.create(endpointSlices, {
      metadata: { name: 'hook', labels: { 'kubernetes.io/service-name': 'hook' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: false } }],
      ports: [{ name: 'https', port: 8443 }],
    });
    expect(told(await post('service'))).toEqual([500, expect.stringContaining('no endpoints available for service "hook"')]);
  });

  test('is called at the name that it stands for, under its own', async () => {
    // Endpoints and cluster IPs may not be at loopback addresses; a name from elsewhere may, where endpoints are not asked for.
    const server = await new WebhookServer(() => ({ allowed: false })).listen();
    const byCluster = (await startServer()).client();
    await byCluster.create('/api/v1/namespaces', { metadata: { name: 'web' } });
    await byCluster.create('/api/v1/namespaces/web/services', { metadata: { name: 'hook' }, spec: { type: 'ExternalName', externalName: 'localhost' } });
    const clientConfig = { service: { namespace: 'web', name: 'hook', path: '/review', port: server.port }, caBundle: CA_BUNDLE };
    await register('Validating', 'external', { clientConfig }, byCluster);
    const answer = await byCluster.send({ method: 'POST', path: CONFIG_MAPS, body: configMap('external') });
    expect(told(answer)).toEqual([400, 'admission webhook "external.example.com" denied the request without explanation']);
    expect(server.hosts).toEqual(new Set([`hook.web.svc:${server.port}`]));
  });
});

describe('a mutating webhook', () => {
  test('changes what is stored; the next one sees it, in the order of names', async () => {
    const add =
      (key: string): Responder =>
      () =>
        patched({ op: 'add', path: `/data/${key}`, value: 'added' });
    const selector = { objectSelector: { matchLabels: { case: 'chain' } } };
    const second = await hook('Mutating', 'chain-b', add('b'), selector);
    const first = await hook('Mutating', 'chain-a', add('a'), { ...selector, reinvocationPolicy: 'IfNeeded' });
    const last = await hook('Validating', 'chain-c', () => ALLOWED, selector);
    const data = { key: 'value', a: 'added', b: 'added' };
    expect((await client.create(CONFIG_MAPS, configMap('chain'))).data).toEqual(data);
    expect((await client.get(`${CONFIG_MAPS}/chain`)).data).toEqual(data);
    expect(second.requests.map(({ object }) => object!['data'])).toEqual([{ key: 'value', a: 'added' }]);
    // Asked once more, since another changed the object after it.
    expect(first.requests.map(({ object }) => object!['data'])).toEqual([{ key: 'value' }, data]);
    expect(last.requests.map(({ object }) => object!['data'])).toEqual([data]);
  });

  test('that patches counts as one that changed the object where this write is the first of an owner, whatever the patch does', async () => {
    // The owner's time has fractions of a second, until the object is first read back from JSON.
    const selector = { objectSelector: { matchLabels: { case: 'fractions' } } };
    const first = await hook('Mutating', 'fractions-a', () => ALLOWED, { ...selector, reinvocationPolicy: 'IfNeeded' });
    const second = await hook('Mutating', 'fractions-b', () => patched({ op: 'add', path: '/notAField', value: 1 }), selector);
    await client.create(CONFIG_MAPS, configMap('fractions'));
    expect([first.requests.length, second.requests.length]).toEqual([2, 1]);
  });

  test.each<[string, object, number, string]>([
    ['untyped', { allowed: true, patch: 'W10=' }, 500, 'webhook returned response.patch but not response.patchType'],
    ['unknown', { ...patched({ op: 'add', path: '/data/x', value: '' }), patchType: 'Other' }, 500, 'unsupported patch type "Other"'],
    [
      'undecodable',
      { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{').toString('base64') },
      500,
      'received undecodable patch in webhook response',
    ],
    [
      'unfitting',
      patched({ op: 'remove', path: '/none/x' }),
      500,
      'Internal error occurred: remove operation does not apply: doc is missing path: "/none/x": missing value',
    ],
    ['tested', patched({ op: 'test', path: '/data/key', value: 'x' }), 500, 'Internal error occurred: testing value /data/key failed: test failed'],
    ['base64', { allowed: true, patchType: 'JSONPatch', patch: '###' }, 500, 'failed to call webhook: illegal base64 data at input byte 0'],
    ['kind', patched({ op: 'replace', path: '/kind', value: 'Frob' }), 500, 'no kind "Frob" is registered for version "v1" in scheme'],
    ['root', patched({ op: 'replace', path: '', value: [] }), 500, "couldn't get version/kind; json parse error: json: cannot unmarshal array"],
    ['wrong-type', patched({ op: 'add', path: '/data', value: 7 }), 500, 'Internal error occurred: '],
    ['namespace', patched({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }), 400, 'the namespace of the provided object does not match'],
    ['invalid', patched({ op: 'replace', path: '/metadata/name', value: 'Not Valid' }), 422, 'is invalid: metadata.name'],
  ])('%s: may not do that', async (name, answer, status, message) => {
    await hook('Mutating', `mutating-${name}`, () => answer);
    const [code, text] = told(await post(`mutating-${name}`));
    expect(code).toBe(status);
    expect(text).toContain(message);
  });

  test.each(['', '&dryRun=All'])('gives what an apply creates a name that is taken: it is stored where it was sent%s', async (query) => {
    const name = `renamed${query === '' ? '' : '-dry'}`;
    await client.create(CONFIG_MAPS, configMap('taken', `taken-${name}`));
    await hook('Mutating', name, () => patched({ op: 'replace', path: '/metadata/name', value: `taken-${name}` }));
    const body = { apiVersion: 'v1', kind: 'ConfigMap', ...configMap(name) };
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const answer = await client.send({ method: 'PATCH', path: `${CONFIG_MAPS}/${name}?fieldManager=m${query}`, body, headers });
    expect(answer.status).toBe(201);
    expect(answer.json().metadata.name).toBe(`taken-${name}`);
    const stored = await client.send({ path: `${CONFIG_MAPS}/${name}` });
    expect(stored.status === 200 ? stored.json().metadata.uid : 'nothing').toBe(query === '' ? answer.json().metadata.uid : 'nothing');
  });

  test('has nothing to change on a deletion', async () => {
    const server = await hook('Mutating', 'deleting', () => ALLOWED);
    expect((await post('deleting')).status).toBe(201);
    server.respond = () => patched({ op: 'add', path: '/x', value: 1 });
    expect(told(await client.send({ method: 'DELETE', path: `${CONFIG_MAPS}/deleting` }))).toEqual([
      500,
      'Internal error occurred: admission webhook "deleting.example.com" attempted to modify the object, which is not supported for this operation',
    ]);
  });

  test('sees and changes the object in the version that its rules name', async () => {
    const rules = [{ operations: ['CREATE'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] }];
    const respond: Responder = () => patched({ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 33 });
    const server = await hook('Mutating', 'versions', respond, { rules, matchPolicy: 'Equivalent' });
    const spec = {
      scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      maxReplicas: 3,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    };
    const body = { metadata: { name: 'h', labels: { case: 'versions' } }, spec };
    const created: TestObject = await client.create('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', body);
    const [{ kind, requestKind, object }] = server.requests as [WebhookServer['requests'][0]];
    expect([kind.version, requestKind.version, object!['apiVersion'], created.apiVersion]).toEqual(['v1', 'v2', 'autoscaling/v1', 'autoscaling/v2']);
    expect(created.spec!['metrics']).toEqual([{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 33 } } }]);
  });

  test('may say how large a scale is to be', async () => {
    const rules = [{ operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] }];
    await hook('Mutating', 'scaling', () => patched({ op: 'replace', path: '/spec/replicas', value: 2 }), { rules, objectSelector: {} });
    const path = '/apis/apps/v1/namespaces/default/deployments';
    await client.create(path, deployment('scaled'));
    const scale = await client.get(`${path}/scaled/scale`);
    expect((await client.update(`${path}/scaled/scale`, { ...scale, spec: { replicas: 9 } })).spec).toEqual({ replicas: 2 });
    expect((await client.get(`${path}/scaled`)).spec!['replicas']).toBe(2);
  });

  test('sees who owns a scale while it may change it, and no more when it validates', async () => {
    const rules = [{ operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] }];
    const mutating = await hook('Mutating', 'owners-seen', () => ALLOWED, { rules, objectSelector: {} });
    const validating = await hook('Validating', 'owners-unseen', () => ALLOWED, { rules, objectSelector: {} });
    const path = '/apis/apps/v1/namespaces/default/deployments';
    await client.create(path, { ...deployment('owned'), spec: { ...(deployment('owned') as { spec: object }).spec, replicas: 2 } });
    const scale = await client.get(`${path}/owned/scale`);
    await client.update(`${path}/owned/scale`, { ...scale, spec: { replicas: 4 } });
    const owners = ({ object }: { object?: object }): unknown => (object as { metadata: { managedFields?: { fieldsV1: object }[] } }).metadata.managedFields;
    expect(owners(mutating.requests.at(-1) as { object?: object })).toMatchObject([
      { apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ]);
    expect(owners(validating.requests.at(-1) as { object?: object })).toBeUndefined();
    await client.delete(`${GROUP}/mutatingwebhookconfigurations/owners-seen`);
    await client.delete(`${GROUP}/validatingwebhookconfigurations/owners-unseen`);
  });

  test('is asked about connections', async () => {
    const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['services/proxy'] }];
    const server = await hook('Mutating', 'connecting', () => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message: 'stay out' } }), {
      rules,
      objectSelector: {},
    });
    const answer = await client.send({ path: '/api/v1/namespaces/default/services/kubernetes/proxy/x' });
    expect(told(answer)).toEqual([403, 'admission webhook "connecting.example.com" denied the request: stay out']);
    const [{ operation, kind, object, oldObject, options, name, subResource }] = server.requests as [WebhookServer['requests'][0]];
    expect([operation, kind.kind, subResource, name, oldObject, options]).toEqual(['CONNECT', 'ServiceProxyOptions', 'proxy', 'kubernetes', null, null]);
    expect(object).toMatchObject({ kind: 'ServiceProxyOptions', apiVersion: 'v1', path: '/x' });
  });

  test('with side effects cannot be registered', async () => {
    const path = `${GROUP}/mutatingwebhookconfigurations`;
    const webhook = { name: 'x.example.com', sideEffects: 'Some', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://x/' } };
    const refused = await client.send({ method: 'POST', path, body: { metadata: { name: 'x' }, webhooks: [webhook] } });
    expect(refused.status).toBe(422);
  });
});

const deployment = (name: string): object => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
});
