import { type ApiObject, parseApiVersion, qualifiedResource } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { isJsonObject } from '../../encoding/json.ts';
import { defineResource } from '../define.ts';
import type { ControllerRevision } from '../facts/types/apps-v1.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateNonNegative } from '../validation/non-negative.ts';

/** A state of a workload's template, kept so that it can be gone back to. */
export const controllerRevisions = defineResource<ControllerRevision>('apps/v1/controllerrevisions', {
  validatesFinalizerNames: true,
  validate({ object: controllerRevision, old }, errors) {
    validateNonNegative(controllerRevision.revision, errors.at('revision'));
    if (old) validateUnchanged(controllerRevision.data, old.data, errors.at('data'));
    else validateData(controllerRevision, errors.at('data'));
  },
  validatesWhole: 'after',

  cells: {
    Controller: controllerName,
    Revision: ({ revision }) => revision,
  },
});

function validateData({ data }: ControllerRevision, errors: FieldErrors): void {
  if (data === null || data === undefined) errors.required('data is mandatory');
  else if (!isJsonObject(data)) errors.required('data must be a valid JSON object');
}

/** `statefulset.apps/web`. */
function controllerName({ metadata }: ApiObject): string {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller);
  if (!owner) return '<none>';
  const { group = '' } = parseApiVersion(owner.apiVersion) ?? {};
  return qualifiedResource({ group, resource: owner.kind }).toLowerCase() + `/${owner.name}`;
}
