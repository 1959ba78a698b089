import { describe, expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { admit, testEnvironment, writeOf } from '../testing/attributes.ts';
import { nodeRestriction } from './node-restriction.ts';

const user = { name: 'system:node:me', groups: ['system:nodes'] };

async function plugin(audience?: string): Promise<AdmissionPlugin> {
  const environment = testEnvironment((verb, resource) => verb === 'request-serviceaccounts-token-audience' && resource === audience);
  const add = (plural: string, namespace: string, object: object) =>
    environment.client.resource('', plural).create(namespace, { kind: '', apiVersion: '', ...object } as never);
  await add('nodes', '', { metadata: { name: 'me', uid: 'u' } });
  await add('pods', 'n', {
    metadata: { name: 'mine', uid: 'p' },
    spec: { nodeName: 'me', volumes: [{ name: 't', projected: { sources: [{ serviceAccountToken: { audience: 'vault' } }] } }] },
  });
  await add('pods', 'n', { metadata: { name: 'other', uid: 'o' }, spec: { nodeName: 'you' } });
  // Only kubelets with the gate are let off the check of signing requests.
  return nodeRestriction({ ...environment, isEnabled: (gate) => gate !== 'AllowInsecureKubeletCertificateSigningRequests' });
}

const refused = async (write: AdmissionAttributes, why: string): Promise<void> => expect(admit(await plugin(), { ...write, user })).rejects.toThrow(why);
const allowed = async (write: AdmissionAttributes): Promise<unknown> => admit(await plugin(), { ...write, user });

const owner = { apiVersion: 'v1', kind: 'Node', name: 'me', uid: 'u', controller: true };
const mirror = (spec: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'x', annotations: { 'kubernetes.io/config.mirror': '1' }, ownerReferences: [owner], ...metadata },
  spec: { nodeName: 'me', ...spec },
});

test('others than nodes are let be', async () => {
  await admit(await plugin(), writeOf('nodes', {}, { name: 'you' }));
});

describe('pods', () => {
  test('a node makes mirror pods of its own', async () => {
    await allowed(writeOf('pods', mirror()));
    await refused(writeOf('pods', { spec: {} }), 'pod does not have "kubernetes.io/config.mirror" annotation, node "me" can only create mirror pods');
    await refused(writeOf('pods', mirror({ nodeName: 'you' })), 'node "me" can only create pods with spec.nodeName set to itself');
    await refused(writeOf('pods', mirror({}, { ownerReferences: [] })), 'node "me" can only create pods with an owner reference set to itself');
    await refused(writeOf('pods', mirror({}, { ownerReferences: [{ ...owner, uid: 'v' }] })), 'node me UID mismatch: expected v got u');
  });
  test.each([
    [{ serviceAccountName: 'a' }, 'serviceaccounts'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'secrets'],
    [{ volumes: [{ name: 'v', configMap: { name: 'c' } }] }, 'configmaps'],
    [{ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }, 'persistentvolumeclaims'],
    [{ volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: {} }] } }] }, 'serviceaccounts (via projected volumes)'],
  ])('that need nothing of the API: %j', async (spec, resource) =>
    refused(writeOf('pods', mirror(spec)), `node "me" can not create pods that reference ${resource}`),
  );

  test('a node deletes, evicts and reports on what it runs', async () => {
    await allowed(writeOf('pods', undefined, { operation: 'DELETE', name: 'mine' }));
    await refused(writeOf('pods', undefined, { operation: 'DELETE', name: 'other' }), 'node "me" can only delete pods with spec.nodeName set to itself');
    await refused(writeOf('pods/eviction', {}, { name: 'other' }), 'node me can only evict pods with spec.nodeName set to itself');
    const status = (labels: object): AdmissionAttributes =>
      writeOf(
        'pods/status',
        { metadata: { name: 'mine', labels }, spec: { nodeName: 'me' }, status: {} },
        { operation: 'UPDATE', oldObject: writeOf('pods', { metadata: { name: 'mine' }, spec: { nodeName: 'me' }, status: {} }).object },
      );
    await allowed(status({}));
    await refused(status({ a: 'b' }), 'node "me" cannot update labels through pod status');
  });
});

describe('nodes', () => {
  const node = (labels: object, spec: object = {}): object => ({ metadata: { name: 'me', labels }, spec });
  test('a node changes itself alone, and not what steers pods', async () => {
    await refused(writeOf('nodes', {}, { name: 'you' }), 'node "me" is not allowed to modify node "you"');
    await allowed(writeOf('nodes', node({ 'kubernetes.io/hostname': 'me', 'node.kubernetes.io/x': '', own: '1' })));
    await refused(
      writeOf('nodes', node({ 'node-restriction.kubernetes.io/a': '', 'kubernetes.io/role': '' })),
      'node "me" is not allowed to set the following labels: kubernetes.io/role, node-restriction.kubernetes.io/a',
    );
    const oldObject = writeOf('nodes', node({ 'x.k8s.io/a': '1' })).object;
    await refused(writeOf('nodes', node({}), { operation: 'UPDATE', oldObject }), 'is not allowed to modify labels: x.k8s.io/a');
    const taints = [{ key: 'a', effect: 'NoSchedule' }];
    await refused(writeOf('nodes', node({ 'x.k8s.io/a': '1' }, { taints }), { operation: 'UPDATE', oldObject }), 'node "me" is not allowed to modify taints');
  });
  test('its lease and its drivers', async () => {
    await refused(writeOf('leases.coordination.k8s.io', {}), 'can only access leases in the "kube-node-lease" system namespace');
    await refused(
      writeOf('leases.coordination.k8s.io', {}, { namespace: 'kube-node-lease' }),
      'can only access node lease with the same name as the requesting node',
    );
    await allowed(writeOf('leases.coordination.k8s.io', { metadata: { name: 'me' } }, { namespace: 'kube-node-lease' }));
    await refused(writeOf('csinodes.storage.k8s.io', {}), 'can only access CSINode with the same name as the requesting node');
    await refused(writeOf('resourceslices.resource.k8s.io', { spec: { nodeName: 'you' } }), 'can only create ResourceSlice with the same NodeName');
  });
});

describe('tokens', () => {
  const token = (name: string, uid: string, ...audiences: string[]): AdmissionAttributes =>
    writeOf('serviceaccounts/token', { spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } } });
  test('are for pods of the node, and for whom they name', async () => {
    await allowed(token('mine', 'p', 'vault'));
    await refused(token('other', 'o'), 'node requested token bound to a pod scheduled on a different node');
    await refused(token('mine', 'q'), 'the UID in the bound object reference (q) does not match the UID in record');
    await refused(
      token('mine', 'p', 'bank'),
      'audience "bank" not found in pod spec volume, system:node:me is not authorized to request tokens for this audience',
    );
    await admit(await plugin('bank'), { ...token('mine', 'p', 'bank'), user });
    await refused(writeOf('serviceaccounts/token', { spec: {} }), 'node requested token not bound to a pod');
  });
});
