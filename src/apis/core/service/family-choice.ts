import type { KindSettings } from '../../../registry/write.ts';
import { invalid } from '../../../api/errors.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import type { Service } from '../../facts/types/core-v1.ts';
import { IPV4, IPV6, REQUIRE_DUAL_STACK, SINGLE_STACK, familyOf, validateIpFamilies } from './ip-families.ts';
import { EXTERNAL_NAME, NO_IP } from './traits.ts';

const PREFER_DUAL_STACK = 'PreferDualStack';

const otherFamily = (family: string): string => (family === IPV4 ? IPV6 : IPV4);

/**
 * Settles a service's IP families and its policy for them, from what the client said, what the service had before and what the cluster has: `configured`,
 * the default family first (pkg/registry/core/service/storage/alloc.go). Throws 422 where they do not fit.
 */
export function chooseFamilies(service: Service, old: Service | undefined, configured: readonly string[], settings: KindSettings): void {
  if (service.spec.type === EXTERNAL_NAME || keepsPreference(service, old)) return;
  service.spec.ipFamilyPolicy ??= old?.spec.ipFamilyPolicy ?? (isBareHeadless(service) ? REQUIRE_DUAL_STACK : SINGLE_STACK);

  check(service, (errors) => validateIpFamilies(service, errors, settings, old));
  check(service, (errors) => {
    if (old) reduce(service, old, errors);
    if (service.spec.ipFamilyPolicy === SINGLE_STACK) demandOne(service, errors);
    inferFamilies(service, configured, errors.at('clusterIPs'));
  });
  if (isBareHeadless(service)) return completeBareHeadless(service, configured);
  check(service, (errors) => {
    const { ipFamilyPolicy, ipFamilies = [] } = service.spec;
    if (ipFamilyPolicy === REQUIRE_DUAL_STACK && configured.length < 2)
      errors.at('ipFamilyPolicy').invalidTyped(ipFamilyPolicy, 'this cluster is not configured for dual-stack services');
    for (const [index, family] of ipFamilies.entries())
      if (!configured.includes(family)) errors.at('ipFamilies').index(index).invalidTyped(family, 'not configured on this cluster');
  });
  const families = service.spec.ipFamilies?.length ? service.spec.ipFamilies : [configured[0]!];
  const wantsBoth = service.spec.ipFamilyPolicy !== SINGLE_STACK && families.length === 1 && configured.length === 2;
  service.spec.ipFamilies = wantsBoth ? [families[0]!, otherFamily(families[0]!)] : families;
}

/** A service that prefers two families keeps what it has when the cluster gains or loses one: only a change of its own makes it try again. */
export function keepsPreference({ spec }: Service, old: Service | undefined): boolean {
  if (!old || spec.ipFamilyPolicy !== PREFER_DUAL_STACK || (old.spec.ipFamilyPolicy ?? PREFER_DUAL_STACK) !== PREFER_DUAL_STACK) return false;
  if (old.spec.type !== spec.type || spec.type === EXTERNAL_NAME) return false;
  return equalJson(spec.clusterIPs ?? [], old.spec.clusterIPs ?? []) && equalJson(spec.ipFamilies ?? [], old.spec.ipFamilies ?? []);
}

/** Headless and without a selector: its endpoints are someone else's, of whatever family. */
const isBareHeadless = ({ spec }: Service): boolean => spec.clusterIP === NO_IP && Object.keys(spec.selector ?? {}).length === 0;

function completeBareHeadless({ spec }: Service, configured: readonly string[]): void {
  const families = spec.ipFamilies?.length ? spec.ipFamilies : [configured[0]!];
  spec.ipFamilies = families.length < 2 && spec.ipFamilyPolicy !== SINGLE_STACK ? [families[0]!, otherFamily(families[0]!)] : families;
}

function check(service: Service, rules: (errors: FieldErrors) => void): void {
  const errors = new FieldErrors();
  rules(errors.at('spec'));
  if (!errors.isEmpty) throw invalid({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors.list);
}

/** Asking for one family is enough to let go of the second; with any other policy, letting go must be said. */
function reduce({ spec }: Service, { spec: before }: Service, errors: FieldErrors): void {
  if (spec.ipFamilyPolicy === SINGLE_STACK) {
    if (spec.clusterIPs && equalJson(spec.clusterIPs, before.clusterIPs)) spec.clusterIPs = spec.clusterIPs.slice(0, 1);
    if (spec.ipFamilies && equalJson(spec.ipFamilies, before.ipFamilies)) spec.ipFamilies = spec.ipFamilies.slice(0, 1);
    return;
  }
  const at = errors.at('ipFamilyPolicy');
  if (isReduced(spec.clusterIPs, before.clusterIPs)) at.invalidTyped(spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary cluster IP`);
  if (isReduced(spec.ipFamilies, before.ipFamilies)) at.invalidTyped(spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary IP family`);
}

const isReduced = (values: readonly string[] = [], before: readonly string[] = []): boolean => values.length > 0 && values.length < before.length;

function demandOne({ spec }: Service, errors: FieldErrors): void {
  const at = errors.at('ipFamilyPolicy');
  if (spec.clusterIPs?.length === 2)
    at.invalidTyped(spec.ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified`);
  if (spec.ipFamilies?.length === 2)
    at.invalidTyped(spec.ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`);
}

/** An address says its family, where the client did not. */
function inferFamilies({ spec }: Service, configured: readonly string[], errors: FieldErrors): void {
  for (const [index, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === NO_IP) return;
    if (index < (spec.ipFamilies?.length ?? 0)) continue;
    const family = familyOf(ip);
    if (!configured.includes(family)) errors.index(index).invalid(spec.clusterIPs, `${family} is not configured on this cluster`);
    else spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
  }
}
