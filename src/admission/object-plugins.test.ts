import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Node, PersistentVolumeClaim } from '../apis/facts/types/core-v1.ts';
import type { Ingress } from '../apis/facts/types/networking-v1.ts';
import { type ApiObject } from '../util/api-object.ts';
import { bitString, der, integer, oid, sequence, set, utf8String } from '../util/der.ts';
import { certificateApproval } from './certificate-approval.ts';
import { certificateSigning } from './certificate-signing.ts';
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';
import { type TestEnvironment, admit, testEnvironment, writeOf } from './testing/attributes.ts';

async function withObjects(group: string, plural: string, ...objects: object[]): Promise<TestEnvironment> {
  const environment = testEnvironment();
  for (const object of objects) await environment.client.resource(group, plural).create('', { kind: '', apiVersion: '', ...object } as never);
  return environment;
}

describe('NamespaceLifecycle', () => {
  const phase = (name: string, status: string): object => ({ metadata: { name }, status: { phase: status } });
  const made = async () => namespaceLifecycle(await withObjects('', 'namespaces', phase('n', 'Active'), phase('dying', 'Terminating')));

  test('lets into namespaces that live, and out of all', async () => {
    const plugin = await made();
    await admit(plugin, writeOf('configmaps', {}));
    await admit(plugin, writeOf('configmaps', {}, { namespace: 'dying', operation: 'UPDATE' }));
    await admit(plugin, writeOf('configmaps', undefined, { namespace: 'gone', operation: 'DELETE' }));
  });

  test('refuses the rest', async () => {
    const plugin = await made();
    await expect(admit(plugin, writeOf('configmaps', {}, { namespace: 'gone' }))).rejects.toThrow('namespaces "gone" not found');
    await expect(admit(plugin, writeOf('configmaps', { metadata: { generateName: 'g-' } }, { namespace: 'dying' }))).rejects.toMatchObject({
      message: 'configmaps "g-" is forbidden: unable to create new content in namespace dying because it is being terminated',
      status: { details: { causes: [{ reason: 'NamespaceTerminating', message: 'namespace dying is being terminated', field: 'metadata.namespace' }] } },
    });
    await expect(admit(plugin, writeOf('namespaces', undefined, { operation: 'DELETE', name: 'default', namespace: 'default' }))).rejects.toThrow(
      'this namespace may not be deleted',
    );
  });
});

test('TaintNodesByCondition', async () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  expect((await admit<Node>(taintNodesByCondition, writeOf('nodes', { spec: {} }))).spec.taints).toEqual([taint]);
  expect((await admit<Node>(taintNodesByCondition, writeOf('nodes', { spec: { taints: [{ ...taint, value: 'v' }] } }))).spec.taints).toHaveLength(1);
});

test.each([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
])('StorageObjectInUseProtection: %s get %s', async (target, finalizer) => {
  const finalizersOf = async (metadata: object): Promise<string[] | undefined> =>
    (await admit<ApiObject>(storageObjectInUseProtection, writeOf(target, { metadata }))).metadata.finalizers;
  expect(await finalizersOf({})).toEqual([finalizer]);
  expect(await finalizersOf({ finalizers: ['a', finalizer] })).toEqual(['a', finalizer]);
});

describe('default classes', () => {
  const created = (name: string, creationTimestamp: string, annotation: string): object => ({
    metadata: { name, creationTimestamp, annotations: { [annotation]: 'true' } },
  });

  test('of storage: the newest', async () => {
    const annotation = 'storageclass.kubernetes.io/is-default-class';
    const environment = await withObjects(
      ...(['storage.k8s.io', 'storageclasses'] as const),
      ...[
        created('old', '2025-01-01T00:00:00Z', annotation),
        created('b', '2026-01-01T00:00:00Z', annotation),
        created('a', '2026-01-01T00:00:00Z', annotation),
      ],
    );
    const plugin = defaultStorageClass(environment);
    const classOf = async (claim: object): Promise<string | undefined> =>
      (await admit<PersistentVolumeClaim>(plugin, writeOf('persistentvolumeclaims', claim))).spec.storageClassName;
    expect(await classOf({ spec: {} })).toBe('a');
    expect(await classOf({ spec: { storageClassName: '' } })).toBe('');
    expect(await classOf({ metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'mine' } }, spec: {} })).toBeUndefined();
  });

  test('of ingresses', async () => {
    const environment = await withObjects(
      'networking.k8s.io',
      'ingressclasses',
      { metadata: { name: 'other' } },
      created('usual', '2025-01-01T00:00:00Z', 'ingressclass.kubernetes.io/is-default-class'),
    );
    const plugin = defaultIngressClass(environment);
    const classOf = async (ingress: object): Promise<string | undefined> =>
      (await admit<Ingress>(plugin, writeOf('ingresses.networking.k8s.io', ingress))).spec.ingressClassName;
    expect(await classOf({ spec: {} })).toBe('usual');
    expect(await classOf({ metadata: { annotations: { 'kubernetes.io/ingress.class': 'mine' } }, spec: {} })).toBeUndefined();
    expect(
      (await admit<Ingress>(defaultIngressClass(testEnvironment()), writeOf('ingresses.networking.k8s.io', { spec: {} }))).spec.ingressClassName,
    ).toBeUndefined();
  });
});

