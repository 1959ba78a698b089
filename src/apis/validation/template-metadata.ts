import { validateAnnotations, validateLabels } from '../../registry/metadata.ts';
import type { ObjectMeta } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import type { EmptyPaths } from '../../schema/empty-paths.ts';

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

/** Of a claim that is yet to be made from a template: labels and annotations are copied, nothing else has a meaning, and may not be sent empty either. */
export function validateTemplateMetadata(metadata: ObjectMeta, sentEmpty: EmptyPaths, errors: FieldErrors): void {
  validateAnnotations(metadata.annotations, errors.at('annotations'));
  validateLabels(metadata.labels, errors.at('labels'));
  for (const [field, name] of Object.entries(UNUSED_METADATA))
    if ((metadata as Record<string, unknown>)[field] !== undefined || sentEmpty.has(field)) errors.at(name).forbidden('cannot be set');
}
