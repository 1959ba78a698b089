import { beforeAll, describe, expect, test, vi } from 'vitest';
import { WebhookServer, patched } from '../support/webhook-server.ts';
import { type ConsoleServer, type Identity, startConsole } from './console-server.ts';

interface Step {
  name: string;
  plugin?: string;
  result: string;
  message?: string;
  details?: Record<string, unknown>;
  changes?: { path: string; from?: unknown; to?: unknown }[];
  durationMs: number;
}

interface Explained {
  steps: Step[];
  response: { code: number; body: { message?: string; kind?: string } };
}

let server: ConsoleServer;
let jane: Identity;

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const PODS = '/api/v1/namespaces/default/pods';
const MAPS = '/api/v1/namespaces/default/configmaps';
const pod = (name: string, container: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'web:1', ...container }] },
});

const create = async (path: string, body: object): Promise<void> => {
  const { status, text } = await server.send('POST', path, { as: server.admin, body });
  if (status !== 201) throw new Error(`${status}: ${text}`);
};

async function explain(question: object, as: Identity = server.admin): Promise<Explained> {
  const { status, json, text } = await server.send('POST', '/console/explain', { as, body: question });
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return json as Explained;
}

const stepsOf = ({ steps }: Explained, name: string): Step[] => steps.filter((step) => step.name === name);
const admitted = (explained: Explained, plugin: string): Step[] => stepsOf(explained, 'admission').filter((step) => step.plugin === plugin);

