import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { AuthorizationAttributes } from '../../api/authorization.ts';
import { claimAccessCheck } from './claim-access.ts';

const allowing = (...allowed: string[]): Authorizer => ({
  authorize: ({ verb, subresource, name }: AuthorizationAttributes) => ({
    decision: allowed.includes(`${verb} ${subresource} ${name}`.trim()) ? 'allow' : 'noOpinion',
    reason: '',
  }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], isIncomplete: false }),
});
const labelsOf = (namespace: string): Record<string, string> => (namespace === 'admin' ? { 'resource.kubernetes.io/admin-access': 'true' } : {});

const attributes = (more: object): AdmissionAttributes =>
  ({
    operation: 'CREATE',
    group: 'resource.k8s.io',
    version: 'v1',
    resource: 'resourceclaims',
    subresource: '',
    kind: { kind: 'ResourceClaim' },
    namespace: 'ns',
    name: 'c',
    options: {},
    user: { name: 'system:serviceaccount:ns:driver', groups: [], extra: { 'authentication.kubernetes.io/node-name': ['n1'] } },
    ...more,
  }) as unknown as AdmissionAttributes;
const claim = (adminAccess: boolean): object => ({
  metadata: { name: 'c' },
  spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', adminAccess } }] } },
});

test('admin access is for marked namespaces', async () => {
  const check = claimAccessCheck(allowing(), labelsOf);
  expect(await check.rights(attributes({ object: claim(false) }))).toEqual([]);
  expect(await check.rights(attributes({ object: claim(true), namespace: 'admin' }))).toEqual([]);
  const [error] = await check.rights(attributes({ object: claim(true) }));
  expect(error).toMatchObject({ field: 'spec.devices.requests[0].adminAccess', type: 'FieldValueForbidden' });
});

const allocation = { devices: {}, nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }] } };
const device = { driver: 'd.example.com', pool: 'p', device: 'dev', conditions: null };
const update = (status: object, old: object, options: object = {}): AdmissionAttributes =>
  attributes({
    operation: 'UPDATE',
    subresource: 'status',
    options,
    object: { metadata: { name: 'c' }, status },
    oldObject: { metadata: { name: 'c' }, status: old },
  });

test.each([
  [
    update({ allocation }, {}),
    'update binding',
    'requires resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: User "system:serviceaccount:ns:driver" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
  ],
  [
    update({ allocation, devices: [device] }, { allocation }, { kind: 'PatchOptions' }),
    'associated-node:patch driver d.example.com',
    'verb="[associated-node:patch arbitrary-node:patch]" permission',
  ],
  [
    update({ allocation: { devices: {} }, devices: [] }, { allocation: { devices: {} }, devices: [device] }),
    'arbitrary-node:update driver d.example.com',
    'verb="[arbitrary-node:update]" permission',
  ],
])('%#', async (write, right, why) => {
  const [error] = await claimAccessCheck(allowing(), labelsOf).rights(write);
  expect(error?.body).toContain(why);
  expect(await claimAccessCheck(allowing(right), labelsOf).rights(write)).toEqual([]);
});
