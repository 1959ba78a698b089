import { expect, test } from 'vitest';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { type TestedWrite, admit, environmentWith, writeOf } from './testing/attributes.ts';

const claim = (storage: string, storageClassName: string, phase = 'Bound'): object => ({
  spec: { storageClassName, resources: { requests: { storage } } },
  status: { phase },
});
const update = (now: object, old: object): TestedWrite =>
  writeOf('persistentvolumeclaims', now, { operation: 'UPDATE', oldObject: writeOf('persistentvolumeclaims', old).object });

const resize = async (now: object, old: object): Promise<unknown> => {
  const classes = [{ metadata: { name: 'elastic' }, allowVolumeExpansion: true }, { metadata: { name: 'fixed' } }];
  return admit(persistentVolumeClaimResize(await environmentWith('storage.k8s.io', 'storageclasses', ...classes)), update(now, old));
};

test.each([
  ['a shrinking one', claim('1Gi', 'fixed'), claim('2Gi', 'fixed')],
  ['a growing one of a class that can', claim('2Gi', 'elastic'), claim('1Gi', 'elastic')],
])('%s is let', async (_case, now, old) => {
  await expect(resize(now, old)).resolves.toBeDefined();
});

const CLASS_CANNOT = 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

test.each([
  ['an unbound one', claim('2Gi', 'elastic'), claim('1Gi', 'elastic', 'Pending'), 'Only bound persistent volume claims can be expanded'],
  ['one of a class that cannot', claim('2Gi', 'fixed'), claim('1Gi', 'fixed'), CLASS_CANNOT],
  ['one without a class', claim('2Gi', ''), claim('1Gi', ''), CLASS_CANNOT],
])('%s is refused', async (_case, now, old, message) => {
  await expect(resize(now, old)).rejects.toThrow(`persistentvolumeclaims "x" is forbidden: ${message}`);
});
