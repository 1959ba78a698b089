import { equalJson } from '../../encoding/json-equal.ts';
import type { KindContext } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { timeOf } from '../../util/time.ts';
import { defineResource } from '../define.ts';
import type { Device, ResourcePool, ResourceSlice, ResourceSliceSpec } from '../facts/types/resource-v1.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { validateNodeSelector } from '../core/pod/affinity.ts';
import { shownTerm } from '../core/pod/internal-form.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateCounterSet, validateDevice } from './device.ts';
import { validateUnique } from './lists.ts';
import { validateDriverName, validatePoolName, validateSubdomainLikeName } from './names.ts';
import { betaVersions, flattenDevices, nestDevices } from './versions.ts';

const MAX_DEVICES = 128;
/** Where some of them have taints or consume counters. */
const MAX_ADVANCED_DEVICES = 64;
const MAX_COUNTER_SETS = 8;
const ONE_OF = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

const ofDevices = (...fields: string[]): string[] => fields.map((field) => `spec.devices.*.${field}`);
const BINDING_FIELDS = ofDevices('bindingConditions', 'bindingFailureConditions', 'bindsToNode');

const GATED: GatedFields = [
  ['DRADeviceTaints', ofDevices('taints')],
  ['DRAPartitionableDevices', ['spec.sharedCounters', 'spec.perDeviceNodeSelection', ...ofDevices('consumesCounters', 'nodeName', 'nodeSelector', 'allNodes')]],
  ['DRADeviceBindingConditions', BINDING_FIELDS],
  // What is bound is told in the claim's status.
  ['DRAResourceClaimDeviceStatus', BINDING_FIELDS],
  ['DRAConsumableCapacity', ofDevices('allowMultipleAllocations', 'capacity.*.requestPolicy')],
  ['DRANodeAllocatableResources', ofDevices('nodeAllocatableResourceMappings')],
  ['DRAListTypeAttributes', ['ints', 'bools', 'strings', 'versions'].flatMap((field) => ofDevices(`attributes.*.${field}`))],
];

/** Devices that a driver offers, in pools, on some nodes. */
export const resourceSlices = defineResource<ResourceSlice>('resource.k8s.io/v1/resourceslices', {
  validatesFinalizerNames: true,
  default: fillDefaults,
  alsoServed: betaVersions<ResourceSlice>('ResourceSlice', fillDefaults, flattenDevices, nestDevices),
  generation: 'spec',
  validatesSentEmpty: () => true,
  prepareForCreate: ({ object: slice, settings }) => dropGatedFields(GATED, slice, undefined, settings),
  prepareForUpdate({ object: slice, old, settings }) {
    // Fields that are dropped count as a change.
    if (!equalJson(slice.spec, old.spec)) slice.metadata.generation = (old.metadata.generation ?? 0) + 1;
    dropGatedFields(GATED, slice, old, settings);
  },

  validate: ({ object: { spec } }, errors) => validateSpec(spec, undefined, errors.at('spec')),
  validateUpdate: ({ object: { spec }, old }, errors) => validateSpec(spec, old.spec, errors.at('spec')),
  warnings({ object }) {
    const { driver } = object.spec;
    return driver === driver.toLowerCase() ? [] : [`spec.driver: driver names should be lowercase; ${quote(driver)} contains uppercase characters`];
  },

  unselectable: (field) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
  selectable: { 'spec.nodeName': ({ spec }) => spec.nodeName ?? '', 'spec.driver': ({ spec }) => spec.driver },
  cells: {
    Node: ({ spec }) => spec.nodeName ?? '',
    Driver: ({ spec }) => spec.driver,
    Pool: ({ spec }) => spec.pool.name,
  },
});

function fillDefaults({ spec }: ResourceSlice, { now }: KindContext): void {
  const time = timeOf(now);
  for (const taint of (spec.devices ?? []).flatMap(({ taints = [] }) => taints)) taint.timeAdded ??= time;
}

function validateSpec(spec: ResourceSliceSpec, old: ResourceSliceSpec | undefined, errors: FieldErrors): void {
  validateDriverName(spec.driver, errors.at('driver'));
  validatePool(spec.pool, errors.at('pool'));
  if (old) {
    validateUnchanged(spec.pool.name, old.pool.name, errors.at('pool', 'name'));
    validateUnchanged(spec.driver, old.driver, errors.at('driver'));
    validateUnchanged(spec.nodeName, old.nodeName, errors.at('nodeName'));
  }
  validateNodes(spec, errors);
  if (spec.sharedCounters && spec.devices) errors.invalid('', 'only one of `sharedCounters` or `devices` is allowed');
  const oldDevices = new Map((old?.devices ?? []).map((device) => [device.name, device]));
  const choosesNodes = spec.perDeviceNodeSelection ?? false;
  validateUnique(
    spec.devices,
    maxDevices(spec.devices ?? []),
    (device, at) => validateDevice(device, oldDevices.get(device.name), choosesNodes, at),
    ({ name }) => name,
    errors.at('devices'),
  );
  validateUnique(spec.sharedCounters, MAX_COUNTER_SETS, validateCounterSet, ({ name }) => name, errors.at('sharedCounters'));
}

const maxDevices = (devices: readonly Device[]): number =>
  devices.some(({ taints = [], consumesCounters = [] }) => taints.length > 0 || consumesCounters.length > 0) ? MAX_ADVANCED_DEVICES : MAX_DEVICES;

function validatePool({ name, resourceSliceCount, generation }: ResourcePool, errors: FieldErrors): void {
  validatePoolName(name, errors.at('name'));
  if (resourceSliceCount <= 0) errors.at('resourceSliceCount').invalid(resourceSliceCount, 'must be greater than zero');
  if (generation < 0) errors.at('generation').invalid(generation, 'must be greater than or equal to zero');
}

function validateNodes(spec: ResourceSliceSpec, errors: FieldErrors): void {
  const { nodeName, nodeSelector } = spec;
  if (nodeName === '') errors.at('nodeName').invalid(nodeName, 'must be either unset or set to a non-empty string');
  else if (nodeName !== undefined) validateSubdomainLikeName(nodeName, errors.at('nodeName'));
  if (nodeSelector) {
    validateNodeSelector(nodeSelector, errors.at('nodeSelector'), false);
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    if (terms.length !== 1)
      errors
        .at('nodeSelector', 'nodeSelectorTerms')
        .invalid(nodeSelector.nodeSelectorTerms?.map(shownTerm) ?? null, 'must have exactly one node selector term');
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const)
    if (spec[field] === false) errors.at(field).invalid(false, 'must be either unset or set to true');
  const given = (['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const)
    .filter((field) => Boolean(spec[field]))
    .map((field) => `\`${field}\``);
  if (given.length === 0) errors.required(ONE_OF);
  else if (given.length > 1) errors.invalid(`{${given.join(', ')}}`, `${ONE_OF}, but multiple fields are set`);
}
