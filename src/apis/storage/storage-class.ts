import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import { checkEach, workInSteps } from '../../api/validation-run.ts';
import { sortedInSteps } from '../../util/sliced-sort.ts';
import { defineResource } from '../define.ts';
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from '../facts/types/core-v1.ts';
import type { StorageClass } from '../facts/types/storage-v1.ts';
import { repeats } from '../validation/repeats.ts';
import { validateChoice } from '../validation/choice.ts';
import { nodeLabelWarnings } from '../validation/deprecated-node-labels.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateParameters, validateProvisioner } from './parameters.ts';

const DELETE = 'Delete';
const IMMEDIATE = 'Immediate';
const RECLAIM_POLICIES = [DELETE, 'Retain'];
const BINDING_MODES = [IMMEDIATE, 'WaitForFirstConsumer'];
export const DEFAULT_ANNOTATIONS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** A kind of storage that claims can ask for by its name. */
export const storageClasses = defineResource<StorageClass>('storage.k8s.io/v1/storageclasses', {
  validatesFinalizerNames: true,
  default(storageClass) {
    storageClass.reclaimPolicy ??= DELETE;
    storageClass.volumeBindingMode ??= IMMEDIATE;
  },

  validatesWhole: 'before',
  validate({ object: { provisioner, parameters, reclaimPolicy, volumeBindingMode, allowedTopologies } }, errors) {
    validateProvisioner(provisioner, errors.at('provisioner'));
    validateParameters(parameters, errors.at('parameters'));
    if (reclaimPolicy && !RECLAIM_POLICIES.includes(reclaimPolicy)) errors.at('reclaimPolicy').notSupported(reclaimPolicy, RECLAIM_POLICIES);
    if (volumeBindingMode === '') errors.at('volumeBindingMode').notSupported(volumeBindingMode, BINDING_MODES);
    else validateChoice(volumeBindingMode, BINDING_MODES, errors.at('volumeBindingMode'));
    validateTopologies(allowedTopologies ?? [], errors.at('allowedTopologies'));
  },
  validateUpdate({ object: storageClass, old }, errors) {
    validateUnchanged(storageClass.parameters ?? {}, old.parameters ?? {}, errors.at('parameters'), () => storageClass.parameters ?? null);
    for (const field of ['provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const) validateUnchanged(storageClass[field], old[field], errors.at(field));
  },
  warnings: ({ object: { allowedTopologies } }) =>
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
  const check = (term: TopologySelectorTerm, index: number, seen: Map<string, number>): void => {
    const at = errors.index(index).at('matchLabelExpressions');
    const meaning = validateTerm(term, at);
    const before = seen.get(meaning) ?? 0;
    for (let other = 0; other < before; other++) at.duplicate('');
    seen.set(meaning, before + 1);
  };
  checkEach(errors, 'terms', terms, check, () => new Map([[NO_REQUIREMENTS, terms.length]]));
}

const NO_REQUIREMENTS = JSON.stringify([]);

/** Answers with the values by key, both sorted, as a text that terms of the same meaning share. */
function validateTerm({ matchLabelExpressions }: TopologySelectorTerm, errors: FieldErrors): string {
  const check = (requirement: TopologySelectorLabelRequirement, index: number, valuesByKey: Map<string, string[]>): void => {
    const at = errors.index(index);
    validateRequirement(requirement, at);
    if (valuesByKey.has(requirement.key)) at.at('key').duplicate(requirement.key);
    valuesByKey.set(requirement.key, sortedValues(requirement.values ?? [], at.at('values')));
  };
  const valuesByKey = checkEach(errors, 'requirements', matchLabelExpressions ?? [], check, () => new Map<string, string[]>());
  return JSON.stringify([...valuesByKey].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const sortedValues = (values: readonly string[], errors: FieldErrors): string[] =>
  workInSteps(errors, 'sorted values', () => sortedInSteps([...new Set(values)], (a, b) => (a < b ? -1 : 1)));

function validateRequirement({ key, values }: TopologySelectorLabelRequirement, errors: FieldErrors): void {
  const at = errors.at('values');
  if ((values ?? []).length === 0) at.required();
  const check = (value: string, index: number, isRepeated: (value: string) => boolean): void => {
    if (isRepeated(value)) at.index(index).duplicate(value);
  };
  checkEach(at, 'values', values ?? [], check, repeats<string>);
  for (const error of qualifiedNameErrors(key)) errors.at('key').invalid(key, error);
}
