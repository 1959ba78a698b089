import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { PodGroup, PodGroupSpec, PodGroupStatus, PodGroupTemplateReference } from '../facts/types/scheduling-v1alpha2.ts';
import { isFeatureOn } from '../features.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateConditions } from '../validation/conditions.ts';
import {
  dropDisabledGroupFields,
  validateGroup,
  validateName,
  validateOptionalName,
  validateUnion,
  validateUnchanged,
  validateUniqueNames,
} from './pod-group-rules.ts';

const MAX_CLAIM_STATUSES = 4;
/** Fields that stay as they were made, in the order in which they are looked at. */
const IMMUTABLE = [
  'podGroupTemplateRef',
  'schedulingPolicy',
  'schedulingConstraints',
  'resourceClaims',
  'disruptionMode',
  'priorityClassName',
  'priority',
] as const satisfies readonly (keyof PodGroupSpec)[];

/** Pods that are scheduled together, or not at all (KEP-4671). */
export const podGroups = defineResource<PodGroup>('scheduling.k8s.io/v1alpha2/podgroups', {
  validatesFinalizerNames: true,
  default({ spec }) {
    spec.disruptionMode ??= 'Pod';
  },
  prepareForCreate: ({ object: { spec }, settings }) => dropDisabledGroupFields(spec, undefined, settings),
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropDisabledGroupFields(spec, old.spec, settings),

  validate({ object: { spec } }, errors) {
    if (spec.podGroupTemplateRef) validateTemplateReference(spec.podGroupTemplateRef, errors.at('spec', 'podGroupTemplateRef'));
    validateGroup(spec, errors.at('spec'));
  },
  validateUpdate: ({ object: { spec }, old }, errors) => validateUnchanged(spec, old.spec, IMMUTABLE, errors.at('spec')),

  subresources: {
    status: {
      update: {
        prepareForUpdate(write) {
          const { object: group, old, settings } = write;
          keepMetadataForStatus(write);
          if (!isFeatureOn(settings, 'DRAWorkloadResourceClaims') && !old.spec.resourceClaims) delete group.status.resourceClaimStatuses;
        },
        validateUpdate: ({ object: { spec, status }, old }, errors) => validateStatus(status, old.status, spec, errors.at('status')),
      },
    },
  },

  cells: {
    Policy: ({ spec }) => (spec.schedulingPolicy.gang ? 'Gang' : 'Basic'),
    Workload: ({ spec }) => spec.podGroupTemplateRef?.workload?.workloadName ?? '<none>',
    Status: statusCell,
  },
});

function validateTemplateReference({ workload }: PodGroupTemplateReference, errors: FieldErrors): void {
  validateUnion({ workload }, errors);
  if (!workload) return;
  validateName(workload.workloadName, dns1123SubdomainErrors, errors.at('workload', 'workloadName'));
  validateName(workload.podGroupTemplateName, dns1123LabelErrors, errors.at('workload', 'podGroupTemplateName'));
}

function validateStatus({ conditions, resourceClaimStatuses = [] }: PodGroupStatus, old: PodGroupStatus, spec: PodGroupSpec, errors: FieldErrors): void {
  validateConditions(conditions, errors.at('conditions'));
  const at = errors.at('resourceClaimStatuses');
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  for (const [index, { name }] of resourceClaimStatuses.entries())
    if (!claims.has(name)) at.index(index).at('name').invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
  if (equalJson(resourceClaimStatuses, old.resourceClaimStatuses ?? [])) return;
  if (resourceClaimStatuses.length > MAX_CLAIM_STATUSES) return at.tooMany(resourceClaimStatuses.length, MAX_CLAIM_STATUSES);
  validateUniqueNames(resourceClaimStatuses, at);
  for (const [index, { resourceClaimName }] of resourceClaimStatuses.entries())
    validateOptionalName(resourceClaimName, at.index(index).at('resourceClaimName'));
}

/** Of conditions of one type, the last counts. */
function statusCell({ status: { conditions = [] } }: PodGroup): string {
  const disrupted = conditions.findLast(({ type }) => type === 'DisruptionTarget');
  const scheduled = conditions.findLast(({ type }) => type === 'PodGroupScheduled');
  if (disrupted) return disrupted.reason;
  if (!scheduled) return 'Pending';
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}
