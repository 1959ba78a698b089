import type { LabelSelector } from '../facts/types/meta-v1.ts';

/** Labels of nodes that have other names now, or no use, with what to say of them (pkg/api/node). */
const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

export const deprecatedNodeLabel = (label: string): string | undefined => DEPRECATED.get(label);

/** One warning for each label of the list that is deprecated, at the same path. */
export const nodeLabelWarnings = (labels: Iterable<string>, path: string): string[] =>
  [...labels].flatMap((label) => (DEPRECATED.has(label) ? [`${path}: ${DEPRECATED.get(label)}`] : []));

export function nodeSelectorWarnings(selector: LabelSelector | undefined, path: string): string[] {
  const inExpressions = (selector?.matchExpressions ?? []).flatMap(({ key }, index) =>
    DEPRECATED.has(key) ? [`${path}.matchExpressions[${index}].key: ${key} is ${DEPRECATED.get(key)}`] : [],
  );
  const inLabels = Object.keys(selector?.matchLabels ?? {}).flatMap((label) => nodeLabelWarnings([label], `${path}.matchLabels.${label}`));
  return [...inExpressions, ...inLabels];
}
