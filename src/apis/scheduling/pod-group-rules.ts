import type { KindSettings } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, qualifiedNameErrors } from '../../api/names.ts';
import type { PodGroupResourceClaim, PodGroupSchedulingConstraints, PodGroupSchedulingPolicy, PodGroupSpec } from '../facts/types/scheduling-v1alpha2.ts';
import { type ApiFeature, isFeatureOn } from '../features.ts';

/** What a group of pods and a workload's template for it have in common (scheduling/v1alpha2, by the tags of its types). */
type Group = Pick<PodGroupSpec, 'schedulingPolicy' | 'resourceClaims' | 'disruptionMode' | 'priorityClassName' | 'priority'> & {
  schedulingConstraints?: PodGroupSchedulingConstraints | null;
};

const MAX_CLAIMS = 4;
const MAX_TOPOLOGIES = 1;
const HIGHEST_PRIORITY = 1_000_000_000;
const DISRUPTION_MODES = ['Pod', 'PodGroup'];

const GATED: readonly (readonly [ApiFeature, keyof Group])[] = [
  ['TopologyAwareWorkloadScheduling', 'schedulingConstraints'],
  ['DRAWorkloadResourceClaims', 'resourceClaims'],
  ['WorkloadAwarePreemption', 'disruptionMode'],
  ['WorkloadAwarePreemption', 'priorityClassName'],
  ['WorkloadAwarePreemption', 'priority'],
];

/** What its feature does not allow goes, unless it was there. */
export function dropDisabledGroupFields(group: Group, old: Group | undefined, settings: KindSettings): void {
  for (const [feature, field] of GATED) if (!isFeatureOn(settings, feature) && (old?.[field] ?? undefined) === undefined) delete group[field];
}

export function validateGroup(group: Group, errors: FieldErrors): void {
  validatePolicy(group.schedulingPolicy, errors.at('schedulingPolicy'));
  validateConstraints(group.schedulingConstraints, errors.at('schedulingConstraints'));
  validateClaims(group.resourceClaims, errors.at('resourceClaims'));
  const { disruptionMode, priorityClassName, priority } = group;
  if (disruptionMode !== undefined && !DISRUPTION_MODES.includes(disruptionMode)) errors.at('disruptionMode').notSupported(disruptionMode, DISRUPTION_MODES);
  if (priorityClassName) validateName(priorityClassName, dns1123SubdomainErrors, errors.at('priorityClassName'));
  if (priority !== undefined && priority > HIGHEST_PRIORITY) errors.at('priority').invalid(priority, `must be less than or equal to ${HIGHEST_PRIORITY}`);
}

function validatePolicy({ basic, gang }: PodGroupSchedulingPolicy, errors: FieldErrors): void {
  validateUnion({ basic, gang }, errors);
  if (gang?.minCount === 0) errors.at('gang', 'minCount').required();
  else if (gang && gang.minCount < 1) errors.at('gang', 'minCount').invalid(gang.minCount, 'must be greater than or equal to 1');
}

function validateConstraints(constraints: PodGroupSchedulingConstraints | null | undefined, errors: FieldErrors): void {
  const topology = constraints?.topology ?? [];
  const at = errors.at('topology');
  if (topology.length > MAX_TOPOLOGIES) return at.tooMany(topology.length, MAX_TOPOLOGIES);
  for (const [index, { key }] of topology.entries()) validateName(key, qualifiedNameErrors, at.index(index).at('key'));
}

function validateClaims(claims: readonly PodGroupResourceClaim[] = [], errors: FieldErrors): void {
  if (claims.length > MAX_CLAIMS) return errors.tooMany(claims.length, MAX_CLAIMS);
  validateUniqueNames(claims, errors);
  for (const [index, { name, resourceClaimName, resourceClaimTemplateName }] of claims.entries()) {
    const at = errors.index(index);
    validateUnion({ resourceClaimName, resourceClaimTemplateName }, at);
    validateName(name, dns1123LabelErrors, at.at('name'));
    validateOptionalName(resourceClaimName, at.at('resourceClaimName'));
    validateOptionalName(resourceClaimTemplateName, at.at('resourceClaimTemplateName'));
  }
}

export function validateUniqueNames<T extends { name: string }>(list: readonly T[], errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (names.has(item.name)) errors.index(index).duplicate(item);
    names.add(item.name);
  }
}

/** Exactly one of the members. */
export function validateUnion(members: Record<string, unknown>, errors: FieldErrors): void {
  const all = Object.keys(members)
    .map((name) => `\`${name}\``)
    .join(', ');
  const given = Object.keys(members).filter((name) => (members[name] ?? undefined) !== undefined);
  if (given.length > 1) errors.invalid(`{${given.join(', ')}}`, `must specify exactly one of: ${all}`);
  else if (given.length === 0) errors.invalid('', `must specify one of: ${all}`);
}

/** One that must be there. */
export function validateName(name: string, rule: (name: string) => string[], errors: FieldErrors): void {
  if (name === '') return errors.required();
  for (const error of rule(name)) errors.invalid(name, error);
}

/** One that, if it is there, names an object. */
export function validateOptionalName(name: string | undefined, errors: FieldErrors): void {
  if (name !== undefined) for (const error of dns1123SubdomainErrors(name)) errors.invalid(name, error);
}

/** `fields`: in the order in which they are looked at. */
export function validateUnchanged<S extends object>(spec: S, old: S, fields: readonly (keyof S & string)[], errors: FieldErrors): void {
  for (const field of fields) if (!equalJson(spec[field] ?? undefined, old[field] ?? undefined)) errors.at(field).invalid(null, 'field is immutable');
}
