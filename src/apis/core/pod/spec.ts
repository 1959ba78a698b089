import { NOTHING_EMPTY } from '../../../schema/empty-paths.ts';
import type { KindSettings } from '../../../registry/write.ts';
import { validateLabels } from '../../../registry/metadata.ts';
import type { ObjectMeta } from '../../../api/api-object.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, qualifiedNameErrors, subdomainName } from '../../../api/names.ts';
import type { HostAlias, PodResourceClaim, PodSchedulingGate, PodSchedulingGroup, PodSpec, Volume } from '../../facts/types/core-v1.ts';
import { validateChoice, validateOptionalChoice } from '../../validation/choice.ts';
import { validateLegacyIp } from '../../validation/ip-address.ts';
import { inclusiveRangeError } from '../../validation/ports.ts';
import { validateAffinity } from './affinity.ts';
import { MIRROR } from './annotations.ts';
import { validateAllContainers } from './containers.ts';
import { containersAt } from './containers-of.ts';
import { validateDnsConfig } from './dns.ts';
import { internalPodPart } from './internal-form.ts';
import { validateOverhead, validatePodResources } from './resources.ts';
import type { PodRules } from './rules.ts';
import { validatePodSecurity } from './security-context.ts';
import { validateTolerations } from './tolerations.ts';
import { validateTopologySpread } from './topology-spread.ts';
import { validateVolumes } from './volumes.ts';
import { validateForOs, validateHostProcesses } from './windows.ts';
import { checkEach } from '../../../api/validation-run.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const SYSTEMS = ['linux', 'windows'];
const MAX_INT32 = 2 ** 31 - 1;
const HOSTNAME_MAX_BYTES = 64;

/** The whole of a pod's spec, in upstream's order of checks. `metadata` is a pod's own, and absent for a template. */
export function validatePodSpec(spec: PodSpec, metadata: ObjectMeta | undefined, errors: FieldErrors, rules: PodRules, sentEmpty = NOTHING_EMPTY): void {
  if (spec.terminationGracePeriodSeconds === undefined) errors.at('terminationGracePeriodSeconds').required();
  const volumes = validateVolumes(spec.volumes ?? [], metadata, errors.at('volumes'), rules, sentEmpty.at('volumes'));
  const claims = spec.resourceClaims ?? [];
  const claimNames = new Set(claims.map(({ name }) => name).filter((name) => name !== ''));
  validateResourceClaims(claims, metadata, errors.at('resourceClaims'));
  validateAllContainers({ spec, volumes, claimNames, rules, sentEmpty }, errors);
  if (spec.resources) validatePodResources(spec, spec.resources, claimNames, errors, rules);
  if (spec.hostNetwork) validateHostNetworkPorts(spec, errors.at('containers'), rules);
  validateChoice(spec.restartPolicy, RESTART_POLICIES, errors.at('restartPolicy'));
  validateChoice(spec.dnsPolicy, DNS_POLICIES, errors.at('dnsPolicy'));
  validateLabels(spec.nodeSelector, errors.at('nodeSelector'));
  if (spec.securityContext) validatePodSecurity(spec.securityContext, spec, errors.at('securityContext'), rules);
  if (spec.affinity) validateAffinity(spec.affinity, errors.at('affinity'), rules);
  validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, errors.at('dnsConfig'), rules.settings);
  checkEach(errors, 'readinessGates', spec.readinessGates ?? [], ({ conditionType }, index) => {
    for (const error of qualifiedNameErrors(conditionType)) errors.at('readinessGates').index(index).at('conditionType').invalid(conditionType, error);
  });
  validateSchedulingGates(spec.schedulingGates ?? [], errors.at('schedulingGates'));
  if (spec.topologySpreadConstraints) validateTopologySpread(spec.topologySpreadConstraints, errors.at('topologySpreadConstraints'), rules);
  validateHostProcesses(spec, errors, rules.settings);
  if (spec.hostUsers === false) validateUserNamespace(spec, errors, rules);
  if (spec.hostnameOverride !== undefined) validateHostnameOverride(spec.hostnameOverride, spec, errors.at('hostnameOverride'));
  validateNames(spec, errors);
  if (spec.tolerations) validateTolerations(spec.tolerations, errors.at('tolerations'), rules);
  validateHostAliases(spec.hostAliases ?? [], errors.at('hostAliases'), rules.settings);
  validateName(spec.priorityClassName, errors.at('priorityClassName'));
  if (spec.runtimeClassName !== undefined)
    for (const error of subdomainName(spec.runtimeClassName, false)) errors.at('runtimeClassName').invalid(spec.runtimeClassName, error);
  if (spec.preemptionPolicy !== undefined) validateChoice(spec.preemptionPolicy, PREEMPTION_POLICIES, errors.at('preemptionPolicy'));
  if (spec.overhead) validateOverhead(spec.overhead, errors.at('overhead'), rules);
  if (spec.os) validateOs(spec, errors);
  if (spec.schedulingGroup) validateSchedulingGroup(spec.schedulingGroup, errors.at('schedulingGroup', 'podGroupName'));
  validateFileVolumes(spec, errors);
}

function validateSchedulingGroup({ podGroupName }: PodSchedulingGroup, errors: FieldErrors): void {
  if (podGroupName === undefined) errors.invalid(null, 'must specify one of: `podGroupName`');
  else validateName(podGroupName, errors);
}

function validateResourceClaims(claims: readonly PodResourceClaim[], metadata: ObjectMeta | undefined, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (metadata?.annotations?.[MIRROR] !== undefined) new FieldErrors('', errors.list).forbidden('static pods do not support resource claims');
    else validateResourceClaim(claim, names, errors.index(index));
  }
}

