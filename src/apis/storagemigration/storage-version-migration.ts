import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1035LabelErrors, dns1123SubdomainErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { StorageVersionMigration, StorageVersionMigrationStatus } from '../facts/types/storagemigration-v1beta1.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateConditions } from '../validation/conditions.ts';
import { validateUnchanged } from '../validation/immutable.ts';

const SUCCEEDED = 'Succeeded';
const FAILED = 'Failed';
const SHOWN_CONDITIONS = new Set(['Running', SUCCEEDED, FAILED]);

/** Asks that all objects of a resource be stored anew, in today's storage version. A controller does it. */
export const storageVersionMigrations = defineResource<StorageVersionMigration>('storagemigration.k8s.io/v1beta1/storageversionmigrations', {
  validatesFinalizerNames: true,
  allowsUnconditionalUpdate: false,

  validatesWhole: 'before',
  validate({ object: { spec } }, errors) {
    const at = errors.at('spec', 'resource');
    const { group = '', resource = '' } = spec.resource;
    if (resource === '') at.at('resource').required('resource is required to be set');
    else invalidIfAny(resource, dns1035LabelErrors(resource), at.at('resource'));
    if (group !== '') invalidIfAny(group, dns1123SubdomainErrors(group), at.at('group'));
  },
  validateUpdate: ({ object: { spec }, old }, errors) => validateUnchanged(spec, old.spec, errors.at('spec'), () => ({ Resource: spec.resource })),

  subresources: {
    status: {
      update: {
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate: ({ object: { status }, old }, errors) => validateStatus(status, old.status, errors.at('status')),
      },
    },
  },

  cells: {
    Resource: ({ spec: { resource } }) => (resource.group ? `${resource.resource}.${resource.group}` : resource.resource),
    Status: ({ status }) =>
      (status.conditions ?? []).findLast((condition) => condition.status === 'True' && SHOWN_CONDITIONS.has(condition.type))?.type ?? 'Unknown',
  },
});

function invalidIfAny(value: string, problems: readonly string[], errors: FieldErrors): void {
  if (problems.length > 0) errors.invalid(value, problems.join(','));
}

function validateStatus(status: StorageVersionMigrationStatus, old: StorageVersionMigrationStatus, errors: FieldErrors): void {
  const { resourceVersion = '', conditions } = status;
  if (resourceVersion !== '' && !/^[1-9][0-9]*$/.test(resourceVersion))
    errors.at('resourceVersion').invalid(resourceVersion, `resource version is not well formed: ${resourceVersion}`);
  validateConditions(conditions, errors.at('conditions'));
  if (old.resourceVersion && old.resourceVersion !== resourceVersion) errors.at('resourceVersion').invalid(resourceVersion, 'field is immutable');
  const at = errors.at('conditions');
  if (isTrue(status, SUCCEEDED) && isTrue(status, FAILED)) at.invalid(conditions, 'Both success and failed conditions cannot be true at the same time');
  if (isTrue(old, SUCCEEDED) && !isTrue(status, SUCCEEDED)) at.invalid(conditions, 'Success condition cannot be set to false once it is true');
  if (isTrue(old, FAILED) && !isTrue(status, FAILED)) at.invalid(conditions, 'Failed condition cannot be set to false once it is true');
}

const isTrue = ({ conditions = [] }: StorageVersionMigrationStatus, type: string): boolean =>
  conditions.find((condition) => condition.type === type)?.status === 'True';
