import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import type { ApiClient } from '../support/api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from '../support/server.ts';
import { RemoteServer, type RemoteReply, kubeconfigOf } from './remote-server.ts';

/* Authorizers outside of RBAC, over real connections: allow, deny, no opinion and error of each, and how the next one takes over. */

const authority = createAuthority({ commonName: 'remote-ca' });
const clientAuthority = createAuthority({ commonName: 'client-ca' });
const folder = temporaryFolder();
const write = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

interface Review {
  kind: string;
  apiVersion: string;
  spec: {
    user: string;
    groups?: string[];
    group?: string[];
    resourceAttributes?: { namespace?: string; name?: string; verb: string };
    nonResourceAttributes?: object;
  };
}

/** What a webhook says of requests in a namespace of that name. */
const VERDICTS: Record<string, RemoteReply | object> = {
  allowed: { allowed: true, reason: 'the webhook likes it' },
  denied: { denied: true, reason: 'the webhook says no' },
  both: { allowed: true, denied: true },
  unsure: { allowed: false, reason: 'no idea' },
};

function verdict(review: Review): RemoteReply {
  const namespace = review.spec.resourceAttributes?.namespace ?? '';
  if (namespace === 'garbage') return { body: 'not json' };
  if (namespace === 'other-kind') return { body: { kind: 'Pod', apiVersion: 'v1', status: { allowed: true } } };
  if (namespace === 'redirected') return { status: 307, headers: { location: 'https://127.0.0.1/' } };
  if (namespace === 'refused') return { status: 403, body: 'who are you', headers: { 'content-type': 'text/plain' } };
  return { body: { kind: review.kind, apiVersion: review.apiVersion, status: VERDICTS[namespace] ?? { allowed: false } } };
}

const webhook = new RemoteServer(authority, ({ body }) => verdict(JSON.parse(body) as Review), clientAuthority);
beforeAll(() => webhook.listen());
afterAll(() => webhook.close());

const webhookKubeconfig = (): string =>
  write(
    'webhook.kubeconfig',
    kubeconfigOf(`${webhook.url}/authorize`, authority, signCertificate(clientAuthority, { commonName: 'apiserver', usages: ['client'] })),
  );

const configMaps = (namespace: string, query = ''): string => `/api/v1/namespaces/${namespace}/configmaps${query}`;
const reviewsOf = (marker: string): Review[] => webhook.requests.filter(({ body }) => body.includes(marker)).map(({ body }) => JSON.parse(body) as Review);

async function outcome(client: ApiClient, path: string): Promise<string> {
  const answer = await client.send({ path });
  return answer.status === 200
    ? '200'
    : `${answer.status} ${answer.text.startsWith('{') ? (answer.json() as unknown as { message: string }).message : answer.text.trimEnd()}`;
}

