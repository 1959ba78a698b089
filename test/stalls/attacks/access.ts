import { type Attack, NAMESPACE, inNamespace, names, post, repeated } from '../attack.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const roles = inNamespace(RBAC, 'roles');
const bindings = inNamespace(RBAC, 'rolebindings');
const product = (count: number) => ({
  apiGroups: names('g', count),
  resources: names('r', count),
  verbs: names('v', count),
  resourceNames: names('n', count),
});

/** Roles, bindings, and what is looked at before anyone knows who asks. */
export const accessAttacks: readonly Attack[] = [
  {
    name: 'a role of 70⁴ rights',
    row: 1,
    send: ({ namespaceAdmin }) => post(namespaceAdmin, roles, { metadata: { name: 'product' }, rules: [product(70)] }),
  },
  {
    name: 'a role of 5,000⁴ rights',
    row: 1,
    send: ({ namespaceAdmin }) => post(namespaceAdmin, roles, { metadata: { name: 'product' }, rules: [product(5_000)] }),
  },
  {
    name: 'a role that only many rules together cover',
    row: 1,
    async prepare({ admin }) {
      const without = (list: string[], index: number): string[] => list.filter((_, at) => at !== index);
      const { apiGroups, resources, verbs, resourceNames } = product(60);
      const rules = repeated(60, (index) => ({
        apiGroups: without(apiGroups, index),
        resources: without(resources, index),
        verbs: without(verbs, index),
        resourceNames: without(resourceNames, index),
      }));
      await post(admin, roles, { metadata: { name: 'held' }, rules });
      await post(admin, bindings, {
        metadata: { name: 'held' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'held' },
        subjects: [{ kind: 'User', name: 'alice' }],
      });
    },
    send: ({ namespaceAdmin }) => post(namespaceAdmin, roles, { metadata: { name: 'covered' }, rules: [product(60)] }),
  },
  {
    name: 'a binding with one subject 12,000 times, created and deleted',
    row: 12,
    async send({ namespaceAdmin }) {
      const binding = {
        metadata: { name: 'crowd' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: repeated(12_000, () => ({ kind: 'ServiceAccount', name: 'default', namespace: NAMESPACE })),
      };
      await namespaceAdmin.create(bindings, binding);
      return namespaceAdmin.send({ method: 'DELETE', path: `${bindings}/crowd` });
    },
  },
  {
    name: 'a binding to a kind that is no role',
    row: 20,
    send: ({ namespaceAdmin }) =>
      post(namespaceAdmin, bindings, {
        metadata: { name: 'wrong' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'clusterrole', name: 'view' },
      }),
  },
  { name: 'a timeout of a million digits', row: 2, send: ({ nobody }) => nobody.send({ path: `/healthz?timeout=${'9'.repeat(1_000_000)}s` }) },
  { name: 'a timeout of 200,000 digits', row: 2, send: ({ nobody }) => nobody.send({ path: `/healthz?timeout=${'9'.repeat(200_000)}s` }) },
  {
    name: 'a selector of a million characters',
    row: 2,
    send: ({ nobody }) => nobody.send({ path: `/api/v1/pods?fieldSelector=metadata.name=x&labelSelector=a+in+(${names('v', 120_000).join(',')})` }),
  },
  {
    name: 'a selector of 9,999 values',
    row: 2,
    send: ({ nobody }) => nobody.send({ path: `/api/v1/pods?fieldSelector=metadata.name=x&labelSelector=a+in+(${names('v', 9_999).join(',')})` }),
  },
  {
    name: 'a query of 9,999 pairs that all might be anything',
    row: 2,
    send: ({ nobody }) => nobody.send({ path: `/api/v1/pods?${'%77&'.repeat(9_998)}${'x'.repeat(200_000)}` }),
  },
  { name: 'a path of 100,000 slashes below /logs', row: 20, send: ({ admin }) => admin.send({ path: `/logs${'/'.repeat(100_000)}x` }) },
];
