import { checkEach } from '../../api/validation-run.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { parseQuantity, quantitySign } from '../../api/quantity.ts';
import { isSemanticVersion } from '../../util/semantic-version.ts';
import type { CounterSet, Device, DeviceAttribute, DeviceCounterConsumption, NodeAllocatableResourceMapping } from '../facts/types/resource-v1.ts';
import { validateNodeSelector } from '../core/pod/affinity.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { isNativeResource } from '../validation/resource-names.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { validateCapacity } from './capacity.ts';
import { validateEntries, validateList, validateUnique } from './lists.ts';
import { QUALIFIED_NAME_MAX_BYTES, validateLabelLikeName, validateQualifiedName, validateSubdomainLikeName } from './names.ts';
import { validateTaint } from './taints.ts';

/** One device of a slice (pkg/apis/resource/validation). */
const MAX_ATTRIBUTES_AND_CAPACITIES = 32;
const MAX_TAINTS = 16;
const MAX_CONSUMPTIONS = 2;
const MAX_COUNTERS = 32;
const COUNTER_NAME_MAX_BYTES = 63;
const ATTRIBUTE_VALUE_MAX_BYTES = 64;
const NODES_OF_ONE =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
const NODES_NOT_ALLOWED = '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
const ONE_VALUE = 'exactly one value must be specified';
const VALUES = ['int', 'bool', 'string', 'version', 'ints', 'bools', 'strings', 'versions'] as const;

const ATTRIBUTE: InternalFields = [
  ['IntValue', 'int'],
  ['BoolValue', 'bool'],
  ['StringValue', 'string'],
  ['VersionValue', 'version'],
  ['IntValues', 'ints'],
  ['BoolValues', 'bools'],
  ['StringValues', 'strings'],
  ['VersionValues', 'versions'],
];

export function validateDevice(device: Device, old: Device | undefined, choosesNodes: boolean, errors: FieldErrors): void {
  const { name, attributes = {}, capacity = {}, taints } = device;
  validateLabelLikeName(name, errors.at('name'));
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > MAX_ATTRIBUTES_AND_CAPACITIES)
    errors.invalid(count, `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES_AND_CAPACITIES}`);
  const isShared = device.allowMultipleAllocations ?? false;
  validateEntries(attributes, Infinity, QUALIFIED_NAME_MAX_BYTES, validateQualifiedName, validateAttribute, errors.at('attributes'));
  validateEntries(
    capacity,
    Infinity,
    QUALIFIED_NAME_MAX_BYTES,
    validateQualifiedName,
    (item, at) => validateCapacity(item, isShared, at),
    errors.at('capacity'),
  );
  if (!old || !equalJson(old.taints, taints)) validateList(taints, MAX_TAINTS, (taint, at) => validateTaint(taint, at), errors.at('taints'));
  validateUnique(device.consumesCounters, MAX_CONSUMPTIONS, validateConsumption, ({ counterSet }) => counterSet, errors.at('consumesCounters'));
  if (choosesNodes) validateNodes(device, errors);
  else if (device.nodeName !== undefined || device.nodeSelector || device.allNodes !== undefined) errors.invalid(null, NODES_NOT_ALLOWED);
  validateBindingConditions(device, errors);
  for (const [resource, mapping] of Object.entries(device.nodeAllocatableResourceMappings ?? {}))
    validateMapping(resource, mapping, capacity, errors.at('nodeAllocatableResourceMappings').key(resource));
}

/** How much of a node's own resources the device takes with it. */
function validateMapping(
  resource: string,
  { allocationMultiplier, capacityKey }: NodeAllocatableResourceMapping,
  capacity: Record<string, unknown>,
  errors: FieldErrors,
): void {
  if (!isNativeResource(resource)) errors.invalidTyped(resource, 'must be a node allocatable resource name');
  if (allocationMultiplier === undefined && capacityKey === undefined)
    return errors.invalid('', 'at least one of allocationMultiplier or capacityKey must be set');
  if (allocationMultiplier !== undefined && quantitySign(parseQuantity(allocationMultiplier)) <= 0)
    errors.at('allocationMultiplier').invalid(allocationMultiplier, 'must be positive');
  if (capacityKey === '') errors.at('capacityKey').invalid('', 'capacityKey must not be an empty string');
  else if (capacityKey !== undefined && !Object.hasOwn(capacity, capacityKey)) errors.at('capacityKey').notFound(capacityKey);
}

function validateNodes({ nodeName, nodeSelector, allNodes }: Device, errors: FieldErrors): void {
  if (nodeName === '') errors.at('nodeName').invalid(nodeName, 'must not be empty');
  else if (nodeName !== undefined) validateSubdomainLikeName(nodeName, errors.at('nodeName'));
  if (nodeSelector) validateNodeSelector(nodeSelector, errors.at('nodeSelector'), false);
  if (allNodes === false) errors.at('allNodes').invalid(allNodes, 'must be either unset or set to true');
  const given = [nodeName && '`nodeName`', nodeSelector && '`nodeSelector`', allNodes && '`allNodes`'].filter(Boolean);
  if (given.length === 0) errors.required(NODES_OF_ONE);
  else if (given.length > 1) errors.invalid(`{${given.join(', ')}}`, NODES_OF_ONE);
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function validateAttribute(attribute: DeviceAttribute, errors: FieldErrors): void {
  const { string, version, strings = [], versions = [] } = attribute;
  if (string !== undefined) validateLength(string, errors.at('string'));
  if (version !== undefined) validateVersion(version, errors.at('version'));
  checkEach(errors, 'strings', strings, (item, index) => validateLength(item, errors.at('strings').index(index)));
  checkEach(errors, 'versions', versions, (item, index) => validateVersion(item, errors.at('versions').index(index)));
  const given = VALUES.filter((field) => attribute[field] !== undefined && !isEmptyList(attribute[field])).length;
  if (given === 0) errors.invalid('', ONE_VALUE);
  else if (given > 1) errors.invalid(internalForm(attribute, ATTRIBUTE), ONE_VALUE);
}

function validateVersion(version: string, errors: FieldErrors): void {
  if (!isSemanticVersion(version)) errors.invalid(version, 'must be a string compatible with semver.org spec 2.0.0');
  validateLength(version, errors);
}

function validateLength(value: string, errors: FieldErrors): void {
  if (Buffer.byteLength(value) > ATTRIBUTE_VALUE_MAX_BYTES) errors.tooLong(ATTRIBUTE_VALUE_MAX_BYTES);
}

export function validateCounterSet({ name, counters = {} }: CounterSet, errors: FieldErrors): void {
  validateCounters(name, counters, errors.at('name'), errors.at('counters'));
}

function validateConsumption({ counterSet, counters = {} }: DeviceCounterConsumption, errors: FieldErrors): void {
  validateCounters(counterSet, counters, errors.at('counterSet'), errors.at('counters'));
}

function validateCounters(name: string, counters: Record<string, unknown>, nameErrors: FieldErrors, errors: FieldErrors): void {
  if (name === '') nameErrors.required();
  else validateLabelLikeName(name, nameErrors);
  if (Object.keys(counters).length === 0) errors.required();
  else validateEntries(counters, MAX_COUNTERS, COUNTER_NAME_MAX_BYTES, validateLabelLikeName, () => {}, errors);
}
