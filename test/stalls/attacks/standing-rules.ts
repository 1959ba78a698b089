import type { ApiClient } from '../../support/api-client.ts';
import { type Attack, type AttackClients, NAMESPACE, inNamespace, names, post, repeated } from '../attack.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const FLOWS = '/apis/flowcontrol.apiserver.k8s.io/v1';

/** Creates each, and removes them when the attack is over. */
async function standing(
  { onEnd }: AttackClients,
  client: ApiClient,
  objects: readonly (readonly [path: string, object: object & { metadata: { name: string } }])[],
) {
  for (const [path, object] of objects) {
    await client.create(path, object);
    onEnd(() => client.send({ method: 'DELETE', path: `${path}/${object.metadata.name}` }));
  }
}

const roleRef = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });

/** Rules that alice holds, each of which must be looked at before she is refused, in so many roles. */
const manyRules = (title: string, roles: number, count: number, rule: (role: number, index: number) => object): Attack => ({
  name: `a request that ${roles} roles of ${count} rules do not allow: ${title}`,
  row: 1,
  async prepare(clients) {
    const { admin } = clients;
    await standing(
      clients,
      admin,
      repeated(roles, (role) => [
        [inNamespace(RBAC, 'roles'), { metadata: { name: `many-${role}` }, rules: repeated(count, (index) => rule(role, index)) }] as const,
        [
          inNamespace(RBAC, 'rolebindings'),
          { metadata: { name: `many-${role}` }, roleRef: roleRef('Role', `many-${role}`), subjects: [{ kind: 'User', name: 'alice' }] },
        ] as const,
      ]).flat(),
    );
  },
  send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: inNamespace('things.example.com/v1', 'things', 'x') }),
});

