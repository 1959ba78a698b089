import { invalid } from '../../../util/errors.ts';
import { FieldErrors } from '../../../util/field-errors.ts';
import { equalJson } from '../../../util/json-equal.ts';
import type { Service, ServiceSpec } from '../../facts/types/core-v1.ts';
import { IPV4, IPV6, REQUIRE_DUAL_STACK, SINGLE_STACK, familyOf, sameFamilies, validateIpFamilies } from './ip-families.ts';
import { EXTERNAL_NAME, NO_IP, needsClusterIp, needsHealthCheckPort, needsNodePorts } from './traits.ts';

/**
 * What is settled about a service's addresses and ports before any is allocated: for the hooks around the store, in this order
 * `keepAllocatedValues` (updates only), `alignClusterIps`, `settleIpFamilies` (pkg/registry/core/service/storage).
 */

/** `clusterIPs` follows `clusterIP` where a client wrote only the latter, which is the older. */
export function alignClusterIps({ spec }: Service, old?: Service): void {
  const given = spec.clusterIP ?? '';
  if (!old) {
    if (given !== '' && isEmpty(spec.clusterIPs)) spec.clusterIPs = [given];
    return;
  }
  const former = old.spec.clusterIP ?? '';
  if (given === former) {
    if (isEmpty(spec.clusterIPs) && !isEmpty(old.spec.clusterIPs)) spec.clusterIPs = [...old.spec.clusterIPs!];
  } else if (equalJson(spec.clusterIPs ?? [], old.spec.clusterIPs ?? [])) {
    if (given === '') delete spec.clusterIPs;
    else spec.clusterIPs = [given];
  }
}

const isEmpty = (list: readonly unknown[] | undefined): boolean => (list ?? []).length === 0;

/** What the server chose once stays where a client sends the service again without it. */
export function keepAllocatedValues(service: Service, old: Service): void {
  const { spec } = service;
  if (needsClusterIp(old) && needsClusterIp(service)) {
    if (!spec.clusterIP && old.spec.clusterIP) spec.clusterIP = old.spec.clusterIP;
    if (isEmpty(spec.clusterIPs) && !isEmpty(old.spec.clusterIPs)) spec.clusterIPs = [...old.spec.clusterIPs!];
  }
  if (needsNodePorts(old) && needsNodePorts(service)) keepNodePorts(spec, old.spec);
  if (needsHealthCheckPort(old) && needsHealthCheckPort(service) && !spec.healthCheckNodePort && old.spec.healthCheckNodePort) spec.healthCheckNodePort = old.spec.healthCheckNodePort;
}

