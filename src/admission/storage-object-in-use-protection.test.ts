import { expect, test } from 'vitest';
import type { ApiObject } from '../api/api-object.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { admit, writeOf } from './testing/attributes.ts';

test.each([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
])('StorageObjectInUseProtection: %s get %s', async (target, finalizer) => {
  const finalizersOf = async (metadata: object): Promise<string[] | undefined> =>
    (await admit<ApiObject>(storageObjectInUseProtection({ isEnabled: () => true }), writeOf(target, { metadata }))).metadata.finalizers;
  expect(await finalizersOf({})).toEqual([finalizer]);
  expect(await finalizersOf({ finalizers: ['a', finalizer] })).toEqual(['a', finalizer]);
});
