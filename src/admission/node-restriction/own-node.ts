import type { Node } from '../../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { refusal } from '../refusal.ts';

/** What a kubelet may say of itself by labels in Kubernetes' own name (k8s.io/kubelet/pkg/apis). */
const KUBELET_LABELS = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const KUBELET_NAMESPACES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const KUBERNETES_NAMESPACES = ['kubernetes.io', 'k8s.io'];
/** For labels that say which pods a node may get: its owner's to set, never its own. */
const RESTRICTED_NAMESPACES = ['node-restriction.kubernetes.io'];

/** Of its own object a node may change what it reports, but nothing by which workloads are steered to it. */
export function checkNode(node: string, attributes: AdmissionAttributes): void {
  const { name, operation, object, oldObject } = attributes;
  if (name !== node) throw refusal(attributes, `node ${quote(node)} is not allowed to modify node ${quote(name)}`);
  if (operation === 'CREATE') checkCreated(node, attributes, object as Node);
  if (operation === 'UPDATE') checkUpdated(node, attributes, object as Node, oldObject as Node);
}

function checkCreated(node: string, attributes: AdmissionAttributes, { spec, metadata }: Node): void {
  if (spec.configSource) throw refusal(attributes, `node ${quote(node)} is not allowed to create pods with a non-nil configSource`);
  const labels = forbiddenLabels(metadata.labels, {});
  if (labels.length > 0) throw refusal(attributes, `node ${quote(node)} is not allowed to set the following labels: ${labels.join(', ')}`);
}

function checkUpdated(node: string, attributes: AdmissionAttributes, { spec, metadata }: Node, old: Node): void {
  if (spec.configSource && !equalJson(spec.configSource, old.spec.configSource)) {
    throw refusal(attributes, `node ${quote(node)} is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!equalJson(spec.taints ?? [], old.spec.taints ?? [])) throw refusal(attributes, `node ${quote(node)} is not allowed to modify taints`);
  if (!equalJson(metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? [])) {
    throw refusal(attributes, `node ${quote(node)} is not allowed to modify ownerReferences`);
  }
  const labels = forbiddenLabels(metadata.labels, old.metadata.labels);
  if (labels.length > 0) throw refusal(attributes, `is not allowed to modify labels: ${labels.join(', ')}`);
}

/** Of the labels that were added, changed or taken away. */
function forbiddenLabels(labels: Record<string, string> = {}, old: Record<string, string> = {}): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(old)]);
  const valueIn = (all: Record<string, string>, key: string): string | undefined => (Object.hasOwn(all, key) ? all[key] : undefined);
  return [...keys].filter((key) => valueIn(labels, key) !== valueIn(old, key) && isForbidden(key)).toSorted();
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/');
  const namespace = slash < 0 ? '' : label.slice(0, slash);
  const isWithin = (namespaces: readonly string[]): boolean => namespaces.some((one) => namespace === one || namespace.endsWith(`.${one}`));
  return isWithin(RESTRICTED_NAMESPACES) || (isWithin(KUBERNETES_NAMESPACES) && !KUBELET_LABELS.has(label) && !isWithin(KUBELET_NAMESPACES));
}