describe.each(['Deny', 'NoOpinion'])('webhooks of a configuration file that fail with %s', (failurePolicy) => {
  let server: ServerProcess;
  const hook = (more: object): object => ({
    type: 'Webhook',
    webhook: {
      timeout: '5s',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      matchConditions: [
        { expression: "request.user != 'bob'" },
        { expression: "has(request.resourceAttributes) || request.nonResourceAttributes.verb == 'get'" },
      ],
      failurePolicy,
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: webhookKubeconfig() },
    },
    ...more,
  });
  const configurationOf = (...authorizers: object[]): string =>
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers });

  beforeAll(async () => {
    const path = write(
      `authorization-${failurePolicy}.yaml`,
      configurationOf(hook({ name: 'first.example.com' }), { type: 'Node', name: 'node' }, { type: 'RBAC', name: 'rbac' }),
    );
    server = await startServer({ flags: [`--authorization-config=${path}`], hasAuthorizationMode: false });
  });
  afterAll(() => server?.stop());

  const asker = (): ApiClient => server.client('mallory');
  const forbidden = (namespace: string, reason = ''): string =>
    `403 configmaps is forbidden: User "mallory" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"${reason === '' ? '' : `: ${reason}`}`;
  const failed = (namespace: string, error: string): string => `500 Internal Server Error: "${configMaps(namespace)}": ${error}`;

  test('allow', async () => {
    expect(await outcome(asker(), configMaps('allowed'))).toBe('200');
  });
  test('deny, even where RBAC would allow', async () => {
    expect(await outcome(asker(), configMaps('denied'))).toBe(forbidden('denied', 'the webhook says no'));
  });
  test('both at once is a no, and an error', async () => {
    expect(await outcome(asker(), configMaps('both'))).toBe(failed('both', 'webhook subject access review returned both allow and deny response'));
  });
  test('no opinion: the next one decides', async () => {
    expect(await outcome(asker(), configMaps('unsure'))).toBe(forbidden('unsure', 'no idea'));
    const role = {
      kind: 'Role',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'reader' },
      rules: [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }],
    };
    const binding = {
      kind: 'RoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', name: 'mallory' }],
    };
    const admin = server.client();
    await admin.create('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'unsure' } });
    await admin.create('/apis/rbac.authorization.k8s.io/v1/namespaces/unsure/roles', role);
    await admin.create('/apis/rbac.authorization.k8s.io/v1/namespaces/unsure/rolebindings', binding);
    expect(await outcome(asker(), configMaps('unsure'))).toBe('200');
    await admin.delete('/apis/rbac.authorization.k8s.io/v1/namespaces/unsure/rolebindings/readers');
    expect(await outcome(asker(), configMaps('unsure'))).toBe(forbidden('unsure', 'no idea'));
  });
  test.each([
    ['garbage', "invalid character 'o' in literal null (expecting 'u')"],
    ['other-kind', 'no kind "Pod" is registered for version "v1"'],
    ['refused', 'who are you'],
    ['redirected', 'the server answered 307, a redirect to "https://127.0.0.1/": redirects are not followed'],
  ])('an answer that is none: %s', async (namespace, error) => {
    expect(await outcome(asker(), configMaps(namespace))).toBe(failed(namespace, error));
  });

  test('is not asked where a condition does not hold', async () => {
    expect(await outcome(server.client('bob'), configMaps('allowed'))).toMatch(/^403/);
    expect(webhook.requests.filter(({ body }) => body.includes('"bob"'))).toEqual([]);
  });

  test('is told all that is asked for', async () => {
    await outcome(asker(), `${configMaps('telling')}?labelSelector=${encodeURIComponent('a in (b,c),!d,e=f')}&fieldSelector=metadata.name%3Dx`);
    expect(reviewsOf('"telling"')[0]).toMatchObject({
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: {
        user: 'mallory',
        groups: ['system:authenticated'],
        resourceAttributes: {
          namespace: 'telling',
          verb: 'list',
          version: 'v1',
          resource: 'configmaps',
          fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'In', values: ['x'] }] },
          labelSelector: {
            requirements: [
              { key: 'a', operator: 'In', values: ['b', 'c'] },
              { key: 'd', operator: 'DoesNotExist' },
              { key: 'e', operator: 'In', values: ['f'] },
            ],
          },
        },
      },
    });
  });

  test('an answer is remembered, an error is not', async () => {
    const count = (): number => reviewsOf(`"remembered-${failurePolicy}"`).length;
    for (let i = 0; i < 3; i++) await outcome(asker(), configMaps(`remembered-${failurePolicy}`));
    expect(count()).toBe(1);
    const before = reviewsOf('"garbage"').length;
    for (let i = 0; i < 2; i++) await outcome(asker(), configMaps('garbage'));
    expect(reviewsOf('"garbage"').length - before).toBe(2);
  });

  test('a changed file is taken up; one that is wrong is not', async () => {
    const name = `authorization-${failurePolicy}.yaml`;
    write(name, configurationOf({ type: 'RBAC', name: 'rbac' }));
    await server.line(/missing required types: \[Node\]/);
    write(name, configurationOf({ type: 'Node', name: 'node' }, { type: 'RBAC', name: 'rbac' }));
    await server.line(/Reloaded the authorization configuration/);
    expect(await outcome(asker(), configMaps('allowed'))).toBe(forbidden('allowed'));
  });
});

describe('the webhook of flags', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer({
      flags: [
        '--authorization-mode=Webhook',
        `--authorization-webhook-config-file=${webhookKubeconfig()}`,
        '--authorization-webhook-cache-unauthorized-ttl=0s',
      ],
      hasAuthorizationMode: false,
    });
  });
  afterAll(() => server?.stop());

  test('speaks the old version, and tells no rules', async () => {
    expect(await outcome(server.client('mallory'), configMaps('allowed'))).toBe('200');
    expect(await outcome(server.client('mallory'), configMaps('flags'))).toMatch(/^403/);
    expect(reviewsOf('"flags"')[0]).toMatchObject({ apiVersion: 'authorization.k8s.io/v1beta1', spec: { group: ['system:authenticated'] } });
    expect(await outcome(server.client('mallory'), '/metrics')).toMatch(/^403/);
    expect(reviewsOf('"/metrics"')[0]!.spec.nonResourceAttributes).toEqual({ path: '/metrics', verb: 'get' });
    const rules = await server.client('admin').create('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { namespace: 'default' },
    });
    expect(rules.status).toMatchObject({ incomplete: true, evaluationError: 'webhook authorizer does not support user rule resolution' });
  });
});

