import type { FieldErrors } from '../../api/field-errors.ts';
import { subdomainName } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { CSIStorageCapacity } from '../facts/types/storage-v1.ts';
import { nodeSelectorWarnings } from '../validation/deprecated-node-labels.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { isValidLabelSelector, shownSelector, validateLabelSelector } from '../validation/label-selector.ts';

/** How much a class can still give on some nodes, as its driver tells the scheduler. */
export const csiStorageCapacities = defineResource<CSIStorageCapacity>('storage.k8s.io/v1/csistoragecapacities', {
  validatesFinalizerNames: true,
  allowsUnconditionalUpdate: false,

  validatesWhole: 'before',
  validate({ object: { nodeTopology, storageClassName, capacity }, old }, errors) {
    validateLabelSelector(nodeTopology, errors.at('nodeTopology'), { allowInvalidValues: old !== undefined && !isValidLabelSelector(old.nodeTopology) });
    for (const error of subdomainName(storageClassName, false)) errors.at('storageClassName').invalid(storageClassName, error);
    validateCapacity(capacity, errors.at('capacity'));
  },
  validateUpdate({ object: { nodeTopology, storageClassName }, old }, errors) {
    validateUnchanged(nodeTopology, old.nodeTopology, errors.at('nodeTopology'), () => shownSelector(nodeTopology));
    validateUnchanged(storageClassName, old.storageClassName, errors.at('storageClassName'));
  },
  warnings: ({ object: { nodeTopology } }) => nodeSelectorWarnings(nodeTopology, 'nodeTopology'),
});

/** Canonical text, as decoding leaves it. */
function validateCapacity(capacity: string | undefined, errors: FieldErrors): void {
  if (capacity?.startsWith('-')) errors.invalid(capacity, 'must be greater than or equal to 0');
}
