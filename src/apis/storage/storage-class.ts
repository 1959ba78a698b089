import type { FieldErrors } from '../../util/field-errors.ts';
import { equalJson } from '../../util/json-equal.ts';
import { qualifiedNameErrors } from '../../util/names.ts';
import { defineResource } from '../define.ts';
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from '../facts/types/core-v1.ts';
import type { StorageClass } from '../facts/types/storage-v1.ts';
import { validateChoice } from '../validation/choice.ts';
import { nodeLabelWarnings } from '../validation/deprecated-node-labels.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateParameters, validateProvisioner } from './parameters.ts';

const DELETE = 'Delete';
const IMMEDIATE = 'Immediate';
const RECLAIM_POLICIES = [DELETE, 'Retain'];
const BINDING_MODES = [IMMEDIATE, 'WaitForFirstConsumer'];
export const DEFAULT_ANNOTATIONS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** A kind of storage that claims can ask for by its name. */
export const storageClasses = defineResource<StorageClass>('storage.k8s.io/v1/storageclasses', {
  default(storageClass) {
    storageClass.reclaimPolicy ??= DELETE;
    storageClass.volumeBindingMode ??= IMMEDIATE;
  },

  validatesWhole: 'before',
  validate({ metadata, provisioner, parameters, reclaimPolicy, volumeBindingMode, allowedTopologies }, errors) {
    validateFinalizerNames(metadata, errors);
    validateProvisioner(provisioner, errors.at('provisioner'));
    validateParameters(parameters, errors.at('parameters'));
    if (reclaimPolicy && !RECLAIM_POLICIES.includes(reclaimPolicy)) errors.at('reclaimPolicy').notSupported(reclaimPolicy, RECLAIM_POLICIES);
    if (volumeBindingMode === '') errors.at('volumeBindingMode').notSupported(volumeBindingMode, BINDING_MODES);
    else validateChoice(volumeBindingMode, BINDING_MODES, errors.at('volumeBindingMode'));
    validateTopologies(allowedTopologies ?? [], errors.at('allowedTopologies'));
  },
  validateUpdate(storageClass, old, errors) {
    validateFinalizerNames(storageClass.metadata, errors);
    validateUnchanged(storageClass.parameters ?? {}, old.parameters ?? {}, errors.at('parameters'), () => storageClass.parameters ?? null);
    for (const field of ['provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const) validateUnchanged(storageClass[field], old[field], errors.at(field));
  },
  warnings: ({ allowedTopologies }) =>
    (allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, term) =>
      (matchLabelExpressions ?? []).flatMap(({ key }, index) => nodeLabelWarnings([key], `allowedTopologies[${term}].matchLabelExpressions[${index}].key`)),
    ),

  cells: {
    Name: ({ metadata }) =>
      DEFAULT_ANNOTATIONS.some((annotation) => metadata.annotations?.[annotation] === 'true') ? `${metadata.name} (default)` : (metadata.name ?? ''),
    Provisioner: ({ provisioner }) => provisioner,
    ReclaimPolicy: ({ reclaimPolicy }) => reclaimPolicy ?? DELETE,
    VolumeBindingMode: ({ volumeBindingMode }) => volumeBindingMode ?? IMMEDIATE,
    AllowVolumeExpansion: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
  },
});

/** Terms that say the same, in whatever order, are one too many; one that says nothing is, as often as there are terms (validateAllowedTopologies). */
function validateTopologies(terms: readonly TopologySelectorTerm[], errors: FieldErrors): void {
  const seen: Record<string, string[]>[] = terms.map(() => ({}));
  for (const [index, term] of terms.entries()) {
    const at = errors.index(index).at('matchLabelExpressions');
    const meaning = validateTerm(term, at);
    for (const other of seen) if (equalJson(meaning, other)) at.duplicate('');
    seen.push(meaning);
  }
}

/** Answers with the sorted values by key. */
function validateTerm({ matchLabelExpressions }: TopologySelectorTerm, errors: FieldErrors): Record<string, string[]> {
  const valuesByKey = new Map<string, string[]>();
  for (const [index, requirement] of (matchLabelExpressions ?? []).entries()) {
    const at = errors.index(index);
    validateRequirement(requirement, at);
    if (valuesByKey.has(requirement.key)) at.at('key').duplicate(requirement.key);
    valuesByKey.set(requirement.key, [...new Set(requirement.values ?? [])].toSorted());
  }
  return Object.fromEntries(valuesByKey);
}

function validateRequirement({ key, values }: TopologySelectorLabelRequirement, errors: FieldErrors): void {
  const at = errors.at('values');
  if ((values ?? []).length === 0) at.required();
  const seen = new Set<string>();
  for (const [index, value] of (values ?? []).entries()) {
    if (seen.has(value)) at.index(index).duplicate(value);
    seen.add(value);
  }
  for (const error of qualifiedNameErrors(key)) errors.at('key').invalid(key, error);
}
