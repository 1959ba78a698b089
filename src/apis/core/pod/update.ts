import { clone } from '../../../schema/clone.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { once } from '../../../api/validation-run.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import type { Container, EphemeralContainer, NodeAffinity, NodeSelectorTerm, Pod, PodSchedulingGate, PodSpec, Toleration } from '../../facts/types/core-v1.ts';
import { inclusiveRangeError } from '../../validation/ports.ts';
import { validateImageText } from './containers.ts';
import { internalDiff } from './internal-diff.ts';
import { internalPodPart, internalPodSpec, shownTerm } from './internal-form.ts';
import type { PodRules } from './rules.ts';
import { validateTolerations } from './tolerations.ts';

const MUTABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];
const MAX_INT32 = 2 ** 31 - 1;
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** What may become of a pod's spec once it is there. `errors` stands at the spec. */
export function validateSpecUpdate({ spec }: Pod, { spec: old }: Pod, errors: FieldErrors, rules: PodRules): void {
  for (const list of ['containers', 'initContainers'] as const) {
    const containers = spec[list] ?? [];
    if (containers.length !== (old[list] ?? []).length) return errors.at(list).forbidden('pod updates may not add or remove containers');
    validateImages(containers, errors.at(list));
  }
  if (!validateDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds, errors.at('activeDeadlineSeconds'))) return;
  validateTolerationsKept(spec.tolerations ?? [], old.tolerations ?? [], errors.at('tolerations'), rules);
  validateNoNewGates(spec.schedulingGates ?? [], old.schedulingGates ?? [], errors.at('schedulingGates'));
  if (once(errors, 'is unchanged', () => equalJson(spec, old))) return;
  const rest = { ...once(errors, 'without what may change', () => withoutMutable(spec, old)) };
  if (old.schedulingGates) validateGatedPod(rest, old, errors);
  if (once(errors, 'is otherwise unchanged', () => equalJson(rest, old))) return;
  const diff = once(errors, 'diff', () => internalDiff(old, rest, internalPodSpec));
  errors.forbidden(`pod updates may not change fields other than ${MUTABLE.join(',')}\n${diff}`);
}

function validateImages(containers: readonly Container[], errors: FieldErrors): void {
  for (const [index, container] of containers.entries()) {
    const at = errors.index(index);
    if (!container.image) at.at('image').required();
    validateImageText(container, at);
  }
}

/** May be set once, and then only shortened. Answers whether the rest is to be looked at. */
function validateDeadline(deadline: number | undefined, old: number | undefined, errors: FieldErrors): boolean {
  if (deadline === undefined) {
    if (old !== undefined) errors.invalid(null, 'must not update from a positive integer to nil value');
    return true;
  }
  if (deadline < 0 || deadline > MAX_INT32) errors.invalid(deadline, inclusiveRangeError(0, MAX_INT32));
  else if (old !== undefined && old < deadline) errors.invalid(deadline, 'must be less than or equal to previous value');
  else return true;
  return false;
}

function validateTolerationsKept(tolerations: readonly Toleration[], old: readonly Toleration[], errors: FieldErrors, rules: PodRules): void {
  const kept = once(errors, 'named', () => new Set(tolerations.map(withoutSeconds)));
  const areKept = once(errors, 'are kept', () => old.every((toleration) => kept.has(withoutSeconds(toleration))));
  if (!areKept) return errors.forbidden('existing toleration can not be modified except its tolerationSeconds');
  validateTolerations(tolerations, errors, rules);
}

const withoutSeconds = ({ key, operator, value, effect }: Toleration): string => JSON.stringify([key, operator, value, effect]);

function validateNoNewGates(gates: readonly PodSchedulingGate[], old: readonly PodSchedulingGate[], errors: FieldErrors): void {
  const added = new Map(gates.map(({ name }, index) => [name, index]));
  for (const { name } of old) added.delete(name);
  for (const [name, index] of added) errors.index(index).at('name').forbidden(`only deletion is allowed, but found new scheduling gate '${name}'`);
}

/** The new spec, with the old one's values where they may change: what is left to differ may not. */
function withoutMutable(spec: PodSpec, old: PodSpec): PodSpec {
  const rest = clone(spec);
  for (const list of ['containers', 'initContainers'] as const)
    for (const [index, container] of (rest[list] ?? []).entries()) restore(container, old[list]![index]!, 'image');
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'] as const) restore(rest, old, field);
  const isGraceMended = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1;
  if (isGraceMended) restore(rest, old, 'terminationGracePeriodSeconds');
  return rest;
}

function restore<T extends object, K extends keyof T>(object: T, old: T, field: K): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

/** While no scheduler has looked at it, a pod's choice of nodes may be narrowed (KEP-3838). Puts back in `rest` what may differ. */
function validateGatedPod(rest: PodSpec, old: PodSpec, errors: FieldErrors): void {
  const selector = rest.nodeSelector ?? {};
  const isNarrowed = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => selector[key] === value);
  if (!isNarrowed) errors.at('nodeSelector').invalid(rest.nodeSelector ?? null, 'only additions to spec.nodeSelector are allowed (no mutations or deletions)');
  restore(rest, old, 'nodeSelector');
  const affinity = rest.affinity?.nodeAffinity;
  const before = old.affinity?.nodeAffinity;
  if (equalJson(affinity, before)) return;
  validateNodeAffinityNarrowed(affinity, before, errors.at('affinity', 'nodeAffinity'));
  const { nodeAffinity: _changed, ...others } = rest.affinity ?? {};
  const restored = { ...others, ...(before && { nodeAffinity: before }) };
  if (Object.keys(restored).length === 0 && !old.affinity) delete rest.affinity;
  else rest.affinity = restored;
}

function validateNodeAffinityNarrowed(affinity: NodeAffinity | undefined, old: NodeAffinity | undefined, errors: FieldErrors): void {
  const before = old?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const terms = affinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  if (before.length === 0) return;
  const at = errors.at(REQUIRED, 'nodeSelectorTerms');
  if (before.length !== terms.length)
    return at.invalid(terms.length === 0 ? null : terms.map(shownTerm), 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
  for (const [index, term] of terms.entries())
    if (!isTermNarrowed(term, before[index]!)) at.index(index).invalid(shownTerm(term), 'only additions are allowed (no mutations or deletions)');
}

function isTermNarrowed(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const parts = ['matchExpressions', 'matchFields'] as const;
  // A term without requirements matches nothing; with some it would match more.
  if (parts.every((part) => !old[part])) return parts.every((part) => !term[part]);
  return parts.every((part) => equalJson((term[part] ?? []).slice(0, (old[part] ?? []).length), old[part] ?? []));
}

/** The same of an ephemeral container. */
export const ephemeralContainerDiff = (old: EphemeralContainer, container: EphemeralContainer): string =>
  internalDiff(old, container, (value) => internalPodPart('EphemeralContainer', value));
