import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import { checkEach } from '../../api/validation-run.ts';
import { validateCsiDriverName } from '../core/pod/volume-sources.ts';
import { defineResource } from '../define.ts';
import type { CSINode, CSINodeDriver } from '../facts/types/storage-v1.ts';
import { isFeatureOn } from '../features.ts';
import { repeats } from '../validation/repeats.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { validateNonNegative } from '../validation/non-negative.ts';

const NODE_ID_MAX_BYTES = 256;
const DRIVER: InternalFields = [
  ['Name', 'name', ''],
  ['NodeID', 'nodeID', ''],
  ['TopologyKeys', 'topologyKeys'],
  ['Allocatable', 'allocatable'],
];

/** The storage drivers of one node. */
export const csiNodes = defineResource<CSINode>('storage.k8s.io/v1/csinodes', {
  allowsUnconditionalUpdate: false,

  validatesWhole: 'before',
  validatesMetadataUpdate: false,
  validate({ object: { metadata, spec } }, errors) {
    validateFinalizerNames(metadata, errors);
    const at = errors.at('spec', 'drivers');
    checkEach(
      at,
      'drivers',
      spec.drivers ?? [],
      (driver, index, isRepeated) => validateDriver(driver, isRepeated(driver.name), at.index(index)),
      repeats<string>,
    );
  },
  /** A driver may come and go; while it is there, only how much it can take changes. */
  validateUpdate({ object: { spec }, old, settings }, errors) {
    const isCountFixed = !isFeatureOn(settings, 'MutableCSINodeAllocatableCount');
    // Names stand once in what is stored; in the new list each that stands there again is looked at.
    const drivers = new Map<string, CSINodeDriver[]>();
    for (const driver of spec.drivers ?? []) {
      const named = drivers.get(driver.name);
      if (named === undefined) drivers.set(driver.name, [driver]);
      else named.push(driver);
    }
    for (const former of old.spec.drivers ?? []) {
      for (const driver of drivers.get(former.name) ?? []) {
        const isSame = equalJson(fixedPart(driver), fixedPart(former)) && (!isCountFixed || equalJson(driver.allocatable, former.allocatable));
        if (isSame) continue;
        const { allocatable, ...rest } = driver;
        const shown = isCountFixed && allocatable ? { ...rest, allocatable: internalForm(allocatable, [['Count', 'count']]) } : rest;
        errors.at('spec', 'drivers').invalid(internalForm(shown, DRIVER), 'field is immutable');
      }
    }
  },

  cells: { Drivers: ({ spec }) => (spec.drivers ?? []).length },
});

/** No keys are as good as an empty list of them. */
const fixedPart = ({ name, nodeID, topologyKeys }: CSINodeDriver): object => ({
  name,
  nodeID,
  ...(topologyKeys && topologyKeys.length > 0 && { topologyKeys }),
});

function validateDriver({ name, nodeID, allocatable, topologyKeys }: CSINodeDriver, isKnown: boolean, errors: FieldErrors): void {
  validateCsiDriverName(name, errors.at('name'));
  if (nodeID === '') errors.at('nodeID').required();
  if (Buffer.byteLength(nodeID) > NODE_ID_MAX_BYTES) errors.at('nodeID').invalid(nodeID, `must be ${NODE_ID_MAX_BYTES} characters or less`);
  validateNonNegative(allocatable?.count, errors.at('allocatable', 'count'));
  if (isKnown) errors.at('name').duplicate(name);
  const check = (key: string, _index: number, isRepeatedKey: (key: string) => boolean): void => {
    if (key === '') errors.required();
    if (isRepeatedKey(key)) errors.duplicate(key);
    for (const error of qualifiedNameErrors(key)) errors.invalid(key, error);
  };
  checkEach(errors, 'topologyKeys', topologyKeys ?? [], check, repeats<string>);
}