describe('PersistentVolumeClaimResize', () => {
  const claim = (storage: string, storageClassName: string, phase = 'Bound'): object => ({
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  });
  const update = (now: object, old: object) =>
    writeOf('persistentvolumeclaims', now, { operation: 'UPDATE', oldObject: writeOf('persistentvolumeclaims', old).object });

  test.each([
    ['a shrinking one', claim('1Gi', 'fixed'), claim('2Gi', 'fixed'), undefined],
    ['a growing one of a class that can', claim('2Gi', 'elastic'), claim('1Gi', 'elastic'), undefined],
    ['an unbound one', claim('2Gi', 'elastic'), claim('1Gi', 'elastic', 'Pending'), 'Only bound persistent volume claims can be expanded'],
    [
      'one of a class that cannot',
      claim('2Gi', 'fixed'),
      claim('1Gi', 'fixed'),
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    ],
    ['one without a class', claim('2Gi', ''), claim('1Gi', ''), 'only dynamically provisioned pvc can be resized'],
  ])('%s', async (_case, now, old, message) => {
    const environment = await withObjects(
      'storage.k8s.io',
      'storageclasses',
      { metadata: { name: 'elastic' }, allowVolumeExpansion: true },
      { metadata: { name: 'fixed' } },
    );
    const admitted = admit(persistentVolumeClaimResize(environment), update(now, old));
    if (message === undefined) await admitted;
    else await expect(admitted).rejects.toThrow(message);
  });
});

describe('certificates', () => {
  const target = 'certificatesigningrequests.certificates.k8s.io';
  const request = (status: object = {}): object => ({ spec: { signerName: 'example.com/signer' }, status });
  const update = (subresource: string, status: object) =>
    writeOf(`${target}/${subresource}`, request(status), { operation: 'UPDATE', oldObject: writeOf(target, request()).object });
  const may = (verb: string, signer: string): TestEnvironment =>
    testEnvironment((asked, resource, name) => asked === verb && resource === 'signers' && name === signer);

  test('are approved by who may, for the signer or its whole domain', async () => {
    await admit(certificateApproval(may('approve', 'example.com/signer')), update('approval', {}));
    await admit(certificateApproval(may('approve', 'example.com/*')), update('approval', {}));
    await expect(admit(certificateApproval(may('sign', 'example.com/*')), update('approval', {}))).rejects.toThrow(
      'certificatesigningrequests.certificates.k8s.io "x" is forbidden: user not permitted to approve requests with signerName "example.com/signer"',
    );
  });

  test('are signed by who may; other changes of status are free', async () => {
    await admit(certificateSigning(may('sign', 'example.com/signer')), update('status', { certificate: 'YQ==' }));
    await admit(certificateSigning(testEnvironment()), update('status', {}));
    for (const status of [{ certificate: 'YQ==' }, { conditions: [{ type: 'Failed' }] }]) {
      await expect(admit(certificateSigning(testEnvironment()), update('status', status))).rejects.toThrow(
        'user not permitted to sign requests with signerName "example.com/signer"',
      );
    }
  });

  test('of the cluster’s own signer are not for system:masters', async () => {
    const asking = (signerName: string, organization: string) =>
      writeOf(target, { spec: { signerName, request: Buffer.from(certificateRequest(organization)).toString('base64') } });
    const own = 'kubernetes.io/kube-apiserver-client';
    await admit(certificateSubjectRestriction, asking(own, 'devs'));
    await admit(certificateSubjectRestriction, asking('example.com/signer', 'system:masters'));
    await expect(admit(certificateSubjectRestriction, asking(own, 'system:masters'))).rejects.toThrow(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
  });
});

/** Its signature is not looked at here. */
function certificateRequest(organization: string): string {
  const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' });
  const name = (type: string, value: string): Buffer => set(sequence(oid(type), utf8String(value)));
  const content = sequence(integer(Buffer.from([0])), sequence(name('2.5.4.3', 'someone'), name('2.5.4.10', organization)), publicKey, der(0xa0));
  const bytes = sequence(content, sequence(oid('1.2.840.10045.4.3.2')), bitString(Buffer.from([0])));
  return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}
