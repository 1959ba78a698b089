import type { KindSettings } from '../../../registry/write.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import type { Service } from '../../facts/types/core-v1.ts';
import { ipFamilyOf, validateLegacyIp } from '../../validation/ip-address.ts';
import { EXTERNAL_NAME, NO_IP, isHeadless } from './traits.ts';

/** How cluster IPs, their families and the policy for families fit together (KEP-563; pkg/apis/core/validation ValidateServiceClusterIPsRelatedFields). */
export const IPV4 = 'IPv4';
export const IPV6 = 'IPv6';
export const SINGLE_STACK = 'SingleStack';
export const REQUIRE_DUAL_STACK = 'RequireDualStack';
const FAMILIES = [IPV4, IPV6];
const POLICIES = ['PreferDualStack', REQUIRE_DUAL_STACK, SINGLE_STACK];
const MAY_NOT_CHANGE = 'may not change once set';

export const familyOf = (ip: string): string => (ipFamilyOf(ip) === 6 ? IPV6 : IPV4);

/** `errors` stands at the spec. Of an ExternalName service all of these are forbidden, which is told elsewhere. */
export function validateIpFamilies(service: Service, errors: FieldErrors, settings: KindSettings, old: Service | undefined): void {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, type } = service.spec;
  if (type === EXTERNAL_NAME) return;
  validateFirstIp(service, errors.at('clusterIPs'));
  for (const [index, family] of ipFamilies.entries()) {
    const at = errors.at('ipFamilies').index(index);
    if (!FAMILIES.includes(family)) at.notSupported(family, FAMILIES);
    if (ipFamilies.indexOf(family) < index) at.duplicateTyped(family);
  }
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy)) errors.at('ipFamilyPolicy').notSupported(ipFamilyPolicy, POLICIES);
  const areValid = validateIps(clusterIPs, errors.at('clusterIPs'), settings, new Set(old?.spec.clusterIPs));
  if (clusterIPs.length > 2) errors.at('clusterIPs').invalid(clusterIPs, 'may only hold up to 2 values');
  // What follows would only confuse whoever has to mend an address first.
  if (!areValid) return;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size < 2)
    errors.at('clusterIPs').invalid(clusterIPs, 'may specify no more than one IP for each IP family');
  if (!isHeadless(service)) validateFamiliesOfIps(clusterIPs, ipFamilies, errors.at('clusterIPs'));
}

function validateFirstIp({ spec: { clusterIP, clusterIPs = [] } }: Service, errors: FieldErrors): void {
  if (!clusterIP) {
    if (clusterIPs.length > 0) errors.invalid(clusterIPs, 'must be empty when `clusterIP` is not specified');
  } else if (clusterIPs.length === 0) errors.required();
  else if (clusterIPs[0] !== clusterIP) errors.invalid(clusterIPs, 'first value must match `clusterIP`');
}

function validateIps(ips: readonly string[], errors: FieldErrors, settings: KindSettings, former: ReadonlySet<string>): boolean {
  const before = errors.list.length;
  for (const [index, ip] of ips.entries()) {
    if (index > 0 || ip !== NO_IP) validateLegacyIp(ip, errors.index(index), settings, former);
    else if (ips.length > 1) errors.invalid(ips, `'${NO_IP}' must be the first and only value`);
  }
  return errors.list.length === before;
}

function validateFamiliesOfIps(ips: readonly string[], families: readonly string[], errors: FieldErrors): void {
  for (const [index, ip] of ips.entries()) {
    const expected = families[index];
    if (expected !== undefined && FAMILIES.includes(expected) && familyOf(ip) !== expected)
      errors.index(index).invalid(ip, `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``);
  }
}

/** A second family may come and go; the first stays for the service's life, unless it is or was a mere name. */
export function validateFamilyChange(service: Service, old: Service, errors: FieldErrors): void {
  if (service.spec.type === EXTERNAL_NAME || old.spec.type === EXTERNAL_NAME) return;
  const wasHeadless = isHeadless(old);
  if (!(wasHeadless && isHeadless(service))) validateClusterIpChange(service, old, errors);
  if (!wasHeadless && !isHeadless(service)) validateFamilyListChange(service, old, errors);
}

function validateClusterIpChange({ spec }: Service, { spec: { clusterIPs: before = [] } }: Service, errors: FieldErrors): void {
  const { clusterIPs: after = [] } = spec;
  const at = errors.at('clusterIPs');
  const shown = spec.clusterIPs ?? null;
  if (before.length === after.length) {
    for (const [index, ip] of before.entries()) if (ip !== after[index]) at.index(index).invalid(shown, MAY_NOT_CHANGE);
    return;
  }
  if (after.length === 0) at.index(0).invalid(shown, 'primary clusterIP can not be unset');
  else if (before.length > 0 && before[0] !== after[0]) at.index(0).invalid(shown, MAY_NOT_CHANGE);
  if (before.length > after.length && after.length === 1) validateReleased(spec, 'clusterIP', errors);
}

/** That some errors show the cluster IPs is upstream's slip, kept since clients see it. */
function validateFamilyListChange({ spec }: Service, { spec: { ipFamilies: before = [] } }: Service, errors: FieldErrors): void {
  const { clusterIPs = [], ipFamilies: after = [] } = spec;
  const at = errors.at('ipFamilies').index(0);
  if (before.length === after.length) {
    for (const [index, family] of before.entries()) if (family !== after[index]) at.invalid(after, MAY_NOT_CHANGE);
    return;
  }
  if (before.length > after.length && clusterIPs.length === 0) at.invalid(spec.ipFamilies ?? null, 'primary ipFamily can not be unset');
  if (before.length > 0 && after.length > 0 && before[0] !== after[0]) at.invalid(spec.clusterIPs ?? null, MAY_NOT_CHANGE);
  if (before.length > after.length && after.length === 1) validateReleased(spec, 'ipFamily', errors);
}

function validateReleased({ ipFamilyPolicy }: Service['spec'], what: string, errors: FieldErrors): void {
  if (ipFamilyPolicy !== SINGLE_STACK)
    errors.at('ipFamilyPolicy').invalid(ipFamilyPolicy, `must be set to '${SINGLE_STACK}' when releasing the secondary ${what}`);
}

export const sameClusterIps = (service: Service, old: Service): boolean =>
  (service.spec.clusterIP ?? '') === (old.spec.clusterIP ?? '') && equalJson(service.spec.clusterIPs ?? [], old.spec.clusterIPs ?? []);
export const sameFamilies = (service: Service, old: Service): boolean => equalJson(service.spec.ipFamilies ?? [], old.spec.ipFamilies ?? []);
