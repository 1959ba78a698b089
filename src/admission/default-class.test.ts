import { expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../apis/facts/types/core-v1.ts';
import type { Ingress } from '../apis/facts/types/networking-v1.ts';
import { defaultIngressClass, defaultStorageClass } from './default-class.ts';
import { admit, environmentWith, testEnvironment, writeOf } from './testing/attributes.ts';

const created = (name: string, creationTimestamp: string, annotation: string): object => ({
  metadata: { name, creationTimestamp, annotations: { [annotation]: 'true' } },
});

test('of storage: the newest', async () => {
  const annotation = 'storageclass.kubernetes.io/is-default-class';
  const classes = [created('old', '2025-01-01T00:00:00Z', annotation), ...['b', 'a'].map((name) => created(name, '2026-01-01T00:00:00Z', annotation))];
  const plugin = defaultStorageClass(await environmentWith('storage.k8s.io', 'storageclasses', ...classes));
  const classOf = async (claim: object): Promise<string | undefined> =>
    (await admit<PersistentVolumeClaim>(plugin, writeOf('persistentvolumeclaims', claim))).spec.storageClassName;
  expect(await classOf({ spec: {} })).toBe('a');
  expect(await classOf({ spec: { storageClassName: '' } })).toBe('');
  expect(await classOf({ metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'mine' } }, spec: {} })).toBeUndefined();
});

test('of ingresses', async () => {
  const environment = await environmentWith(
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
