import { validateAnnotations, validateLabels } from '../../../registry/metadata.ts';
import type { FieldErrors } from '../../../util/field-errors.ts';
import type { PersistentVolumeClaimTemplate } from '../../facts/types/core-v1.ts';
import { validateClaimSpec } from '../../validation/claim-spec.ts';

/** All of metadata but labels and annotations, in upstream's order, as upstream writes it in a path. */
const UNUSED_METADATA: Record<string, string> = {
  name: 'name',
  generateName: 'generateName',
  namespace: 'namespace',
  selfLink: 'selfLink',
  uid: 'uID',
  resourceVersion: 'resourceVersion',
  generation: 'generation',
  creationTimestamp: 'creationTimestamp',
  deletionTimestamp: 'deletionTimestamp',
  deletionGracePeriodSeconds: 'deletionGracePeriodSeconds',
  ownerReferences: 'ownerReferences',
  finalizers: 'finalizers',
  managedFields: 'managedFields',
};

/** The claim that a pod's ephemeral volume brings along. */
export function validateClaimTemplate({ metadata, spec }: PersistentVolumeClaimTemplate, errors: FieldErrors): void {
  const at = errors.at('metadata');
  validateAnnotations(metadata.annotations, at.at('annotations'));
  validateLabels(metadata.labels, at.at('labels'));
  for (const [field, name] of Object.entries(UNUSED_METADATA)) if ((metadata as Record<string, unknown>)[field] !== undefined) at.at(name).forbidden('cannot be set');
  validateClaimSpec(spec, errors.at('spec'));
}
