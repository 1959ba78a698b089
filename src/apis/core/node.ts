import type { Change, KindSettings, Write } from '../../registry/write.ts';
import { clone } from '../../schema/clone.ts';
import { readCidr } from '../../net/cidr.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { defineResource } from '../define.ts';
import type { Node, NodeSpec, NodeStatus } from '../facts/types/core-v1.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { legacyCidrWarnings, validateLegacyCidr } from '../validation/cidr.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateResourceQuantity } from '../validation/resource-names.ts';
import { validateConfigSource, validateConfigStatus } from './node/config-source.ts';
import { validateNodeAnnotations, validateTaints } from './node/taints.ts';
import { roundToThousandths } from './pod/resource-lists.ts';

const ROLE_LABEL_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';
const FEATURE_NAME_MAX_BYTES = 253;
const FEATURE_SEGMENT = /^[a-zA-Z][a-zA-Z0-9]*$/;

const GATED: GatedFields = [['NodeDeclaredFeatures', ['status.declaredFeatures']]];

/** A machine that pods run on. Its kubelet writes it whole, status and all, when it comes up. */
export const nodes = defineResource<Node>('v1/nodes', {
  storage: { prefix: 'minions' },
  // Unlike others, a new node may have its status.
  hasStatus: false,

  default({ spec, status }) {
    alignPodCidrs(spec);
    if (!status.allocatable && status.capacity) status.allocatable = { ...status.capacity };
    roundToThousandths(status.capacity);
    roundToThousandths(status.allocatable);
  },
  prepareForCreate({ object: { spec, status }, settings }) {
    delete spec.configSource;
    delete status.config;
    dropGatedFields(GATED, { status }, undefined, settings);
  },
  prepareForUpdate({ object: node, old }) {
    node.status = clone(old.status);
    if (!old.spec.configSource) delete node.spec.configSource;
  },

  validate({ object: { metadata, spec, status }, settings }, errors) {
    const at = errors.at('metadata');
    validateFinalizerNames(metadata, errors);
    validateNodeAnnotations(metadata.annotations ?? {}, at.at('annotations'));
    // Told of metadata, as upstream does.
    validateTaints(spec.taints ?? [], at.at('taints'));
    validateResources(status, errors.at('status'));
    const swapBytes = status.nodeInfo.swap?.capacity;
    if (swapBytes !== undefined && swapBytes <= 0) at.at('nodeSwapStatus', 'capacity').invalid(swapBytes, 'must be greater than zero');
    validateDeclaredFeatures(status.declaredFeatures ?? [], errors.at('status', 'declaredFeatures'));
    validatePodCidrs(spec.podCIDRs ?? [], errors.at('spec', 'podCIDRs'), settings);
  },
  validatesWhole: 'before',
  validateUpdate: validateNodeUpdate,
  warnings: nodeWarnings,

  subresources: {
    status: {
      update: {
        prepareForUpdate({ object: node, old }) {
          node.spec = clone(old.spec);
          if (!old.status.config) delete node.status.config;
        },
        validateUpdate: validateNodeUpdate,
      },
    },
  },

  selectable: { 'spec.unschedulable': ({ spec }) => String(spec.unschedulable ?? false) },
  cells: {
    Status: statusText,
    Roles: rolesText,
    Version: ({ status }) => status.nodeInfo.kubeletVersion,
    'Internal-IP': ({ status }) => addressOf(status, 'InternalIP'),
    'External-IP': ({ status }) => addressOf(status, 'ExternalIP'),
    'OS-Image': ({ status }) => status.nodeInfo.osImage || '<unknown>',
    'Kernel-Version': ({ status: { nodeInfo } }) => `${nodeInfo.kernelVersion || '<unknown>'}${nodeInfo.architecture ? ` (${nodeInfo.architecture})` : ''}`,
    'Container-Runtime': ({ status }) => status.nodeInfo.containerRuntimeVersion || '<unknown>',
  },
});

