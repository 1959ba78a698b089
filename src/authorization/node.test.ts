import { beforeEach, describe, expect, test } from 'vitest';
import { FakeClient } from '../client/fake-client.ts';
import type { AuthorizationAttributes } from '../api/authorization.ts';
import type { ApiObject } from '../api/api-object.ts';
import { parseFieldSelector } from '../api/field-selector.ts';
import { type NodeAuthorizer, createNodeAuthorizer } from './node.ts';

let client: FakeClient;
let authorizer: NodeAuthorizer;
beforeEach(async () => {
  client = new FakeClient();
  authorizer = createNodeAuthorizer({ client, isEnabled: (gate) => gate === 'PodCertificateRequest' });
  await authorizer.synced;
});

const NOTHING = { isResourceRequest: true, apiGroup: '', apiVersion: 'v1', resource: '', subresource: '', namespace: '', name: '', path: '' };
const nodeUser = (name: string) => ({ name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] });

/** `get secrets ns/name`, `update persistentvolumeclaims/status ns/name`, `get nodes n1`, `list resourceslices.resource.k8s.io`. */
function decide(text: string, node = 'n1', more: Partial<AuthorizationAttributes> = {}): string {
  const [verb = '', what = '', where = ''] = text.split(' ');
  const [, resource = '', apiGroup = '', subresource = ''] = /^([a-z]+)(?:\.([a-z0-9.]+))?(?:\/(.+))?$/.exec(what)!;
  const [namespace, name] = where.includes('/') ? where.split('/') : ['', where];
  const { decision, reason } = authorizer.authorize({
    ...NOTHING,
    user: nodeUser(node),
    verb,
    apiGroup,
    resource,
    subresource,
    namespace: namespace!,
    name: name!,
    ...more,
  });
  return reason === '' ? decision : `${decision}: ${reason}`;
}

const store = (group: string, plural: string, object: object): Promise<ApiObject> => {
  const { metadata } = object as ApiObject;
  return client.resource(group, plural).create(metadata.namespace ?? '', object as ApiObject);
};
const pod = (name: string, spec: object, more: object = {}): object => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns', uid: name },
  spec: { nodeName: 'n1', ...spec },
  ...more,
});
const unrelated = "noOpinion: no relationship found between node 'n1' and this object";

