import type { AdmissionController, AdmissionAttributes } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import { resourceAttributes } from '../../api/authorization.ts';
import { type ApiError, forbidden } from '../../api/errors.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { serviceAccountOf, type User } from '../../api/user.ts';
import type { AllocatedDeviceStatus, AllocationResult, ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate } from '../facts/types/resource-v1.ts';

const GROUP = 'resource.k8s.io';
const ADMIN_LABEL = 'resource.kubernetes.io/admin-access';
const NODE_NAME_EXTRA = 'authentication.kubernetes.io/node-name';
const NOT_ADMIN = `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`;

/** Answers with the labels of a namespace; undefined where there is none of that name. */
export type NamespaceLabels = (namespace: string) => Record<string, string> | undefined;

/**
 * Who may have devices that others use (only in namespaces that are marked for it), and who may write which part of a claim's status
 * (KEP-5018; pkg/registry/resource/utils.go).
 */
export function claimAccessCheck(authorizer: Authorizer, labelsOf: NamespaceLabels): Required<Pick<AdmissionController, 'rights'>> {
  return {
    async rights(attributes) {
      const { group, resource, subresource, operation, object } = attributes;
      if (group !== GROUP || object === undefined) return [];
      const errors = new FieldErrors();
      if (operation === 'CREATE' && resource === 'resourceclaims') checkAdmin((object as ResourceClaim).spec.devices.requests, attributes, labelsOf, errors);
      if (operation === 'CREATE' && resource === 'resourceclaimtemplates')
        checkAdmin((object as ResourceClaimTemplate).spec.spec.devices.requests, attributes, labelsOf, errors);
      if (operation === 'UPDATE' && resource === 'resourceclaims' && subresource === 'status') await checkStatus(authorizer, attributes, labelsOf, errors);
      return errors.list;
    },
  };
}

const isMarked = (namespace: string, labelsOf: NamespaceLabels): boolean => labelsOf(namespace)?.[ADMIN_LABEL] === 'true';

function checkAdmin(
  requests: ResourceClaim['spec']['devices']['requests'],
  { namespace }: AdmissionAttributes,
  labelsOf: NamespaceLabels,
  errors: FieldErrors,
): void {
  const index = (requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  if (index >= 0 && !isMarked(namespace, labelsOf)) errors.at('spec', 'devices', 'requests').index(index).at('adminAccess').forbidden(NOT_ADMIN);
}

async function checkStatus(authorizer: Authorizer, attributes: AdmissionAttributes, labelsOf: NamespaceLabels, errors: FieldErrors): Promise<void> {
  const { status } = attributes.object as ResourceClaim;
  const before = (attributes.oldObject as ResourceClaim).status;
  const granted = grantedIndex(status);
  if (granted >= 0 && grantedIndex(before) < 0 && !isMarked(attributes.namespace, labelsOf))
    errors.at('status', 'allocation', 'devices', 'results').index(granted).at('adminAccess').forbidden(NOT_ADMIN);
  await checkBinding(authorizer, attributes, status, before, errors.at('status', 'allocation'));
  // Without an allocation, all status of devices is dropped.
  if (status.allocation) await checkDevices(authorizer, attributes, status, before, errors.at('status', 'devices'));
}

const grantedIndex = ({ allocation }: ResourceClaimStatus): number => (allocation?.devices.results ?? []).findIndex(({ adminAccess }) => adminAccess === true);

async function checkBinding(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  status: ResourceClaimStatus,
  before: ResourceClaimStatus,
  errors: FieldErrors,
): Promise<void> {
  if (equalJson(status.allocation, before.allocation) && equalJson(status.reservedFor, before.reservedFor)) return;
  const verb = verbOf(attributes);
  const refusal = await refusalOf(authorizer, attributes, { verb, subresource: 'binding', namespace: '', name: '' });
  if (refusal)
    errors.forbidden(
      `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${refusal.message}`,
    );
}

/** A driver's own account may write for devices on its node; for others a wider right is needed. */
async function checkDevices(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  status: ResourceClaimStatus,
  before: ResourceClaimStatus,
  errors: FieldErrors,
): Promise<void> {
  const verb = verbOf(attributes);
  const verbs = [...(isOnNode(attributes.user, nodeOf(status.allocation)) ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`];
  for (const driver of changedDrivers(status.devices ?? [], before.devices ?? [])) {
    const refusals: ApiError[] = [];
    for (const each of verbs) {
      const refusal = await refusalOf(authorizer, attributes, { verb: each, subresource: 'driver', namespace: attributes.namespace, name: driver });
      if (!refusal) break;
      refusals.push(refusal);
    }
    if (refusals.length === verbs.length)
      errors.forbidden(`changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: ${refusals[0]!.message}`);
  }
}

const verbOf = ({ options }: AdmissionAttributes): string => ((options as { kind?: string }).kind === 'PatchOptions' ? 'patch' : 'update');

const keyOf = ({ driver, pool, device, shareID = '' }: AllocatedDeviceStatus): string => JSON.stringify([driver, pool, device, shareID]);

function changedDrivers(devices: readonly AllocatedDeviceStatus[], before: readonly AllocatedDeviceStatus[]): string[] {
  const left = new Map(before.map((device) => [keyOf(device), device]));
  const changed = new Set<string>();
  for (const device of devices) {
    if (!equalJson(left.get(keyOf(device)), device)) changed.add(device.driver);
    left.delete(keyOf(device));
  }
  for (const { driver } of left.values()) changed.add(driver);
  return [...changed].toSorted();
}

/** The one node that an allocation is bound to; '' where it is not bound to one. */
function nodeOf(allocation: AllocationResult | undefined): string {
  const [term, ...otherTerms] = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const [field, ...otherFields] = term?.matchFields ?? [];
  if (!field || otherTerms.length > 0 || otherFields.length > 0 || (term?.matchExpressions ?? []).length > 0) return '';
  const isName = field.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1;
  return isName ? field.values![0]! : '';
}

function isOnNode({ name, extra }: User, node: string): boolean {
  const nodes = extra?.[NODE_NAME_EXTRA] ?? [];
  return node !== '' && serviceAccountOf(name) !== undefined && nodes.length === 1 && nodes[0] === node;
}

async function refusalOf(
  authorizer: Authorizer,
  { user, version, resource }: AdmissionAttributes,
  asked: { verb: string; subresource: string; namespace: string; name: string },
): Promise<ApiError | undefined> {
  const { decision, reason, error } = await authorizer.authorize(resourceAttributes({ ...asked, user, apiGroup: GROUP, apiVersion: version, resource }));
  if (decision === 'allow') return undefined;
  const why = [error, reason].filter(Boolean).join(': ');
  const where = asked.namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(asked.namespace)}`;
  const message = `User ${quote(user.name)} cannot ${asked.verb} resource ${quote(`${resource}/${asked.subresource}`)} in API group ${quote(GROUP)} ${where}`;
  return forbidden({ group: GROUP, resource }, asked.name, why === '' ? message : `${message}: ${why}`);
}
