import { type Attack, inNamespace, names, patch, post, repeated } from '../attack.ts';

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const policyPath = inNamespace('networking.k8s.io/v1', 'networkpolicies');
const cidrs = repeated(20_000, (index) => ({ ipBlock: { cidr: `10.${index >> 8}.${index & 255}.0/24` } }));

function manyOwners(count: number): Attack {
  const name = `${count}-owners`;
  return {
    name: `an object of ${count} owners that loses one`,
    row: 6,
    async prepare({ admin, onEnd }) {
      onEnd(() => patch(admin, inNamespace('v1', 'configmaps', name), 'merge-patch', { metadata: { finalizers: null } }));
      const ownerReferences = repeated(count, (index) => ({ apiVersion: 'v1', kind: 'Node', name: 'n', uid: `o${index}` }));
      await admin.create(inNamespace('v1', 'configmaps'), { metadata: { name, finalizers: ['example.com/kept'], ownerReferences } });
    },
    send: ({ admin }) =>
      patch(admin, inNamespace('v1', 'configmaps', name), 'strategic-merge-patch', { metadata: { ownerReferences: [{ uid: 'o7', $patch: 'delete' }] } }),
  };
}

/** Lists as long as a body has room for, in kinds that once searched them. */
export const longListAttacks: readonly Attack[] = [
  manyOwners(19_000),
  // So many have managedFields.
  { ...manyOwners(14_900), isLong: true },
  {
    name: '60,000 binding conditions of a device',
    row: 7,
    send: ({ admin }) =>
      post(admin, '/apis/resource.k8s.io/v1/resourceslices', {
        metadata: { name: 'slice' },
        spec: {
          driver: 'd.example.com',
          nodeName: 'n',
          pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
          devices: [{ name: 'd', bindingConditions: names('c', 60_000), bindingFailureConditions: names('f', 20_000) }],
        },
      }),
  },
  {
    name: 'an update of 20,000 CIDRs',
    row: 12,
    prepare: ({ namespaceAdmin }) => namespaceAdmin.create(policyPath, { metadata: { name: 'wide' }, spec: { podSelector: {}, ingress: [{ from: cidrs }] } }),
    send: ({ namespaceAdmin }) =>
      namespaceAdmin.send({
        method: 'PUT',
        path: `${policyPath}/wide`,
        body: { metadata: { name: 'wide' }, spec: { podSelector: {}, ingress: [{ from: cidrs.toReversed() }] } },
      }),
  },
  {
    name: 'a table of 3,000 addresses by 3,000 ports',
    row: 15,
    prepare: ({ admin }) =>
      admin.create(inNamespace('v1', 'endpoints'), {
        metadata: { name: 'wide' },
        subsets: [
          {
            addresses: repeated(3_000, (index) => ({ ip: `10.0.${index >> 8}.${index & 255}` })),
            ports: repeated(3_000, (index) => ({ name: `p${index}`, port: index + 1 })),
          },
        ],
      }),
    send: ({ namespaceAdmin }) =>
      namespaceAdmin.send({ path: inNamespace('v1', 'endpoints'), headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }),
  },
  {
    name: "90,000 names in a policy's rule",
    row: 18,
    send: ({ admin }) =>
      post(admin, `${ADMISSION}/validatingadmissionpolicies`, {
        metadata: { name: 'wide' },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'], resourceNames: names('n', 90_000) }],
          },
          validations: [{ expression: 'true' }],
        },
      }),
  },
  {
    name: "90,000 versions of a webhook's review",
    row: 18,
    send: ({ admin }) =>
      post(admin, `${ADMISSION}/validatingwebhookconfigurations`, {
        metadata: { name: 'wide' },
        webhooks: [
          {
            name: 'a.example.com',
            clientConfig: { url: 'https://a.example.com/' },
            sideEffects: 'None',
            admissionReviewVersions: ['v1', ...names('v', 90_000)],
          },
        ],
      }),
  },
];