describe('what pods refer to', () => {
  const everything = {
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ envFrom: [{ secretRef: { name: 'init-from' } }] }],
    containers: [
      {
        env: [{ valueFrom: { configMapKeyRef: { name: 'map-key' } } }, { valueFrom: { secretKeyRef: { name: 'key' } } }],
        envFrom: [{ configMapRef: { name: 'map-from' } }],
      },
    ],
    ephemeralContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'late' } } }] }],
    volumes: [
      { name: 'a', secret: { secretName: 'mounted' } },
      { name: 'b', configMap: { name: 'mounted-map' } },
      { name: 'c', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected-map' } }] } },
      { name: 'd', csi: { nodePublishSecretRef: { name: 'csi' } } },
      { name: 'e', iscsi: { secretRef: { name: 'iscsi' } } },
      { name: 'f', azureFile: { secretName: 'azure' } },
      { name: 'g', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'h', ephemeral: {} },
    ],
    resourceClaims: [
      { name: 'direct', resourceClaimName: 'gpu' },
      { name: 'made', resourceClaimTemplateName: 't' },
      { name: 'not-yet', resourceClaimTemplateName: 't' },
    ],
  };
  const status = { resourceClaimStatuses: [{ name: 'made', resourceClaimName: 'p-made-x' }], extendedResourceClaimStatus: { resourceClaimName: 'extended' } };
  const expected: [string, string[]][] = [
    ['get secrets', ['pull', 'init-from', 'key', 'late', 'mounted', 'projected', 'csi', 'iscsi', 'azure']],
    ['get configmaps', ['map-key', 'map-from', 'mounted-map', 'projected-map']],
    ['get persistentvolumeclaims', ['claim', 'p-h']],
    ['get resourceclaims.resource.k8s.io', ['gpu', 'p-made-x', 'extended']],
    ['get serviceaccounts', ['robot']],
    ['create serviceaccounts/token', ['robot']],
    ['get pods', ['p']],
  ];

  const all = expected.flatMap(([question, names]) => names.map((name) => `${question} ${name}`));
  const allowed = (namespace: string, node = 'n1'): string[] =>
    all.filter((question) => decide(question.replace(/ ([^ ]+)$/, ` ${namespace}/$1`), node) === 'allow');

  test('is its node’s, and only while it is there', async () => {
    await store('', 'pods', pod('p', everything, { status }));
    expect(allowed('ns')).toEqual(all);
    expect(allowed('ns', 'n2')).toEqual([]);
    expect(allowed('other')).toEqual([]);
    await client.resource('', 'pods').delete('ns', 'p');
    expect(allowed('ns')).toEqual([]);
  });

  test('counts as long as one of them is left', async () => {
    for (const name of ['p', 'q']) await store('', 'pods', pod(name, { imagePullSecrets: [{ name: 'pull' }, { name: 'pull' }] }));
    await client.resource('', 'pods').delete('ns', 'p');
    expect(decide('get secrets ns/pull')).toBe('allow');
    await client.resource('', 'pods').delete('ns', 'q');
    expect(decide('get secrets ns/pull')).toBe(unrelated);
  });

  test('is nothing before a pod is bound, and nothing of a mirror pod', async () => {
    await store('', 'pods', pod('p', { nodeName: undefined, imagePullSecrets: [{ name: 'pull' }] }));
    expect(decide('get secrets ns/pull')).toBe(unrelated);
    await client.resource<ApiObject & { spec: { nodeName?: string } }>('', 'pods').update('ns', 'p', (object) => void (object.spec.nodeName = 'n1'));
    expect(decide('get secrets ns/pull')).toBe('allow');
    await store(
      '',
      'pods',
      pod('m', { imagePullSecrets: [{ name: 'mirrored' }] }, { metadata: { name: 'm', namespace: 'ns', annotations: { 'kubernetes.io/config.mirror': '' } } }),
    );
    expect(decide('get secrets ns/mirrored')).toBe(unrelated);
    expect(decide('get pods ns/m')).toBe('allow');
  });

  test('volumes: their claims, and the secrets to mount them', async () => {
    await store('', 'pods', pod('p', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }] }));
    const csi = { nodeStageSecretRef: { name: 'stage', namespace: 'vault' }, controllerPublishSecretRef: { name: 'controller', namespace: 'vault' } };
    await store('', 'persistentvolumes', {
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'pv' },
      spec: { claimRef: { namespace: 'ns', name: 'claim' }, csi },
    });
    await store('', 'persistentvolumes', {
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'rbd' },
      spec: { claimRef: { namespace: 'ns', name: 'claim' }, rbd: { secretRef: { name: 'ceph' } } },
    });
    expect(decide('get persistentvolumes pv')).toBe('allow');
    expect(decide('get secrets vault/stage')).toBe('allow');
    expect(decide('get secrets ns/ceph')).toBe('allow');
    expect(decide('get secrets vault/controller')).toBe(unrelated);
    expect(decide('get persistentvolumes pv', 'n2')).toMatch(/^noOpinion/);
    await client.resource('', 'persistentvolumes').delete('', 'pv');
    expect(decide('get persistentvolumes pv')).toBe(unrelated);
    expect(decide('get secrets vault/stage')).toBe(unrelated);
  });

  test('what names its node itself', async () => {
    await store('storage.k8s.io', 'volumeattachments', {
      kind: 'VolumeAttachment',
      apiVersion: 'storage.k8s.io/v1',
      metadata: { name: 'va' },
      spec: { nodeName: 'n1' },
    });
    await store('resource.k8s.io', 'resourceslices', {
      kind: 'ResourceSlice',
      apiVersion: 'resource.k8s.io/v1',
      metadata: { name: 'rs' },
      spec: { nodeName: 'n1' },
    });
    await store('certificates.k8s.io', 'podcertificaterequests', {
      kind: 'PodCertificateRequest',
      apiVersion: 'certificates.k8s.io/v1beta1',
      metadata: { name: 'pcr', namespace: 'ns' },
      spec: { nodeName: 'n1' },
    });
    const questions = [
      'get volumeattachments.storage.k8s.io va',
      'patch resourceslices.resource.k8s.io rs',
      'get podcertificaterequests.certificates.k8s.io ns/pcr',
    ];
    expect(questions.map((question) => decide(question))).toEqual(['allow', 'allow', 'allow']);
    expect(questions.filter((question) => decide(question, 'n2') === 'allow')).toEqual([]);
  });
});