async function grant(name: string, rules: object[]): Promise<void> {
  await create(`${RBAC}/clusterroles`, { metadata: { name }, rules });
  await create(`${RBAC}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  });
}

beforeAll(async () => {
  server = await startConsole();
  jane = server.user('jane', ['devs']);
  await grant('explainer', [{ nonResourceURLs: ['/console/explain'], verbs: ['post'] }]);
  await grant('pod-maker', [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }]);
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await vi.waitFor(async () => expect((await server.send('GET', account, { as: server.admin })).status).toBe(200));
});

describe('authorization', () => {
  test('names the rule of the role that allows', async () => {
    const explained = await explain({ method: 'POST', path: PODS, body: pod('a') }, jane);
    expect(explained.response.code).toBe(201);
    expect(explained.steps[0]).toMatchObject({ name: 'authentication', result: 'allowed', message: 'jane', details: { username: 'jane' } });
    expect(stepsOf(explained, 'authorization')).toMatchObject([
      { plugin: 'system:masters', result: 'passed' },
      {
        plugin: 'RBAC',
        result: 'allowed',
        message: expect.stringContaining('pod-maker'),
        details: {
          mode: 'RBAC',
          role: { kind: 'ClusterRole', name: 'pod-maker', namespace: '' },
          binding: { kind: 'ClusterRoleBinding', name: 'pod-maker', namespace: '' },
          rule: { apiGroups: [''], resources: ['pods'], verbs: ['create'] },
        },
      },
    ]);
  });

  test('names the rule that is missing', async () => {
    const explained = await explain({ method: 'GET', path: '/apis/apps/v1/namespaces/default/deployments/web/scale' }, jane);
    expect([explained.response.code, explained.response.body.kind]).toEqual([403, 'Status']);
    expect(explained.steps.at(-1)).toMatchObject({
      name: 'authorization',
      plugin: 'RBAC',
      result: 'denied',
      details: { missingRule: { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale'] }, namespace: 'default' },
    });
    const path = await explain({ method: 'GET', path: '/metrics' }, jane);
    expect(path.steps.at(-1)!.details).toMatchObject({ missingRule: { verbs: ['get'], nonResourceURLs: ['/metrics'] } });
  });

  test('the administrator is allowed by the group', async () => {
    const explained = await explain({ method: 'GET', path: '/api/v1/namespaces' });
    expect(stepsOf(explained, 'authorization')).toMatchObject([{ plugin: 'system:masters', result: 'allowed' }]);
    expect(explained.response).toMatchObject({ code: 200, body: { kind: 'NamespaceList' } });
  });

  test('of another user is for those who may impersonate', async () => {
    const question = { method: 'POST', path: PODS, body: pod('a'), asUser: 'jane', asGroups: ['devs'] };
    const explained = await explain(question);
    expect(stepsOf(explained, 'authentication')).toMatchObject([
      { message: 'admin', result: 'allowed' },
      { plugin: 'impersonation', result: 'allowed', details: { username: 'jane', groups: ['devs', 'system:authenticated'] } },
    ]);
    expect(stepsOf(explained, 'authorization').at(-1)).toMatchObject({ plugin: 'RBAC', result: 'allowed' });
    const refused = await explain({ ...question, asUser: 'admin', asGroups: ['system:masters'] }, jane);
    expect(refused.response.code).toBe(403);
    expect(refused.steps.at(-1)).toMatchObject({ name: 'authentication', plugin: 'impersonation', result: 'denied' });
    expect(stepsOf(refused, 'authorization')).toEqual([]);
  });

  test('of the endpoint itself is as for any path', async () => {
    const other = await server.send('POST', '/console/explain', { as: server.user('bob'), body: { method: 'GET', path: '/version' } });
    expect([other.status, other.json.message]).toEqual([403, expect.stringContaining('User "bob" cannot post path "/console/explain"')]);
    expect((await server.send('GET', '/console/explain', { as: server.admin })).status).toBe(405);
  });
});

describe('admission', () => {
  test('tells what plug-ins change', async () => {
    const explained = await explain({ method: 'POST', path: PODS, body: pod('a') });
    const [account] = admitted(explained, 'ServiceAccount');
    expect(account).toMatchObject({ result: 'changed' });
    expect(account!.changes!.map(({ path }) => path)).toContain('spec.serviceAccountName');
    expect(admitted(explained, 'Priority')[0]).toMatchObject({ result: 'changed', changes: expect.arrayContaining([{ path: 'spec.priority', to: 0 }]) });
    expect(admitted(explained, 'PodSecurity')[0]).toMatchObject({ result: 'allowed' });
    const names = explained.steps.map(({ name }) => name);
    expect([names.indexOf('decoding') < names.indexOf('admission'), names.indexOf('validation') < names.lastIndexOf('admission'), names.at(-1)]).toEqual([
      true,
      true,
      'storage',
    ]);
  });

  test('a quota that is used up', async () => {
    await create('/api/v1/namespaces', { metadata: { name: 'small' } });
    await expect.poll(async () => (await server.send('GET', '/api/v1/namespaces/small/serviceaccounts/default', { as: server.admin })).status).toBe(200);
    await create('/api/v1/namespaces/small/resourcequotas', { metadata: { name: 'few' }, spec: { hard: { pods: '0' } } });
    await expect
      .poll(async () => (await explain({ method: 'POST', path: '/api/v1/namespaces/small/pods', body: pod('a') })).steps.at(-1)!.message)
      .toContain('exceeded quota: few');
    const explained = await explain({ method: 'POST', path: '/api/v1/namespaces/small/pods', body: pod('a') });
    expect(explained.steps.at(-1)).toMatchObject({ name: 'admission', plugin: 'ResourceQuota', result: 'denied' });
    expect(explained.response.code).toBe(403);
  });

  test('webhooks and policies, one by one', async () => {
    const hook = await new WebhookServer(() => patched({ op: 'add', path: '/metadata/labels', value: { by: 'hook' } })).listen();
    const refusing = await new WebhookServer(() => ({ allowed: false, status: { code: 403, message: 'not on a Friday' } })).listen();
    const registration = '/apis/admissionregistration.k8s.io/v1';
    const webhook = (name: string, { clientConfig }: WebhookServer): object => ({
      name,
      clientConfig,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchConditions: [{ name: 'ours', expression: "object.metadata.name.startsWith('hooked')" }],
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    });
    await create(`${registration}/mutatingwebhookconfigurations`, { metadata: { name: 'labels' }, webhooks: [webhook('labels.example.com', hook)] });
    await create(`${registration}/validatingwebhookconfigurations`, { metadata: { name: 'days' }, webhooks: [webhook('days.example.com', refusing)] });
    const matchConstraints = { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] };
    await create(`${registration}/validatingadmissionpolicies`, {
      metadata: { name: 'short' },
      spec: { matchConstraints, validations: [{ expression: "!object.metadata.name.startsWith('long')", message: 'too long' }] },
    });
    await create(`${registration}/validatingadmissionpolicybindings`, {
      metadata: { name: 'all' },
      spec: { policyName: 'short', validationActions: ['Deny'] },
    });
    const ask = (name: string): Promise<Explained> => explain({ method: 'POST', path: MAPS, body: { metadata: { name } } });
    await expect.poll(async () => (await ask('hooked')).response.code).toBe(403);
    await expect.poll(async () => (await ask('long')).response.code).toBe(422);

    const hooked = await ask('hooked');
    expect(admitted(hooked, 'MutatingAdmissionWebhook')).toMatchObject([
      {
        result: 'changed',
        details: { webhook: 'labels.example.com', configuration: 'labels' },
        changes: [{ path: 'metadata.labels', to: { by: 'hook' } }],
      },
    ]);
    expect(admitted(hooked, 'ValidatingAdmissionPolicy')).toMatchObject([{ result: 'allowed', details: { policy: 'short', binding: 'all' } }]);
    expect(hooked.steps.at(-1)).toMatchObject({
      plugin: 'ValidatingAdmissionWebhook',
      result: 'denied',
      details: { webhook: 'days.example.com' },
      message: expect.stringContaining('not on a Friday'),
    });
    const long = await ask('long');
    expect(admitted(long, 'ValidatingAdmissionPolicy')).toMatchObject([{ result: 'denied', message: 'too long', details: { policy: 'short' } }]);
    expect(hook.requests.every(({ dryRun }) => dryRun)).toBe(true);
    const { json } = await server.send('GET', '/console/activity', { as: server.admin });
    expect(json.webhooks).toContainEqual({
      name: 'days.example.com',
      type: 'validating',
      answered: expect.any(Number),
      refused: expect.any(Number),
      failed: 0,
      p50Ms: expect.any(Number),
    });
    expect(json.policies).toContainEqual({ name: 'short', type: 'validating', evaluated: expect.any(Number), refused: expect.any(Number), failed: 0 });
  });
});

describe('what was sent', () => {
  test.each([
    ['cannot be read', { body: '{' }, 'decoding', 400],
    ['is of another kind', { body: { kind: 'Pod', apiVersion: 'v1' } }, 'decoding', 400],
    ['has a field that is unknown', { query: 'fieldValidation=Strict', body: { metadata: { name: 'a' }, unknown: 1 } }, 'decoding', 400],
    ['is no type that is read', { body: 'x', contentType: 'text/css' }, 'decoding', 415],
    ['is not valid', { body: { metadata: { name: 'Not Valid' } } }, 'validation', 422],
    ['is there already', { body: { metadata: { name: 'kube-root-ca.crt' } } }, 'storage', 409],
  ])('%s', async (_, question, name, code) => {
    await expect.poll(async () => (await server.send('GET', `${MAPS}/kube-root-ca.crt`, { as: server.admin })).status).toBe(200);
    const explained = await explain({ method: 'POST', path: MAPS, ...question });
    expect([explained.response.code, explained.steps.at(-1)]).toMatchObject([code, { name, result: 'failed', message: expect.any(String) }]);
  });

  test('is read as YAML where it is no JSON', async () => {
    const explained = await explain({ method: 'POST', path: MAPS, body: 'metadata:\n  name: a\n' });
    expect(explained.response.code).toBe(201);
  });
});

describe('nothing is stored or done', () => {
  const versionOf = async (): Promise<string> => (await server.send('GET', '/api/v1/namespaces/kept', { as: server.admin })).json?.metadata?.uid;
  const KEPT = '/api/v1/namespaces/kept';

  test('by any verb', async () => {
    await create('/api/v1/namespaces', { metadata: { name: 'kept' } });
    await expect.poll(async () => (await server.send('GET', `${KEPT}/serviceaccounts/default`, { as: server.admin })).status).toBe(200);
    await create(`${KEPT}/configmaps`, { metadata: { name: 'a' }, data: { color: 'blue' } });
    await create(`${KEPT}/pods`, pod('a'));
    const before = await everything();
    const questions: { method: string; path: string; query?: string; body?: unknown }[] = [
      { method: 'POST', path: `${KEPT}/configmaps`, body: { metadata: { name: 'b' } } },
      { method: 'POST', path: `${KEPT}/configmaps`, query: '?dryRun=&dryRun=None', body: { metadata: { name: 'b' } } },
      { method: 'PUT', path: `${KEPT}/configmaps/a`, body: { metadata: { name: 'a' }, data: { color: 'red' } } },
      { method: 'PATCH', path: `${KEPT}/configmaps/a`, body: { data: { color: 'red' } } },
      { method: 'PATCH', path: `${KEPT}/configmaps/a`, body: [{ op: 'replace', path: '/data/color', value: 'red' }] },
      { method: 'DELETE', path: `${KEPT}/configmaps/a` },
      { method: 'DELETE', path: `${KEPT}/configmaps/a`, body: { dryRun: [], propagationPolicy: 'Background' } },
      { method: 'DELETE', path: `${KEPT}/configmaps/a`, body: '{"kind":"DeleteOptions","apiVersion":"v1"}' },
      { method: 'DELETE', path: `${KEPT}/configmaps` },
      { method: 'DELETE', path: KEPT },
      { method: 'POST', path: `${KEPT}/pods/a/eviction`, body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } } },
      { method: 'POST', path: `${KEPT}/pods/a/binding`, body: { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n' } } },
      { method: 'POST', path: `${KEPT}/services`, body: { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } } },
    ];
    for (const question of questions) {
      const { response, steps } = await explain(question);
      expect([question.method, question.path, response.code < 300, steps.at(-1)]).toMatchObject([
        question.method,
        question.path,
        true,
        { name: 'storage', result: 'passed' },
      ]);
    }
    expect(await everything()).toBe(before);
    expect(await versionOf()).toBeDefined();
  });

  const everything = async (): Promise<string> =>
    (
      await Promise.all(
        ['configmaps', 'pods', 'services'].map(async (plural) => (await server.send('GET', `${KEPT}/${plural}`, { as: server.admin })).json.items),
      )
    )
      .flat()
      .map(({ metadata }: { metadata: { uid: string; resourceVersion: string; deletionTimestamp?: string } }) => `${metadata.uid} ${metadata.resourceVersion}`)
      .join('\n');

  test.each([
    ['GET', '/api/v1/namespaces', 'watch=true'],
    ['POST', `${KEPT}/pods/a/exec`, 'command=ls'],
    ['GET', `${KEPT}/pods/a/log`, ''],
    ['GET', `${KEPT}/services/s/proxy/`, ''],
    ['DELETE', '/metrics', ''],
    ['PUT', '/debug/flags/v', ''],
    ['POST', '/console/explain', ''],
    ['GET', '/console/requests', 'watch=true'],
  ])('by %s %s', async (method, path, query) => {
    const { steps, response } = await explain({ method, path, query });
    expect([steps.at(-1), response.code]).toMatchObject([{ name: 'storage', result: 'skipped' }, 0]);
  });
});

test('questions are bounded', async () => {
  const ask = async (body: object): Promise<number> => (await server.send('POST', '/console/explain', { as: server.admin, body })).status;
  expect(await ask({ method: 'GET', path: `/${'x'.repeat(10_000)}` })).toBe(400);
  expect(await ask({ method: 'GET', path: '/version', query: 'x'.repeat(100_000) })).toBe(400);
  expect(await ask({ method: 'GET', path: '/version\r\nx: y' })).toBe(400);
  expect(await ask({ method: 'GET', path: '/version?x=y' })).toBe(400);
  expect(await ask({ method: 'TRACE', path: '/version' })).toBe(400);
  expect(await ask({ method: 'GET', path: '/version', asUser: 'a', asGroups: Array.from({ length: 101 }, () => 'g') })).toBe(400);
  expect(await ask({ method: 'GET', path: '/version', asUser: 'a\r\nb' })).toBe(400);
  expect(await ask({ method: 'POST', path: MAPS, body: 'x'.repeat(2 * 1024 * 1024) })).toBe(413);
});

test('answers are cut', async () => {
  await create(MAPS, { metadata: { name: 'large' }, data: { text: 'x'.repeat(600_000) } });
  const { response } = await explain({ method: 'GET', path: `${MAPS}/large` });
  expect(response).toMatchObject({ code: 200, isTruncated: true });
  expect((response.body as unknown as string).length).toBe(256 * 1024);
});