/** `podCIDR` is the older field, and wins over a list that starts otherwise. */
function alignPodCidrs(spec: NodeSpec): void {
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  else if (spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
}

function validateNodeUpdate({ object: { metadata, spec, status }, old }: Change<Node>, errors: FieldErrors): void {
  validateFinalizerNames(metadata, errors);
  validateNodeAnnotations(metadata.annotations ?? {}, errors.at('metadata', 'annotations'));
  validateResources(status, errors.at('status'));
  validateDeclaredFeatures(status.declaredFeatures ?? [], errors.at('status', 'declaredFeatures'));
  validateUniqueAddresses(status, errors.at('status', 'addresses'));
  validateSetOnce(spec, old.spec, errors.at('spec'));
  if (spec.configSource) validateConfigSource(spec.configSource, errors.at('spec', 'configSource'));
  if (status.config) validateConfigStatus(status.config, errors.at('status', 'config'));
  validateTaints(spec.taints ?? [], errors.at('metadata', 'taints'));
  if ((spec.externalID ?? '') !== (old.spec.externalID ?? '')) errors.at('spec', 'externalID').forbidden('may not be updated');
}

function validateResources(status: NodeStatus, errors: FieldErrors): void {
  for (const field of ['capacity', 'allocatable'] as const) {
    for (const [name, quantity] of Object.entries(status[field] ?? {})) validateResourceQuantity(name, quantity, errors.at(field, name));
  }
}

/** Names of what the kubelet can do, in order, each once (KEP-5328). */
function validateDeclaredFeatures(features: readonly string[], errors: FieldErrors): void {
  for (const [index, feature] of features.entries()) {
    const problem = featureProblem(feature);
    if (problem !== undefined) errors.index(index).invalid(feature, `invalid feature name ${quote(feature)}: ${problem}`);
    const next = features[index + 1];
    if (next === undefined) continue;
    if (next === feature) errors.index(index + 1).duplicate(next);
    else if (next < feature) errors.index(index + 1).invalid(next, 'list must be sorted alphabetically');
  }
}

function featureProblem(feature: string): string | undefined {
  if (Buffer.byteLength(feature) > FEATURE_NAME_MAX_BYTES) return `must be no more than ${FEATURE_NAME_MAX_BYTES} characters`;
  if (/^[A-Z]/.test(feature) && feature.split('/').every((segment) => FEATURE_SEGMENT.test(segment))) return undefined;
  return "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
}

function validatePodCidrs(cidrs: readonly string[], errors: FieldErrors, settings: KindSettings): void {
  for (const [index, cidr] of cidrs.entries()) validateLegacyCidr(cidr, errors.index(index), settings);
  if (cidrs.length < 2) return;
  const parsed = cidrs.map(readCidr);
  const wrong = parsed.findIndex((cidr) => cidr === undefined);
  if (wrong >= 0)
    errors.internal(`invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${cidrs[wrong]})`);
  const isDualStack = wrong < 0 && new Set(parsed.map((cidr) => cidr!.bytes.length)).size === 2;
  if (!isDualStack || cidrs.length > 2) errors.invalid(cidrs, 'may specify no more than one CIDR for each IP family');
}

function validateUniqueAddresses({ addresses = [] }: NodeStatus, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { type, address }] of addresses.entries()) {
    const identity = `${type}/${address}`;
    if (seen.has(identity)) errors.index(index).duplicate({ Type: type, Address: address });
    seen.add(identity);
  }
}

/** What the controller manager fills in, and nobody changes then. */
function validateSetOnce(spec: NodeSpec, old: NodeSpec, errors: FieldErrors): void {
  const before = old.podCIDRs ?? [];
  const after = spec.podCIDRs ?? [];
  const changes = before.length !== after.length ? 1 : before.filter((cidr, index) => cidr !== after[index]).length;
  for (let i = 0; before.length > 0 && i < changes; i++) errors.at('podCIDRs').forbidden('node updates may not change podCIDR except from "" to valid');
  if (old.providerID && old.providerID !== spec.providerID) errors.at('providerID').forbidden('node updates may not change providerID except from "" to valid');
}

function nodeWarnings({ object: { spec } }: Write<Node>): string[] {
  return [
    ...(spec.configSource ? ['spec.configSource: the feature is removed'] : []),
    ...(spec.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...(spec.podCIDRs ?? []).flatMap((cidr, index) => legacyCidrWarnings(cidr, `spec.podCIDRs[${index}]`)),
  ];
}

function statusText({ spec, status }: Node): string {
  const ready = (status.conditions ?? []).findLast(({ type }) => type === 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (spec.unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

function rolesText({ metadata: { labels = {} } }: Node): string {
  const roles = Object.entries(labels).map(([key, value]) =>
    key.startsWith(ROLE_LABEL_PREFIX) ? key.slice(ROLE_LABEL_PREFIX.length) : key === ROLE_LABEL ? value : '',
  );
  return [...new Set(roles.filter((role) => role !== ''))].toSorted().join(',') || '<none>';
}

const addressOf = ({ addresses = [] }: NodeStatus, kind: string): string => addresses.find(({ type }) => type === kind)?.address ?? '<none>';