const own = { fieldSelector: parseFieldSelector('spec.nodeName=n1') };
const others = { fieldSelector: parseFieldSelector('spec.nodeName=n2') };

test.each<[string, string, Partial<AuthorizationAttributes>?]>([
  ['create secrets ns/x', 'noOpinion: can only read resources of this type'],
  ['get secrets/status ns/x', 'noOpinion: cannot read subresource'],
  ['list secrets', 'noOpinion: can only read namespaced object of this type'],
  ['list secrets ns/', 'noOpinion: No Object name found'],
  ['list persistentvolumeclaims ns/x', 'noOpinion: can only get individual resources of this type'],
  ['get persistentvolumeclaims/status ns/x', 'noOpinion: can only get/update/patch this type'],
  ['update persistentvolumeclaims/status ns/x', unrelated],
  ['create serviceaccounts ns/x', 'noOpinion: can only create token subresource of serviceaccount'],
  ['delete serviceaccounts ns/x', 'noOpinion: can only create tokens for individual service accounts'],
  ['get leases.coordination.k8s.io kube-node-lease/n1', 'allow'],
  ['create leases.coordination.k8s.io kube-node-lease/', 'allow'],
  ['get leases.coordination.k8s.io kube-node-lease/n2', 'noOpinion: can only access node lease with the same name as the requesting node'],
  ['get leases.coordination.k8s.io default/n1', 'noOpinion: can only access leases in the "kube-node-lease" system namespace'],
  ['list leases.coordination.k8s.io kube-node-lease/', 'noOpinion: can only get, create, update, patch, or delete a node lease'],
  ['update csinodes.storage.k8s.io n1', 'allow'],
  ['update csinodes.storage.k8s.io n2', 'noOpinion: can only access CSINode with the same name as the requesting node'],
  ['list csinodes.storage.k8s.io', 'noOpinion: can only get, create, update, patch, or delete a CSINode'],
  ['create resourceslices.resource.k8s.io', 'allow'],
  ['list resourceslices.resource.k8s.io', 'allow', own],
  ['deletecollection resourceslices.resource.k8s.io', 'noOpinion: can only list/watch/deletecollection resourceslices with nodeName field selector', others],
  ['get nodes n1', 'allow'],
  ['get nodes n2', "noOpinion: node 'n1' cannot read 'n2', only its own Node object"],
  ['list nodes', "noOpinion: node 'n1' cannot read all nodes, only its own Node object"],
  ['patch nodes/status n2', 'allow'],
  ['delete nodes n1', 'noOpinion'],
  ['get nodes/proxy n1', 'noOpinion'],
  ['list pods', 'allow', own],
  ['watch pods', 'noOpinion: can only list/watch pods with spec.nodeName field selector', others],
  ['create pods/eviction ns/x', 'allow'],
  ['create pods/exec ns/x', 'noOpinion'],
  ['create podcertificaterequests.certificates.k8s.io ns/', 'allow'],
  ['delete podcertificaterequests.certificates.k8s.io ns/x', 'noOpinion: nodes may not delete podcertificaterequests'],
  ['create events.events.k8s.io ns/', 'allow'],
  ['create tokenreviews.authentication.k8s.io', 'allow'],
  ['list services', 'allow'],
  ['list deployments.apps', 'noOpinion'],
  ['get clustertrustbundles.certificates.k8s.io x', 'noOpinion'],
])('%s: %s', (question, expected, more) => {
  expect(decide(question, 'n1', more)).toBe(expected);
});

test('only nodes are looked at', () => {
  expect(decide('get nodes n1', 'n1', { user: { name: 'system:node:n1', groups: [] } })).toBe('noOpinion');
  expect(decide('get nodes n1', 'n1', { user: { name: 'bob', groups: ['system:nodes'] } })).toBe('noOpinion');
  expect(decide('get nodes n1', '')).toBe('noOpinion: unknown node for user "system:node:"');
  expect(authorizer.rulesFor(nodeUser('n1'), 'ns')).toMatchObject({ isIncomplete: true });
  expect(authorizer.rulesFor({ name: 'bob', groups: [] }, 'ns')).toMatchObject({ isIncomplete: false });
});
