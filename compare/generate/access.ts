import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { SCENARIO } from '../placeholders.ts';
import type { Request, User } from '../step.ts';
import type { Draft } from './draft.ts';

/* Who may do what: grants in the scenario's namespace, users who use them, impersonation and reviews. */

const ROLES = `/apis/rbac.authorization.k8s.io/v1/namespaces/${SCENARIO}`;
const CONFIG_MAPS = `/api/v1/namespaces/${SCENARIO}/configmaps`;
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate', 'bind', 'escalate', '*'];
const RESOURCES = ['configmaps', 'secrets', 'pods', 'pods/log', 'pods/status', 'roles', 'serviceaccounts', 'serviceaccounts/token', '*', '*/status'];

const some = <T>(random: Random, values: readonly T[]): T[] => values.filter(() => random.chance(0.3));

export function addAccess(draft: Draft): void {
  const { random } = draft;
  const rules = Array.from({ length: 1 + random.below(2) }, (): Json => ({
    verbs: [...some(random, VERBS), 'get'],
    apiGroups: random.pick([[''], ['*'], ['', 'apps'], ['rbac.authorization.k8s.io']]),
    resources: [...some(random, RESOURCES), 'configmaps'],
    ...(random.chance(0.2) && { resourceNames: [SCENARIO, 'other'] }),
  }));
  // The reading of services is what shows that the grant has arrived.
  const role = { metadata: { name: SCENARIO }, rules: [...rules, { verbs: ['get'], apiGroups: [''], resources: ['services'] }] };
  const subjects = random.pick<Json[]>([
    [{ kind: 'User', name: 'alice' }],
    [{ kind: 'Group', name: 'ops' }],
    [
      { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: 'default', namespace: SCENARIO },
    ],
  ]);
  draft.post(`${ROLES}/roles`, role);
  draft.add(
    {
      method: 'POST',
      path: `${ROLES}/rolebindings`,
      body: { metadata: { name: SCENARIO }, subjects, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: SCENARIO } },
    },
    { wait: { request: { method: 'GET', path: `/api/v1/namespaces/${SCENARIO}/services/x`, user: 'alice' }, status: 403, not: true } },
  );
  draft.post(CONFIG_MAPS, { metadata: { name: SCENARIO }, data: { a: 'b' } });
  for (let count = 4 + random.below(12); count > 0; count--)
    draft.choose([
      [5, () => addUse(draft)],
      [2, () => addReview(draft)],
      [2, () => addImpersonation(draft)],
      [1, () => addEscalation(draft)],
    ]);
}

function useOf(random: Random): Request {
  const path = random.pick([
    CONFIG_MAPS,
    `/api/v1/namespaces/${SCENARIO}/secrets`,
    `/api/v1/namespaces/${SCENARIO}/pods`,
    `${ROLES}/roles`,
    '/api/v1/nodes',
    '/api/v1/namespaces',
  ]);
  return random.pick<Request>([
    { method: 'GET', path: `${path}/${SCENARIO}` },
    { method: 'GET', path: path.includes(SCENARIO) ? path : `${path}/nothing` },
    { method: 'DELETE', path: `${path}/nothing` },
    { method: 'POST', path: path.includes(SCENARIO) ? `${path}?dryRun=All` : `${path}/nothing/status`, body: { metadata: { name: `${SCENARIO}-new` } } },
    { method: 'PUT', path: `${CONFIG_MAPS}/${SCENARIO}`, body: { metadata: { name: SCENARIO }, data: { a: 'c' } } },
    { method: 'PATCH', path: `${CONFIG_MAPS}/${SCENARIO}`, body: { data: { b: 'd' } }, headers: { 'content-type': 'application/merge-patch+json' } },
    {
      method: 'PATCH',
      path: `${CONFIG_MAPS}/${SCENARIO}-applied?fieldManager=x`,
      body: { apiVersion: 'v1', kind: 'ConfigMap', data: { b: 'd' } },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    },
    { method: 'GET', path: `/api/v1/namespaces/${SCENARIO}/pods/x/log` },
    { method: 'POST', path: `/api/v1/namespaces/${SCENARIO}/serviceaccounts/default/token`, body: { spec: {} } },
    { method: 'GET', path: random.pick(['/healthz', '/version', '/metrics', '/api', '/apis/apps/v1', '/logs', '/nothing', '/openapi/v2/x']) },
  ]);
}

