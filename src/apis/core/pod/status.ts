import type { Change, KindSettings } from '../../../registry/write.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { dns1123LabelErrors, qualifiedNameErrors, subdomainName } from '../../../api/names.ts';
import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodExtendedResourceClaimStatus,
  PodResourceClaimStatus,
  PodSpec,
  PodStatus,
  ResourceStatus,
} from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { ipFamilyOf, validateLegacyIp } from '../../validation/ip-address.ts';
import { internalPodPart } from './internal-form.ts';
import { canRestartAll, restartsAfter } from './restart-policy.ts';
import { validateId } from './security-context.ts';

/** What a kubelet or scheduler may say of a pod (ValidatePodStatusUpdate). */
const OWN_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized']);
const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];
const HEALTH_MESSAGE_MAX_BYTES = 1024;
const NOT_NEGATIVE = 'must be a non-negative integer';

/** `errors` stands at the status. */
export function validatePodStatus({ object: pod, old, settings }: Change<Pod>, errors: FieldErrors): void {
  const { spec, status } = pod;
  validateConditions(status.conditions ?? [], errors.at('conditions'));
  validateNominatedNode(pod, old, errors.at('nominatedNodeName'), settings);
  if ((status.observedGeneration ?? 0) < 0) errors.at('observedGeneration').invalid(status.observedGeneration, NOT_NEGATIVE);
  if ((status.qosClass ?? '') !== (old.status.qosClass ?? '')) errors.at('qosClass').invalid(status.qosClass ?? '', 'field is immutable');
  validateTransitions(status, old, errors);
  validateClaimStatuses(status.resourceClaimStatuses ?? [], spec, errors.at('resourceClaimStatuses'));
  if (status.extendedResourceClaimStatus) validateExtendedClaim(status.extendedResourceClaimStatus, spec, errors.at('extendedResourceClaimStatus'));
  validatePodIps(status, old.status, errors.at('podIPs'), settings);
  validateHostIps(status, old.status, errors.at('hostIPs'), settings);
  for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const)
    validateUsers(status[list] ?? [], spec, errors.at(list));
  validateAllocated(status.containerStatuses ?? [], spec.containers ?? [], errors.at('containerStatuses'));
  validateAllocated(status.initContainerStatuses ?? [], spec.initContainers ?? [], errors.at('initContainerStatuses'));
  for (const [index, { allocatedResourcesStatus }] of (status.ephemeralContainerStatuses ?? []).entries()) {
    if (allocatedResourcesStatus)
      errors.at('ephemeralContainerStatuses').index(index).at('allocatedResourcesStatus').forbidden('must not be specified in container status');
  }
}

function validateConditions(conditions: readonly PodCondition[], errors: FieldErrors): void {
  for (const [index, { type, observedGeneration = 0 }] of conditions.entries()) {
    const at = errors.index(index);
    if (observedGeneration < 0) at.at('observedGeneration').invalid(observedGeneration, NOT_NEGATIVE);
    if (!OWN_CONDITIONS.has(type)) for (const error of qualifiedNameErrors(type)) at.at('Type').invalid(type, error);
  }
}

function validateNominatedNode({ status }: Pod, old: Pod, errors: FieldErrors, settings: KindSettings): void {
  const node = status.nominatedNodeName;
  if (!node || node === old.status.nominatedNodeName) return;
  for (const error of subdomainName(node, false)) errors.invalid(node, error);
  if (old.spec.nodeName && isFeatureOn(settings, 'ClearingNominatedNodeNameAfterBinding'))
    errors.forbidden('may not be set on pods that are already bound to a node');
}

/** A container that has ended may run again only where it is to be restarted. */
function validateTransitions(status: PodStatus, old: Pod, errors: FieldErrors): void {
  const { spec } = old;
  if (!canRestartAll(spec)) {
    validateStillEnded(status.containerStatuses, old.status.containerStatuses, errors.at('containerStatuses'), spec.containers ?? [], spec);
    validateStillEnded(status.initContainerStatuses, old.status.initContainerStatuses, errors.at('initContainerStatuses'), spec.initContainers ?? [], spec);
  }
  validateStillEnded(status.ephemeralContainerStatuses, old.status.ephemeralContainerStatuses, errors.at('ephemeralContainerStatuses'), [], spec);
}

function validateStillEnded(
  statuses: readonly ContainerStatus[] = [],
  old: readonly ContainerStatus[] = [],
  errors: FieldErrors,
  containers: readonly Container[],
  spec: PodSpec,
): void {
  const going = new Set(statuses.filter(({ state }) => !state.terminated).map(({ name }) => name));
  const byName = containersByName(containers);
  for (const [index, { name, state }] of old.entries()) {
    const { terminated } = state;
    if (!terminated || !going.has(name)) continue;
    const container = byName.get(name);
    if (!container || !restartsAfter(container, spec, terminated.exitCode))
      errors.index(index).at('state').forbidden('may not be transitioned to non-terminated state');
  }
}

const containersByName = (containers: readonly Container[]): Map<string, Container> => new Map(containers.map((container) => [container.name, container]));

function validateClaimStatuses(statuses: readonly PodResourceClaimStatus[], spec: PodSpec, errors: FieldErrors): void {
  const names = new Set<string>();
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  for (const [index, { name, resourceClaimName }] of statuses.entries()) {
    const at = errors.index(index);
    if (!claims.has(name)) at.at('name').invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
    if (names.has(name)) at.at('name').duplicate(name);
    names.add(name);
    if (resourceClaimName !== undefined)
      for (const error of subdomainName(resourceClaimName, false)) at.at('resourceClaimName').invalidTyped(resourceClaimName, error);
  }
}