const oneWebhook = (name: string, more: object) => ({
  name,
  clientConfig: { url: 'https://a.example.com/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Ignore',
  ...more,
});

const createsConfigMap: Attack['send'] = ({ namespaceAdmin }) =>
  post(namespaceAdmin, `${inNamespace('v1', 'configmaps')}?dryRun=All`, { metadata: { name: 'met', labels: { a: 'b' } } });

const webhooks = (title: string, configurations: number, hooks: readonly object[]): Attack => ({
  name: `a write that ${title} do not match`,
  row: 18,
  prepare: (clients) =>
    standing(
      clients,
      clients.admin,
      repeated(
        configurations,
        (index) => [`${ADMISSION}/validatingwebhookconfigurations`, { metadata: { name: `standing-${index}` }, webhooks: hooks }] as const,
      ),
    ),
  send: createsConfigMap,
});

const rule = (resources: readonly string[]) => ({ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources });

/** What is written once and then looked at by requests of others. */
export const standingRuleAttacks: readonly Attack[] = [
  manyRules('names of their own', 10, 9_000, (role, index) => ({
    apiGroups: ['things.example.com'],
    resources: ['things'],
    verbs: ['get'],
    resourceNames: [`n${role}-${index}`],
  })),
  manyRules('verbs of their own', 10, 9_000, (role, index) => ({
    apiGroups: ['things.example.com'],
    resources: ['things'],
    verbs: [`v${role}-${index}`],
  })),
  webhooks(
    '20 configurations of 400 webhooks',
    20,
    repeated(400, (index) => oneWebhook(`w${index}.example.com`, { rules: [rule([`r${index}`])] })),
  ),
  webhooks('a configuration of one webhook with 9,000 rules', 1, [oneWebhook('w.example.com', { rules: repeated(9_000, (index) => rule([`r${index}`])) })]),
  webhooks('a configuration of one webhook with 50,000 resources', 1, [oneWebhook('w.example.com', { rules: [rule(names('r', 50_000))] })]),
  webhooks(
    'a configuration of 1,000 webhooks whose selectors',
    1,
    repeated(1_000, (index) =>
      oneWebhook(`w${index}.example.com`, {
        rules: [rule(['configmaps'])],
        objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: names('v', 30) }] },
      }),
    ),
  ),
  {
    name: 'a request that 20 flow schemas of 2,000 rules do not match',
    row: 18,
    prepare: (clients) =>
      standing(
        clients,
        clients.admin,
        repeated(20, (index) => [
          `${FLOWS}/flowschemas`,
          {
            metadata: { name: `standing-${index}` },
            spec: {
              priorityLevelConfiguration: { name: 'workload-low' },
              matchingPrecedence: 500,
              rules: repeated(2_000, (at) => ({
                subjects: [{ kind: 'Group', group: { name: 'system:authenticated' } }],
                resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: [`r${at}`], clusterScope: true, namespaces: ['*'] }],
              })),
            },
          },
        ]),
      ),
    send: ({ namespaceAdmin }) => namespaceAdmin.send({ path: inNamespace('v1', 'configmaps', 'none') }),
  },
  {
    name: 'a pod of 900 containers in a namespace of 200 limit ranges',
    row: 17,
    prepare: (clients) =>
      standing(
        clients,
        clients.admin,
        repeated(200, (index) => [
          inNamespace('v1', 'limitranges'),
          {
            metadata: { name: `standing-${index}` },
            spec: {
              limits: [
                {
                  type: 'Container',
                  max: Object.fromEntries(names('example.com/r', 100).map((name) => [name, '10'])),
                  min: Object.fromEntries(names('example.com/r', 100).map((name) => [name, '1'])),
                },
              ],
            },
          },
        ]),
      ),
    send: ({ namespaceAdmin }) =>
      post(namespaceAdmin, `${inNamespace('v1', 'pods')}?dryRun=All`, {
        metadata: { name: 'ranged' },
        spec: { containers: repeated(900, (index) => ({ name: `c${index}`, image: 'i' })) },
      }),
  },
  {
    name: 'a ConfigMap in a namespace of 500 quotas',
    row: 17,
    prepare: (clients) =>
      standing(
        clients,
        clients.admin,
        repeated(500, (index) => [
          inNamespace('v1', 'resourcequotas'),
          {
            metadata: { name: `standing-${index}` },
            spec: { hard: { 'count/configmaps': '100000', ...Object.fromEntries(names('requests.example.com/r', 50).map((name) => [name, '1'])) } },
          },
        ]),
      ),
    send: async ({ namespaceAdmin }) => {
      await namespaceAdmin.send({ method: 'POST', path: inNamespace('v1', 'configmaps'), body: { metadata: { name: 'counted' } } });
      return namespaceAdmin.send({ method: 'DELETE', path: inNamespace('v1', 'configmaps', 'counted') });
    },
  },
  {
    name: 'a user of 30,000 groups that somebody goes on as',
    row: 1,
    send: ({ admin }) =>
      admin.send({
        path: `/api/v1/namespaces/${NAMESPACE}/configmaps/none`,
        headers: { 'impersonate-user': 'x', 'impersonate-group': names('g', 30_000) as unknown as string },
      }),
  },
  {
    name: 'a user of 3,000 extra values that somebody goes on as',
    row: 1,
    send: ({ admin }) =>
      admin.send({
        path: `/api/v1/namespaces/${NAMESPACE}/configmaps/none`,
        headers: { 'impersonate-user': 'x', ...Object.fromEntries(names('impersonate-extra-a', 3_000).map((name) => [name, 'v'])) },
      }),
  },
  {
    name: 'a local access review of 40,000 groups',
    row: 1,
    send: ({ namespaceAdmin }) =>
      post(namespaceAdmin, inNamespace('authorization.k8s.io/v1', 'localsubjectaccessreviews'), {
        spec: { user: 'u', groups: names('g', 40_000), resourceAttributes: { namespace: NAMESPACE, verb: 'get', resource: 'pods' } },
      }),
  },
  {
    name: 'an access review by a selector of 2.9 MB',
    row: 2,
    send: ({ namespaceAdmin }) =>
      post(namespaceAdmin, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: { resourceAttributes: { verb: 'list', resource: 'pods', labelSelector: { rawSelector: `a in (${names('v', 400_000).join(',')})` } } },
      }),
  },
];
