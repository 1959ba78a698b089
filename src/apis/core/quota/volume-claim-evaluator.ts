import type { PersistentVolumeClaim } from '../../facts/types/core-v1.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import { type Quantity, compareQuantities, parseQuantity, quantityAt } from '../../../api/quantity.ts';
import { type Amounts, wholeNumber } from './amounts.ts';
import type { KindSettings } from '../../../registry/write.ts';
import { type Evaluator, type MeasuredWrite, countName, matchesClass } from './evaluator.ts';

const COUNT = countName({ group: '', resource: 'persistentvolumeclaims' });
const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
/** Between a storage class and what is counted of it. */
const OF_CLASS = '.storageclass.storage.k8s.io/';
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** A server that emulates a version without VolumeAttributesClass has no scope of it. */
export const volumeClaimEvaluator = ({ features }: KindSettings): Evaluator => ({
  handles,
  counts: (name) => name === COUNT || name === CLAIMS || name === STORAGE || name.endsWith(OF_CLASS + CLAIMS) || name.endsWith(OF_CLASS + STORAGE),
  usage: (object) => usage(object as PersistentVolumeClaim),
  isInScope: (scope, object) => {
    if (scope.scopeName !== 'VolumeAttributesClass' || !features.has('VolumeAttributesClass')) return false;
    const names = attributesClasses(object as PersistentVolumeClaim);
    return names.length === 0 ? matchesClass(scope, undefined) : names.some((name) => matchesClass(scope, name));
  },
  isReleased: (object, old) => hasOtherUsage(object as PersistentVolumeClaim, old as PersistentVolumeClaim),
});

function handles({ operation, subresource, object, oldObject }: MeasuredWrite): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
  if (subresource === '') return true;
  return subresource === 'status' && operation === 'UPDATE' && hasOtherUsage(object as PersistentVolumeClaim, oldObject as PersistentVolumeClaim);
}

const hasOtherUsage = (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean =>
  claim.status.allocatedResources?.['storage'] !== old.status.allocatedResources?.['storage'] ||
  !equalJson(attributesClasses(claim).toSorted(), attributesClasses(old).toSorted());

function usage(claim: PersistentVolumeClaim): Amounts {
  const amounts = new Map([
    [CLAIMS, wholeNumber(1)],
    [COUNT, wholeNumber(1)],
  ]);
  const storageClass = claim.metadata.annotations?.[CLASS_ANNOTATION] ?? claim.spec.storageClassName ?? '';
  const storage = storageOf(claim);
  if (storage) amounts.set(STORAGE, storage);
  if (storageClass === '') return amounts;
  amounts.set(storageClass + OF_CLASS + CLAIMS, wholeNumber(1));
  if (storage) amounts.set(storageClass + OF_CLASS + STORAGE, storage);
  return amounts;
}

/** What is asked for, or what was set aside before where that is more: a volume does not shrink (KEP-1790). */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const wanted = spec.resources.requests?.['storage'];
  if (wanted === undefined) return undefined;
  const asked = wholeBytes(parseQuantity(wanted));
  const allocated = status.allocatedResources?.['storage'];
  if (allocated === undefined) return asked;
  const kept = parseQuantity(allocated);
  return compareQuantities(kept, asked) > 0 ? wholeBytes(kept) : asked;
}

const wholeBytes = (quantity: Quantity): Quantity =>
  quantity.exponent >= 0 ? quantity : { unscaled: quantityAt(quantity, 0), exponent: 0, format: quantity.format };

/** The one that is asked for, the one in force and the one on its way. */
function attributesClasses({ spec, status }: PersistentVolumeClaim): string[] {
  const names = [spec.volumeAttributesClassName, status.currentVolumeAttributesClassName, status.modifyVolumeStatus?.targetVolumeAttributesClassName];
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[];
}