describe('ABAC', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    const policies = [
      '# who may do what',
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"alice","namespace":"shop","resource":"*","apiGroup":"*"}}',
      '',
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"bob","readonly":true,"namespace":"*","resource":"configmaps","apiGroup":""}}',
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"group":"*","readonly":true,"nonResourcePath":"/version*"}}',
      '{"user":"mallory","namespace":"old","resource":"configmaps"}',
    ];
    server = await startServer({
      flags: ['--authorization-mode=ABAC', `--authorization-policy-file=${write('policy.jsonl', policies.join('\n'))}`],
      hasAuthorizationMode: false,
    });
  });
  afterAll(() => server?.stop());

  test.each<['alice' | 'bob' | 'mallory', string, string, number]>([
    ['alice', 'GET', configMaps('shop'), 200],
    ['alice', 'GET', configMaps('other'), 403],
    ['bob', 'GET', configMaps('shop'), 200],
    ['bob', 'DELETE', `${configMaps('shop')}/x`, 403],
    ['bob', 'GET', '/api/v1/namespaces/shop/secrets', 403],
    ['mallory', 'GET', configMaps('old'), 200],
    ['mallory', 'GET', configMaps('shop'), 403],
    ['mallory', 'GET', '/version', 200],
    ['mallory', 'GET', '/metrics', 403],
  ])('%s %s %s', async (user, method, path, status) => {
    expect((await server.client(user).send({ method, path })).status).toBe(status);
  });

  test('says why not, and which rules there are', async () => {
    expect(await outcome(server.client('alice'), configMaps('other'))).toMatch(/in the namespace "other": No policy matched\.$/);
    expect(server.lines.join('\n')).toContain('contained unversioned rules');
  });
});

describe('nodes', () => {
  let server: ServerProcess;
  const node = (name: string): ApiClient => server.client(name as 'admin');
  beforeAll(async () => {
    const tokens = write(
      'nodes.csv',
      [
        'admin-token,admin,1,system:masters',
        'n1-token,system:node:n1,2,system:nodes',
        'n2-token,system:node:n2,3,system:nodes',
        'odd-token,system:node:n1,4,others',
      ].join('\n'),
    );
    server = await startServer({
      flags: [`--token-auth-file=${tokens}`, '--authorization-mode=Node', '--disable-admission-plugins=ServiceAccount'],
      hasAuthorizationMode: false,
    });
    const admin = server.client();
    for (const name of ['seen', 'unseen']) await admin.create('/api/v1/namespaces/default/secrets', { kind: 'Secret', apiVersion: 'v1', metadata: { name } });
  });
  afterAll(() => server?.stop());
  const pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p' },
    spec: {
      nodeName: 'n1',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'seen', key: 'k' } } }] }],
    },
  };
  const secret = (name: string): string => `/api/v1/namespaces/default/secrets/${name}`;

  test('a node sees what its pods use, as long as they do', async () => {
    const admin = server.client();
    expect(await outcome(node('n1'), secret('seen'))).toBe(
      `403 secrets "seen" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node 'n1' and this object`,
    );
    await admin.create('/api/v1/namespaces/default/pods', pod);
    expect(await outcome(node('n1'), secret('seen'))).toBe('200');
    expect(await outcome(node('n1'), secret('unseen'))).toMatch(/^403/);
    expect(await outcome(node('n2'), secret('seen'))).toMatch(/^403/);
    expect(await outcome(node('odd'), secret('seen'))).toMatch(/^403/);
    expect(await outcome(node('n1'), '/api/v1/namespaces/default/pods/p')).toBe('200');
    expect(await outcome(node('n1'), '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1')).toBe('200');
    expect(await outcome(node('n1'), '/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')).toMatch(/can only list\/watch pods with spec\.nodeName field selector$/);
    expect(await outcome(node('n1'), '/api/v1/nodes/n2')).toMatch(/node 'n1' cannot read 'n2', only its own Node object$/);
    expect(await outcome(node('n1'), '/api/v1/services')).toBe('200');
    await admin.delete('/api/v1/namespaces/default/pods/p');
    expect(await outcome(node('n1'), secret('seen'))).toMatch(/^403/);
  });
});
