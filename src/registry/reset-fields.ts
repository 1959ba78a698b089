import { type FieldSet, isEmpty, recursiveDifference, setOf } from '../schema/ownership/field-set.ts';
import { fieldElement } from '../schema/ownership/path-element.ts';
import type { ResourceDefinition } from './definition.ts';

/** What one way of writing leaves of a set of fields: those that it does not reset. */
export type OwnableFields = (fields: FieldSet) => FieldSet;

/**
 * Where a kind's strategy resets other fields than most do: by resource, or resource and subresource, the fields that are reset (upstream's
 * GetResetFields). Most reset `status` through the object, and `spec` through its status.
 */
const RESETS: Readonly<Record<string, readonly string[]>> = {
  nodes: ['status'],
  'pods/status': ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
  'deployments.apps/status': ['spec', 'metadata.labels'],
  'namespaces/finalize': ['status'],
  'certificatesigningrequests.certificates.k8s.io': ['spec', 'status'],
  'certificatesigningrequests.certificates.k8s.io/status': ['spec', 'status.conditions'],
  'certificatesigningrequests.certificates.k8s.io/approval': ['spec', 'status.certificate'],
  'podcertificaterequests.certificates.k8s.io': [],
};

/** Those whose status strategy resets metadata too. */
const METADATA_RESET_BY_STATUS = new Set([
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'storageversions.internal.apiserver.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'servicecidrs.networking.k8s.io',
  'devicetaintrules.resource.k8s.io',
  'resourceclaims.resource.k8s.io',
  'resourcepoolstatusrequests.resource.k8s.io',
  'podgroups.scheduling.k8s.io',
  'volumeattachments.storage.k8s.io',
  'storageversionmigrations.storagemigration.k8s.io',
  'apiservices.apiregistration.k8s.io',
]);

const ALL: OwnableFields = (fields) => fields;

export function ownableFields(definition: ResourceDefinition, subresource: string): OwnableFields {
  const resource = definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`;
  const key = subresource === '' ? resource : `${resource}/${subresource}`;
  const reset = setOf(...(RESETS[key] ?? usualResets(definition, resource, subresource)).map((path) => path.split('.').map(fieldElement)));
  return isEmpty(reset) ? ALL : (fields) => recursiveDifference(fields, reset);
}

function usualResets(definition: ResourceDefinition, resource: string, subresource: string): readonly string[] {
  if (subresource === '') return definition.hasStatus ? ['status'] : [];
  if (subresource !== 'status') return [];
  return METADATA_RESET_BY_STATUS.has(resource) || definition.schema.custom !== undefined ? ['metadata', 'spec'] : ['spec'];
}