function validateResourceClaim(claim: PodResourceClaim, names: Set<string>, errors: FieldErrors): void {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  if (name === '') errors.at('name').required();
  else if (names.has(name)) errors.at('name').duplicate(name);
  else for (const error of dns1123LabelErrors(name)) errors.at('name').invalid(name, error);
  names.add(name);
  const shown = (): unknown => internalPodPart('PodResourceClaim', claim);
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
    errors.invalid(shown(), 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified');
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
    errors.invalid(shown(), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
  for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
    const value = claim[field];
    if (value !== undefined) for (const error of subdomainName(value, false)) errors.at(field).invalid(value, error);
  }
}

/** On the host's network a container's port is the host's. A template may leave it open: the pod's defaults fill it in. */
function validateHostNetworkPorts(spec: PodSpec, errors: FieldErrors, { isPod }: PodRules): void {
  for (const [index, { ports = [] }] of (spec.containers ?? []).entries()) {
    for (const [portIndex, { hostPort = 0, containerPort }] of ports.entries()) {
      if ((isPod || hostPort !== 0) && hostPort !== containerPort)
        errors.index(index).at('ports').index(portIndex).at('hostPort').invalid(hostPort, 'must match `containerPort` when `hostNetwork` is true');
    }
  }
}

function validateSchedulingGates(gates: readonly PodSchedulingGate[], errors: FieldErrors): void {
  const check = ({ name }: PodSchedulingGate, index: number, names: Set<string>): void => {
    for (const error of qualifiedNameErrors(name)) errors.index(index).invalid(name, error);
    if (names.has(name)) errors.index(index).duplicate(name);
    names.add(name);
  };
  checkEach(errors, 'gates', gates, check, () => new Set<string>());
}

/** A pod with users of its own shares no other namespace with the host (KEP-127). */
function validateUserNamespace(spec: PodSpec, errors: FieldErrors, rules: PodRules): void {
  const why = 'when `hostUsers` is false';
  if (spec.hostNetwork && !rules.allowsHostNetworkWithUserNamespace) errors.at('hostNetwork').forbidden(why);
  if (spec.hostPID) errors.at('HostPID').forbidden(why);
  if (spec.hostIPC) errors.at('HostIPC').forbidden(why);
  if (rules.allowsVolumeDevicesWithUserNamespace) return;
  for (const [{ volumeDevices }, at] of containersAt(spec, errors)) if (volumeDevices) at.at('volumeDevices').forbidden(why);
}

function validateHostnameOverride(hostname: string, { setHostnameAsFQDN, hostNetwork }: PodSpec, errors: FieldErrors): void {
  if (setHostnameAsFQDN) errors.forbidden('may not be specified when setHostnameAsFQDN is true');
  if (hostNetwork) errors.forbidden('may not be specified when hostNetwork is true');
  if (Buffer.byteLength(hostname) > HOSTNAME_MAX_BYTES) errors.tooLong(HOSTNAME_MAX_BYTES);
  for (const error of dns1123SubdomainErrors(hostname)) errors.invalid(hostname, error);
}

function validateNames(spec: PodSpec, errors: FieldErrors): void {
  validateName(spec.serviceAccountName, errors.at('serviceAccountName'));
  validateName(spec.nodeName, errors.at('nodeName'));
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) errors.at('activeDeadlineSeconds').invalid(deadline, inclusiveRangeError(1, MAX_INT32));
  if (spec.hostname) for (const error of dns1123LabelErrors(spec.hostname)) errors.at('hostname').invalid(spec.hostname, error);
  if (spec.subdomain) for (const error of dns1123LabelErrors(spec.subdomain)) errors.at('subdomain').invalid(spec.subdomain, error);
}

/** The name of another object, if there is one. */
function validateName(name: string | undefined, errors: FieldErrors): void {
  if (name) for (const error of subdomainName(name, false)) errors.invalid(name, error);
}

function validateHostAliases(aliases: readonly HostAlias[], errors: FieldErrors, settings: KindSettings): void {
  checkEach(errors, 'aliases', aliases, ({ ip, hostnames = [] }, index) => {
    const at = errors.index(index);
    validateLegacyIp(ip, at.at('ip'), settings);
    checkEach(at, 'hostnames', hostnames, (name, nameIndex) => {
      for (const error of dns1123SubdomainErrors(name)) at.at('hostnames').index(nameIndex).invalid(name, error);
    });
  });
}

function validateOs(spec: PodSpec, errors: FieldErrors): void {
  const { name } = spec.os!;
  if (name === '') errors.at('os', 'name').required();
  else if (SYSTEMS.includes(name)) validateForOs(spec, errors);
  else validateOptionalChoice(name, SYSTEMS, errors.at('os'));
}

/** Variables that come out of files need a volume that the pod alone writes. */
function validateFileVolumes(spec: PodSpec, errors: FieldErrors): void {
  let volumes: Map<string, Volume> | undefined;
  for (const [{ env }, at] of containersAt(spec, errors)) {
    if (!env) continue;
    for (const [index, { valueFrom }] of env.entries()) {
      if (!valueFrom?.fileKeyRef) continue;
      volumes ??= new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
      const { volumeName } = valueFrom.fileKeyRef;
      const volume = volumes.get(volumeName);
      const place = at.at('env').index(index).at('valueFrom', 'fileKeyRef', 'volumeName');
      if (!volume) place.notFound(volumeName);
      else if (!volume.emptyDir) place.invalid(volumeName, 'referenced volume must be of type emptyDir');
    }
  }
}
