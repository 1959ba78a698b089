import { containersOf } from '../../apis/core/pod/containers-of.ts';
import type { Node, Pod, PodSpec, Volume } from '../../apis/facts/types/core-v1.ts';
import type { Informer } from '../../client/client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { notFound } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import type { PluginEnvironment } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import { usesSecrets } from '../service-account/mirror-pod.ts';
import type { NodeCheck } from './node-restriction.ts';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** A node shows the pods that it runs by itself, reports on those that it was given, and ends both. */
export function podChecks({ client }: PluginEnvironment): NodeCheck {
  const pods = client.resource<Pod>('', 'pods').informer;
  const nodes = client.resource<Node>('', 'nodes').informer;

  return (node, attributes) => {
    const { subresource, operation } = attributes;
    if (subresource === 'status') return checkStatus(node, attributes);
    if (subresource === 'eviction') return checkEviction(node, attributes, pods);
    if (subresource !== '') throw refusal(attributes, `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`);
    if (operation === 'CREATE') return checkMirrorPod(node, attributes, nodes);
    if (operation === 'DELETE') return checkDeletion(node, attributes, pods);
    throw refusal(attributes, `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`);
  };
}

function existing(pods: Informer<Pod>, namespace: string, name: string): Pod {
  const pod = pods.get(namespace, name);
  if (!pod) throw notFound({ group: '', resource: 'pods' }, name);
  return pod;
}

function checkDeletion(node: string, attributes: AdmissionAttributes, pods: Informer<Pod>): void {
  if (existing(pods, attributes.namespace, attributes.name).spec.nodeName === node) return;
  throw refusal(attributes, `node ${quote(node)} can only delete pods with spec.nodeName set to itself`);
}

function checkEviction(node: string, attributes: AdmissionAttributes, pods: Informer<Pod>): void {
  if (attributes.operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${attributes.operation}`);
  const name = attributes.name || attributes.object?.metadata.name;
  if (!name) throw refusal(attributes, 'could not determine pod from request data');
  if (existing(pods, attributes.namespace, name).spec.nodeName === node) return;
  throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}

function checkStatus(node: string, attributes: AdmissionAttributes): void {
  if (attributes.operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${quote(attributes.operation)}`);
  const pod = attributes.object as Pod;
  const old = attributes.oldObject as Pod;
  if (old.spec.nodeName !== node) throw refusal(attributes, `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`);
  if (!equalJson(pod.metadata.labels ?? {}, old.metadata.labels ?? {}))
    throw refusal(attributes, `node ${quote(node)} cannot update labels through pod status`);
  if (!equalJson(pod.status.resourceClaimStatuses ?? [], old.status.resourceClaimStatuses ?? [])) {
    throw refusal(attributes, `node ${quote(node)} cannot update resource claim statues`);
  }
  if (!equalJson(pod.status.extendedResourceClaimStatus ?? null, old.status.extendedResourceClaimStatus ?? null)) {
    throw refusal(attributes, `node ${quote(node)} cannot update extended resource claim status`);
  }
}

function checkMirrorPod(node: string, attributes: AdmissionAttributes, nodes: Informer<Node>): void {
  const { metadata, spec } = attributes.object as Pod;
  const only = `node ${quote(node)} can only create`;
  if (metadata.annotations?.[MIRROR_ANNOTATION] === undefined) {
    throw refusal(attributes, `pod does not have ${quote(MIRROR_ANNOTATION)} annotation, ${only} mirror pods`);
  }
  if (spec.nodeName !== node) throw refusal(attributes, `${only} pods with spec.nodeName set to itself`);
  const [owner, ...more] = metadata.ownerReferences ?? [];
  if (more.length > 0) throw refusal(attributes, `${only} pods with a single owner reference set to itself`);
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw refusal(attributes, `${only} pods with an owner reference set to itself`);
  if (!owner.controller) throw refusal(attributes, `${only} pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion) throw refusal(attributes, `node ${quote(node)} must not set blockOwnerDeletion on an owner reference`);
  const self = nodes.get('', node);
  if (!self) throw notFound({ group: '', resource: 'nodes' }, node);
  if (owner.uid !== self.metadata.uid) throw refusal(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${self.metadata.uid}`);
  const referenced = referencedResource(spec);
  if (referenced !== undefined) throw refusal(attributes, `node ${quote(node)} can not create pods that reference ${referenced}`);
}

/** Of the API, what a pod needs objects of: through it a node could read them (pkg/api/pod HasAPIObjectReference). */
function referencedResource(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (usesSecrets(spec)) return 'secrets';
  if (usesConfigMaps(spec)) return 'configmaps';
  if (spec.resourceClaims?.length) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const referenced = referencedByVolume(volume);
    if (referenced !== undefined) return referenced;
  }
  return undefined;
}

function usesConfigMaps(spec: PodSpec): boolean {
  for (const { env, envFrom } of containersOf(spec)) {
    if (envFrom?.some(({ configMapRef }) => configMapRef?.name) || env?.some(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)) return true;
  }
  return spec.volumes?.some(({ configMap, projected }) => configMap?.name || projected?.sources?.some((source) => source.configMap?.name)) ?? false;
}

const VOLUME_REFERENCES: readonly (readonly [keyof Volume, string])[] = [
  ['configMap', 'configmaps (via configmap volumes)'],
  ['secret', 'secrets (via secret volumes)'],
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['azureFile', 'secrets (via azureFile volumes)'],
];
const PROJECTED_REFERENCES = [
  ['configMap', 'configmaps (via projected volumes)'],
  ['secret', 'secrets (via projected volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
] as const;

function referencedByVolume(volume: Volume): string | undefined {
  const direct = VOLUME_REFERENCES.find(([source]) => volume[source] !== undefined);
  if (direct) return direct[1];
  for (const projected of volume.projected?.sources ?? []) {
    const found = PROJECTED_REFERENCES.find(([source]) => projected[source] !== undefined);
    if (found) return found[1];
  }
  return undefined;
}
