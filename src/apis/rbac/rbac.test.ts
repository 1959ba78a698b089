import { describe, expect, test } from 'vitest';
import { cellsOf, created, decoded, updated } from '../testing/kind-tester.ts';
import { clusterRoleBindings } from './cluster-role-binding.ts';
import { clusterRoles } from './cluster-role.ts';
import { roleBindings } from './role-binding.ts';
import { roles } from './role.ts';

const RBAC = 'rbac.authorization.k8s.io';
const metadata = { name: 'reader', namespace: 'default' };
const rule = (parts: object): object => ({ verbs: ['get'], apiGroups: [''], resources: ['pods'], ...parts });

test.each([
  [rule({}), []],
  [
    {},
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
  [
    rule({ nonResourceURLs: ['/x'] }),
    [
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
])('a rule %j of a role', (sent, problems) => {
  expect(created(roles, { metadata, rules: [sent] }).problems).toEqual(problems);
});

test('names are whatever a path can hold', () => {
  expect(roles.naming?.errors?.('system:node', false, roles.settings)).toEqual([]);
  expect(roles.naming?.errors?.('a/b%', false, roles.settings)).toEqual(["may not contain '/'", "may not contain '%'"]);
});

test('a cluster role may have paths, and an aggregation rule must select', () => {
  expect(created(clusterRoles, { metadata, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }).problems).toEqual([]);
  expect(created(clusterRoles, { metadata, aggregationRule: {} }).problems).toEqual([
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ]);
  const unknown = { matchExpressions: [{ key: 'a', operator: 'Is' }] };
  expect(created(clusterRoles, { metadata, aggregationRule: { clusterRoleSelectors: [unknown] } }).problems).toEqual([
    'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
    'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
  ]);
});

describe('bindings', () => {
  const roleRef = { kind: 'ClusterRole', name: 'view' };
  const binding = (subjects: object[], ref: object = roleRef): object => ({ metadata, roleRef: ref, subjects });

  test('groups are filled in', () => {
    const { roleRef: ref, subjects } = decoded(
      roleBindings,
      binding([
        { kind: 'User', name: 'a' },
        { kind: 'ServiceAccount', name: 'b' },
      ]),
    );
    expect(ref.apiGroup).toBe(RBAC);
    expect(subjects!.map(({ apiGroup }) => apiGroup)).toEqual([RBAC, undefined]);
  });

  test.each([
    [[{ kind: 'ServiceAccount', name: 'b' }], []],
    [
      [{ kind: 'ServiceAccount', name: 'B', apiGroup: 'x' }],
      [
        expect.stringContaining('subjects[0].name: Invalid value: "B": a lowercase RFC 1123 subdomain'),
        'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
      ],
    ],
    [[{ kind: 'Group', apiGroup: 'x' }], ['subjects[0].name: Required value', `subjects[0].apiGroup: Unsupported value: "x": supported values: "${RBAC}"`]],
    [[{ kind: 'Robot', name: 'r' }], ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"']],
  ])('subjects %j', (subjects, problems) => {
    expect(created(roleBindings, binding(subjects)).problems).toEqual(problems);
  });

  test('a cluster role binding names the namespace, and gives no roles', () => {
    expect(created(clusterRoleBindings, binding([{ kind: 'ServiceAccount', name: 'b' }], { kind: 'Role', name: 'r' })).problems).toEqual([
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'subjects[0].namespace: Required value',
    ]);
  });

  test('the role stays', () => {
    const { object } = created(roleBindings, binding([]));
    expect(updated(roleBindings, object, (next) => void (next.roleRef.name = 'edit')).problems).toEqual([
      `roleRef: Invalid value: {"APIGroup":"${RBAC}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
    ]);
  });

  test('cells', () => {
    const { object } = created(
      roleBindings,
      binding([
        { kind: 'User', name: 'a' },
        { kind: 'User', name: 'b' },
        { kind: 'ServiceAccount', name: 'c', namespace: 'd' },
      ]),
    );
    expect(cellsOf(roleBindings, object)).toMatchObject({ Role: 'ClusterRole/view', Users: 'a, b', Groups: '', ServiceAccounts: 'd/c' });
  });
});