const addUse = (draft: Draft): void => draft.add({ ...useOf(draft.random), user: draft.random.pick<User>(['alice', 'alice', 'bob', 'mallory', '']) });

function addImpersonation(draft: Draft): void {
  const { random } = draft;
  const headers = random.pick<Record<string, string>>([
    { 'impersonate-user': 'alice' },
    { 'impersonate-user': 'alice', 'impersonate-group': 'devs' },
    { 'impersonate-user': `system:serviceaccount:${SCENARIO}:default` },
    { 'impersonate-user': 'system:anonymous' },
    { 'impersonate-user': 'system:node:node-1', 'impersonate-group': 'system:nodes' },
    { 'impersonate-group': 'system:masters' },
    { 'impersonate-uid': 'x' },
    { 'impersonate-user': 'bob', 'impersonate-extra-scopes': 'view', 'impersonate-uid': 'u-1' },
    { 'impersonate-user': 'system:serviceaccount:bad' },
  ]);
  const request = useOf(random);
  draft.add({ ...request, user: random.pick<User>(['admin', 'admin', 'alice', 'mallory']), headers: { ...request.headers, ...headers } });
}

function addReview(draft: Draft): void {
  const { random } = draft;
  const resourceAttributes: JsonObject = {
    namespace: SCENARIO,
    verb: random.pick(VERBS),
    resource: random.pick(['configmaps', 'secrets', 'pods']),
    ...(random.chance(0.3) && { name: SCENARIO }),
    ...(random.chance(0.2) && { subresource: 'log' }),
  };
  const attributes = random.chance(0.8) ? { resourceAttributes } : { nonResourceAttributes: { path: random.pick(['/healthz', '/x']), verb: 'get' } };
  const who = { user: random.pick(['alice', 'bob', 'admin', '']), groups: random.pick([['ops'], ['system:masters'], []]) };
  const group = '/apis/authorization.k8s.io/v1';
  const requests: Request[] = [
    { method: 'POST', path: `${group}/subjectaccessreviews`, body: { spec: { ...attributes, ...who } } },
    { method: 'POST', path: `${group}/subjectaccessreviews`, body: { metadata: { name: 'x' }, spec: { ...attributes } } },
    {
      method: 'POST',
      path: `${group}/namespaces/${SCENARIO}/localsubjectaccessreviews`,
      body: { metadata: { namespace: SCENARIO }, spec: { ...attributes, ...who } },
    },
    { method: 'POST', path: `${group}/selfsubjectaccessreviews`, body: { spec: attributes }, user: random.pick<User>(['alice', 'bob', '']) },
    { method: 'POST', path: `${group}/selfsubjectrulesreviews`, body: { spec: { namespace: SCENARIO } }, user: 'alice' },
    { method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: {}, user: random.pick<User>(['alice', 'mallory', '']) },
    { method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body: { spec: { token: random.pick(['alice-token', 'nothing', '']) } } },
  ];
  draft.add(random.pick(requests));
}

/** Roles and bindings by someone who may not give what he does not have. */
function addEscalation(draft: Draft): void {
  const { random } = draft;
  const rules = [{ verbs: some(random, VERBS), apiGroups: [''], resources: some(random, RESOURCES) }];
  draft.add(
    random.pick<Request>([
      { method: 'POST', path: `${ROLES}/roles?dryRun=All`, body: { metadata: { name: `${SCENARIO}-more` }, rules }, user: 'alice' },
      { method: 'PUT', path: `${ROLES}/roles/${SCENARIO}?dryRun=All`, body: { metadata: { name: SCENARIO }, rules }, user: 'alice' },
      {
        method: 'POST',
        path: `${ROLES}/rolebindings?dryRun=All`,
        body: { metadata: { name: `${SCENARIO}-more` }, subjects: [], roleRef: { kind: 'ClusterRole', name: 'admin' } },
        user: 'alice',
      },
      {
        method: 'PATCH',
        path: `${ROLES}/rolebindings/${SCENARIO}`,
        body: { roleRef: { name: 'other' } },
        headers: { 'content-type': 'application/merge-patch+json' },
      },
    ]),
  );
}