function validateExtendedClaim({ requestMappings, resourceClaimName }: PodExtendedResourceClaimStatus, spec: PodSpec, errors: FieldErrors): void {
  const containers = containersByName([...(spec.initContainers ?? []), ...(spec.containers ?? [])]);
  const mappings = requestMappings ?? [];
  const seen = new Set<string>();
  if (mappings.length === 0) errors.at('requestMappings').required('at least one request mapping is required');
  for (const [index, { containerName, resourceName, requestName }] of mappings.entries()) {
    const at = errors.at('requestMappings').index(index);
    const container = containers.get(containerName);
    if (!container) at.at('containerName').invalid(containerName, 'must match the name of an entry in spec.initContainers.name or spec.containers.name');
    else if (!Object.hasOwn(container.resources.requests ?? {}, resourceName)) {
      at.at('resourceName').invalid(
        resourceName,
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
      );
    }
    for (const error of dns1123LabelErrors(requestName)) errors.at('requestName').invalid(requestName, error);
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) for (const [field, value] of Object.entries({ containerName, resourceName, requestName })) at.at(field).duplicate(value);
    seen.add(key);
  }
  if (resourceClaimName === '') errors.at('resourceClaimName').required();
  else for (const error of subdomainName(resourceClaimName, false)) errors.at('resourceClaimName').invalid(resourceClaimName, error);
}

function validatePodIps({ podIPs = [] }: PodStatus, old: PodStatus, errors: FieldErrors, settings: KindSettings): void {
  const former = new Set((old.podIPs ?? []).map(({ ip }) => ip));
  for (const [index, { ip }] of podIPs.entries()) validateLegacyIp(ip, errors.index(index), settings, former);
  validateDualStack(podIPs, 'PodIP', errors);
}

function validateHostIps({ hostIP = '', hostIPs = [] }: PodStatus, old: PodStatus, errors: FieldErrors, settings: KindSettings): void {
  if (hostIPs.length === 0) return;
  const first = hostIPs[0]!.ip;
  if (hostIP !== first) errors.index(0).at('ip').invalid(first, 'must be equal to `hostIP`');
  const former = new Set((old.hostIPs ?? []).map(({ ip }) => ip));
  for (const [index, { ip }] of hostIPs.entries()) validateLegacyIp(ip, errors.index(index), settings, former);
  validateDualStack(hostIPs, 'HostIP', errors);
}

/** At most one address of each family. */
function validateDualStack(addresses: readonly { ip: string }[], type: 'PodIP' | 'HostIP', errors: FieldErrors): void {
  if (addresses.length < 2) return;
  const wrong = addresses.findIndex(({ ip }) => ipFamilyOf(ip) === undefined);
  if (wrong >= 0) errors.internal(`failed to check for dual stack with error:invalid IP[${wrong}]: ${addresses[wrong]!.ip}`);
  const isDual = wrong < 0 && new Set(addresses.map(({ ip }) => ipFamilyOf(ip))).size === 2;
  if (!isDual || addresses.length > 2)
    errors.invalid(
      addresses.map((address) => internalPodPart(type, address)),
      'may specify no more than one IP for each IP family',
    );
}

function validateUsers(statuses: readonly ContainerStatus[], spec: PodSpec, errors: FieldErrors): void {
  const os = spec.os?.name ?? 'linux';
  for (const [index, { user }] of statuses.entries()) {
    if (!user?.linux) continue;
    const at = errors.index(index).at('user', 'linux');
    if (os === 'windows') at.forbidden('cannot be set for a windows pod');
    if (os !== 'linux') continue;
    validateId(user.linux.uid, at.at('uid'));
    validateId(user.linux.gid, at.at('gid'));
    for (const [groupIndex, group] of (user.linux.supplementalGroups ?? []).entries()) validateId(group, at.at('supplementalGroups').index(groupIndex));
  }
}

/** How the devices are that a container was given (KEP-4680). */
function validateAllocated(statuses: readonly ContainerStatus[], containers: readonly Container[], errors: FieldErrors): void {
  const byName = containersByName(containers);
  for (const [index, { name, allocatedResourcesStatus = [] }] of statuses.entries()) {
    const container = byName.get(name);
    for (const [resourceIndex, resource] of allocatedResourcesStatus.entries()) {
      const at = errors.index(index).at('allocatedResourcesStatus').index(resourceIndex);
      if (container) validateAllocatedName(resource.name, container, at.at('name'));
      validateHealths(resource, at.at('resources'));
    }
  }
}

function validateAllocatedName(name: string, { resources }: Container, errors: FieldErrors): void {
  if (name.startsWith('claim:')) {
    const claims = (resources.claims ?? []).map((claim) => `claim:${claim.name}${claim.request ? `/${claim.request}` : ''}`);
    if (!claims.includes(name))
      errors.invalid(
        name,
        "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
      );
  } else if (!Object.hasOwn(resources.requests ?? {}, name)) errors.invalid(name, "must match one of the container's resource requests");
}

function validateHealths({ resources = [] }: ResourceStatus, errors: FieldErrors): void {
  const ids = new Set<string>();
  for (const [index, { resourceID, health = '', message }] of resources.entries()) {
    const at = errors.index(index);
    if (!HEALTH.includes(health)) at.at('health').notSupported(health, HEALTH);
    if (message === '') at.at('message').required('must be non-empty if specified');
    else if (message !== undefined && Buffer.byteLength(message) > HEALTH_MESSAGE_MAX_BYTES) at.at('message').tooLong(HEALTH_MESSAGE_MAX_BYTES);
    if (ids.has(resourceID)) at.at('resourceID').duplicateTyped(resourceID);
    ids.add(resourceID);
  }
}
