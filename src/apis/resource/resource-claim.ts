import { defineResource } from '../define.ts';
import type { ResourceClaim, ResourceClaimSpec } from '../facts/types/resource-v1.ts';
import { isFeatureOn } from '../features.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { GATED_SPEC, defaultClaimSpec, printedClaimSpec, requestNames, validateResourceClaimSpec } from './claim-spec.ts';
import { dropDeallocated, validateClaimStatus } from './claim-status.ts';
import { defaultTolerations } from './taints.ts';
import { betaVersions, flattenRequests, nestRequests } from './versions.ts';

const ofResults = (...fields: string[]): string[] => fields.map((field) => `status.allocation.devices.results.*.${field}`);

const GATED_STATUS: GatedFields = [
  ['DRAResourceClaimDeviceStatus', ['status.devices']],
  ['DRADeviceBindingConditions', ofResults('bindingConditions', 'bindingFailureConditions')],
  ['DRAConsumableCapacity', [...ofResults('shareID', 'consumedCapacity'), 'status.devices.*.shareID']],
];

const GATED_RESULTS: GatedFields = [['DRAAdminAccess', ofResults('adminAccess')]];

const hasAdminAccess = ({ devices }: ResourceClaimSpec): boolean => devices.requests?.some(({ exactly }) => exactly?.adminAccess !== undefined) ?? false;

/** Devices that pods need, and what was found for them. What is asked for never changes. */
export const resourceClaims = defineResource<ResourceClaim>('resource.k8s.io/v1/resourceclaims', {
  validatesFinalizerNames: true,
  validatesInSlices: true,
  asksForRights: true,
  default: (claim) => fillDefaults(claim),
  alsoServed: betaVersions<ResourceClaim>(
    'ResourceClaim',
    (claim, _context, isFlat) => fillDefaults(claim, isFlat),
    ({ spec }) => flattenRequests(spec),
    ({ spec }) => nestRequests(spec),
  ),

  prepareForCreate: ({ object: { spec }, settings }) => dropGatedFields(GATED_SPEC, spec, undefined, settings),
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropGatedFields(GATED_SPEC, spec, old.spec, settings),

  validate({ object: { spec }, old, settings }, errors) {
    // What can not change need not be validated again.
    if (!old) validateResourceClaimSpec(spec, errors.at('spec'), settings);
  },
  validatesWhole: 'before',
  validateUpdate: ({ object: { spec }, old }, errors) => validateUnchanged(spec, old.spec, errors.at('spec'), () => printedClaimSpec(spec)),

  subresources: {
    status: {
      hasNoTable: true,
      update: {
        prepareForUpdate(write) {
          const { object: claim, old, settings } = write;
          keepMetadataForStatus(write);
          if (isFeatureOn(settings, 'DRAResourceClaimDeviceStatus') || old.status.devices) dropDeallocated(claim.status, old.status);
          dropGatedFields(GATED_STATUS, claim, old, settings);
          if (!hasAdminAccess(old.spec)) dropGatedFields(GATED_RESULTS, claim, old, settings);
        },
        validateUpdate({ object: { metadata, spec, status }, old }, errors) {
          validateFinalizerNames(metadata, errors);
          validateClaimStatus(
            status,
            old.status,
            { isDeleted: metadata.deletionTimestamp !== undefined, requests: requestNames(spec.devices) },
            errors.at('status'),
          );
        },
      },
    },
  },

  cells: { State: state },
});

function fillDefaults({ spec, status }: ResourceClaim, isFlat?: boolean): void {
  defaultClaimSpec(spec, isFlat);
  for (const result of status.allocation?.devices.results ?? []) defaultTolerations(result.tolerations);
}

/** For a table's cell. */
function state({ metadata, status }: ResourceClaim): string {
  const states: string[] = metadata.deletionTimestamp ? ['deleted'] : [];
  if (status.allocation) states.push('allocated', ...((status.reservedFor ?? []).length > 0 ? ['reserved'] : []));
  else if (!metadata.deletionTimestamp) states.push('pending');
  return states.join(',');
}
