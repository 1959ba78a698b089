import { apiVersionOf } from '../api/api-object.ts';
import { type FieldSet, isEmpty, recursiveDifference, setOf } from '../schema/ownership/field-set.ts';
import { fieldElement } from '../schema/ownership/path-element.ts';
import type { ResourceDefinition } from './definition.ts';

/** What one way of writing leaves of a set of fields: those that it does not reset. */
export type OwnableFields = (fields: FieldSet, apiVersion: string) => FieldSet;

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
  if (isEmpty(reset)) return ALL;
  if (definition.schema.custom === undefined) return (fields) => recursiveDifference(fields, reset);
  const resetting = versionsThatReset(definition, subresource);
  return (fields, apiVersion) => (resetting.has(apiVersion) ? recursiveDifference(fields, reset) : fields);
}

/**
 * In which versions a custom resource's fields are reset. Through its status, in all that have one; through the object itself, in that of the request alone,
 * so that a forced apply takes from owners in other versions what it does not get (apiextensions-apiserver's customresource_handler.go).
 */
function versionsThatReset({ group, version, served }: ResourceDefinition, subresource: string): ReadonlySet<string> {
  if (subresource !== 'status') return new Set([apiVersionOf(group, version)]);
  return new Set(served.filter(({ subresources }) => subresources?.includes('status')).map((one) => apiVersionOf(one.group, one.version)));
}

function usualResets(definition: ResourceDefinition, resource: string, subresource: string): readonly string[] {
  if (subresource === '') return definition.hasStatus ? ['status'] : [];
  if (subresource !== 'status') return [];
  return METADATA_RESET_BY_STATUS.has(resource) || definition.schema.custom !== undefined ? ['metadata', 'spec'] : ['spec'];
}