/** By the port's name, unless the number has gone to another port. */
function keepNodePorts({ ports = [] }: ServiceSpec, { ports: before = [] }: ServiceSpec): void {
  const given = new Set(ports.map(({ nodePort }) => nodePort));
  const formerByName = new Map(before.map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  for (const port of ports) {
    const former = formerByName.get(port.name ?? '');
    if (!port.nodePort && former && !given.has(former)) port.nodePort = former;
  }
}

/**
 * Fills in the policy and the families, from what the client said and what the cluster has: `configured` are the families of its service ranges, the
 * default one first. Throws Invalid where they cannot be brought together.
 */
export function settleIpFamilies(service: Service, old: Service | undefined, configured: readonly string[]): void {
  const { spec } = service;
  if (spec.type === EXTERNAL_NAME || isUntouchedPreference(service, old)) return;
  spec.ipFamilyPolicy ??= old?.spec.ipFamilyPolicy ?? (isSelectorlessHeadless(spec) ? REQUIRE_DUAL_STACK : SINGLE_STACK);
  const errors = new FieldErrors();
  validateIpFamilies(service, errors.at('spec'), old);
  throwIfAny(service, errors);
  if (old) settleReduction(service, old, errors.at('spec', 'ipFamilyPolicy'));
  validateSinglePolicy(spec, errors.at('spec', 'ipFamilyPolicy'));
  inferFamilies(spec, configured, errors.at('spec', 'clusterIPs'));
  throwIfAny(service, errors);
  if (!isSelectorlessHeadless(spec)) validateConfigured(spec, configured, errors.at('spec'));
  throwIfAny(service, errors);
  const families = isEmpty(spec.ipFamilies) ? [configured[0] ?? IPV4] : spec.ipFamilies!;
  // Endpoints that no selector finds may be of any family, whatever the cluster's services have.
  const mayHaveBoth = isSelectorlessHeadless(spec) || configured.length === 2;
  const takesOther = spec.ipFamilyPolicy !== SINGLE_STACK && families.length === 1 && mayHaveBoth;
  spec.ipFamilies = takesOther ? [...families, families[0] === IPV4 ? IPV6 : IPV4] : families;
}

function throwIfAny({ metadata }: Service, errors: FieldErrors): void {
  if (!errors.isEmpty) throw invalid({ group: '', kind: 'Service' }, metadata.name ?? '', errors.list);
}

const isSelectorlessHeadless = ({ clusterIP, selector }: ServiceSpec): boolean => clusterIP === NO_IP && Object.keys(selector ?? {}).length === 0;

/** A service that prefers two families is not changed behind its back when the cluster comes to have them, or has them no more. */
function isUntouchedPreference(service: Service, old: Service | undefined): boolean {
  if (!old || old.spec.type !== service.spec.type || service.spec.ipFamilyPolicy !== 'PreferDualStack') return false;
  if ((old.spec.ipFamilyPolicy ?? 'PreferDualStack') !== 'PreferDualStack') return false;
  return equalJson(service.spec.clusterIPs ?? [], old.spec.clusterIPs ?? []) && sameFamilies(service, old);
}

function settleReduction(service: Service, old: Service, errors: FieldErrors): void {
  const { spec } = service;
  const { clusterIPs = [], ipFamilies = [] } = spec;
  if (spec.ipFamilyPolicy === SINGLE_STACK) {
    if (clusterIPs.length > 1 && equalJson(clusterIPs, old.spec.clusterIPs ?? [])) spec.clusterIPs = clusterIPs.slice(0, 1);
    if (ipFamilies.length > 1 && sameFamilies(service, old)) spec.ipFamilies = ipFamilies.slice(0, 1);
    return;
  }
  const isReduced = (after: readonly string[], before: readonly string[] = []): boolean => after.length > 0 && after.length < before.length;
  if (isReduced(clusterIPs, old.spec.clusterIPs)) errors.invalid(spec.ipFamilyPolicy, `must be '${SINGLE_STACK}' to release the secondary cluster IP`);
  if (isReduced(ipFamilies, old.spec.ipFamilies)) errors.invalid(spec.ipFamilyPolicy, `must be '${SINGLE_STACK}' to release the secondary IP family`);
}

function validateSinglePolicy({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec, errors: FieldErrors): void {
  if (ipFamilyPolicy !== SINGLE_STACK) return;
  const wrong = (what: string): void => errors.invalid(ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`);
  if (clusterIPs.length === 2) wrong('cluster IPs');
  if (ipFamilies.length === 2) wrong('IP families');
}

function inferFamilies(spec: ServiceSpec, configured: readonly string[], errors: FieldErrors): void {
  const { clusterIPs = [] } = spec;
  if (clusterIPs[0] === NO_IP) return;
  for (const [index, ip] of clusterIPs.entries()) {
    const families = spec.ipFamilies ?? [];
    if (index < families.length) continue;
    const family = familyOf(ip);
    if (configured.includes(family)) spec.ipFamilies = [...families, family];
    else errors.index(index).invalid(clusterIPs, `${family} is not configured on this cluster`);
  }
}

function validateConfigured({ ipFamilyPolicy, ipFamilies = [] }: ServiceSpec, configured: readonly string[], errors: FieldErrors): void {
  if (ipFamilyPolicy === REQUIRE_DUAL_STACK && configured.length < 2) errors.at('ipFamilyPolicy').invalid(ipFamilyPolicy, 'this cluster is not configured for dual-stack services');
  for (const [index, family] of ipFamilies.entries()) if (!configured.includes(family)) errors.at('ipFamilies').index(index).invalid(family, 'not configured on this cluster');
}
