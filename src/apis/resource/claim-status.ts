import type { FieldErrors } from '../../api/field-errors.ts';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../facts/types/resource-v1.ts';
import { validateNodeSelector } from '../core/pod/affinity.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { validateChoice } from '../validation/choice.ts';
import { validateConditions } from '../validation/conditions.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { OPAQUE, TOLERATION, validateRequestReference, validateRequestReferences } from './claim-spec.ts';
import { MAX_CONFIGS, validateConfiguration, validateRawObject } from './configuration.ts';
import { validateList, validateUnique } from './lists.ts';
import { validateDriverName, validateLabelLikeName, validatePoolName, validateUid } from './names.ts';
import { readCidr } from '../../net/cidr.ts';
import { quote } from '../../util/go-quote.ts';
import { formatIp } from '../../net/ip-address.ts';

/** What was found for a claim, who uses it, and how the devices are (pkg/apis/resource/validation). */
const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_CONDITIONS = 8;
const MAX_IPS = 16;
const INTERFACE_NAME_MAX_BYTES = 256;
const HARDWARE_ADDRESS_MAX_BYTES = 128;
const DATA_MAX_BYTES = 10 * 1024;
const SOURCES = ['FromClaim', 'FromClass'];

export interface StatusContext {
  isDeleted: boolean;
  /** Names of the claim's requests. */
  requests: ReadonlySet<string>;
}

type DeviceIdentity = Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>;

const identityOf = ({ driver, pool, device, shareID = '' }: DeviceIdentity): string => JSON.stringify([driver, pool, device, shareID]);
/** As field errors print it. */
const shownIdentity = ({ driver, pool, device, shareID = '' }: DeviceIdentity): object => ({ Driver: driver, Pool: pool, Device: device, ShareID: shareID });
const allocatedDevices = (status: ResourceClaimStatus): Set<string> => new Set((status.allocation?.devices.results ?? []).map(identityOf));

/** The status of devices that the claim no longer has goes with them, so that clients need not know of it. */
export function dropDeallocated(status: ResourceClaimStatus, old: ResourceClaimStatus): void {
  const kept = allocatedDevices(status);
  const had = allocatedDevices(old);
  const devices = (status.devices ?? []).filter((device) => !had.has(identityOf(device)) || kept.has(identityOf(device)));
  if (devices.length === 0) delete status.devices;
  else status.devices = devices;
}

const NODE_SELECTOR_REQUIREMENT: InternalFields = [
  ['Key', 'key', ''],
  ['Operator', 'operator', ''],
  ['Values', 'values'],
];
const ALLOCATION: InternalFields = [
  [
    'Devices',
    'devices',
    [
      [
        'Results',
        'results',
        [
          ['Request', 'request', ''],
          ['Driver', 'driver', ''],
          ['Pool', 'pool', ''],
          ['Device', 'device', ''],
          ['AdminAccess', 'adminAccess'],
          ['Tolerations', 'tolerations', TOLERATION],
          ['BindingConditions', 'bindingConditions'],
          ['BindingFailureConditions', 'bindingFailureConditions'],
          ['ShareID', 'shareID'],
          ['ConsumedCapacity', 'consumedCapacity'],
        ],
      ],
      ['Config', 'config', [['Source', 'source', ''], ['Requests', 'requests'], OPAQUE]],
    ],
  ],
  [
    'NodeSelector',
    'nodeSelector',
    [
      [
        'NodeSelectorTerms',
        'nodeSelectorTerms',
        [
          ['MatchExpressions', 'matchExpressions', NODE_SELECTOR_REQUIREMENT],
          ['MatchFields', 'matchFields', NODE_SELECTOR_REQUIREMENT],
        ],
      ],
    ],
  ],
  ['AllocationTimestamp', 'allocationTimestamp'],
];

export function validateClaimStatus(status: ResourceClaimStatus, old: ResourceClaimStatus, context: StatusContext, errors: FieldErrors): void {
  const { allocation, reservedFor = [], devices } = status;
  validateUnique(reservedFor, MAX_CONSUMERS, validateConsumer, ({ uid }) => uid, errors.at('reservedFor'));
  const allocated = allocatedDevices(status);
  validateUnique(devices, Infinity, (device, at) => validateDeviceStatus(device, allocated, at), shownIdentity, errors.at('devices'));
  if (reservedFor.length > 0) validateReservation(status, old, context, errors.at('reservedFor'));
  // Results that are stored already may be what newer rules would refuse.
  if (allocation && old.allocation) validateUnchanged(allocation, old.allocation, errors.at('allocation'), () => internalForm(allocation, ALLOCATION));
  else if (allocation) validateAllocation(allocation, context.requests, errors.at('allocation'));
}

function validateReservation(
  { allocation, reservedFor = [] }: ResourceClaimStatus,
  old: ResourceClaimStatus,
  { isDeleted }: StatusContext,
  errors: FieldErrors,
): void {
  if (!allocation) return errors.forbidden('may not be specified when `allocated` is not set');
  const isNew = (consumer: ResourceClaimConsumerReference): boolean => !(old.reservedFor ?? []).some((other) => equalJson(other, consumer));
  if (isDeleted && reservedFor.some(isNew)) errors.forbidden('new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set');
}

function validateConsumer(consumer: ResourceClaimConsumerReference, errors: FieldErrors): void {
  for (const field of ['resource', 'name', 'uid'] as const) if (consumer[field] === '') errors.at(field).required();
}

function validateAllocation({ devices, nodeSelector }: AllocationResult, requests: ReadonlySet<string>, errors: FieldErrors): void {
  validateList(devices.results, MAX_RESULTS, (result, at) => validateResult(result, requests, at), errors.at('devices', 'results'));
  // Of the class and of the claim.
  validateList(devices.config, 2 * MAX_CONFIGS, (config, at) => validateAllocatedConfiguration(config, requests, at), errors.at('devices', 'config'));
  if (nodeSelector) validateNodeSelector(nodeSelector, errors.at('nodeSelector'), false);
}

function validateResult(result: DeviceRequestAllocationResult, requests: ReadonlySet<string>, errors: FieldErrors): void {
  validateRequestReference(result.request, requests, errors.at('request'));
  validateDriverName(result.driver, errors.at('driver'));
  validatePoolName(result.pool, errors.at('pool'));
  validateLabelLikeName(result.device, errors.at('device'));
  validateBindingConditions(result, errors);
  if (result.shareID !== undefined) validateUid(result.shareID, errors.at('shareID'));
}

function validateAllocatedConfiguration(config: DeviceAllocationConfiguration, requests: ReadonlySet<string>, errors: FieldErrors): void {
  validateChoice(config.source, SOURCES, errors.at('source'));
  validateRequestReferences(config.requests, requests, errors.at('requests'));
  validateConfiguration(config, false, errors);
}

function validateDeviceStatus(status: AllocatedDeviceStatus, allocated: ReadonlySet<string>, errors: FieldErrors): void {
  validateDriverName(status.driver, errors.at('driver'));
  validatePoolName(status.pool, errors.at('pool'));
  validateLabelLikeName(status.device, errors.at('device'));
  if (status.shareID !== undefined) validateUid(status.shareID, errors.at('shareID'));
  if (!allocated.has(identityOf(status))) errors.invalid(shownIdentity(status), 'must be an allocated device in the claim');
  const conditions = status.conditions ?? [];
  if (conditions.length > MAX_CONDITIONS) errors.at('conditions').tooMany(conditions.length, MAX_CONDITIONS);
  validateConditions(conditions, errors.at('conditions'));
  if (status.data !== undefined) validateRawObject(status.data, errors.at('data'), DATA_MAX_BYTES);
  if (status.networkData) validateNetworkData(status.networkData, errors.at('networkData'));
}

function validateNetworkData({ interfaceName = '', hardwareAddress = '', ips }: NetworkDeviceData, errors: FieldErrors): void {
  if (Buffer.byteLength(interfaceName) > INTERFACE_NAME_MAX_BYTES) errors.at('interfaceName').tooLong(INTERFACE_NAME_MAX_BYTES);
  if (Buffer.byteLength(hardwareAddress) > HARDWARE_ADDRESS_MAX_BYTES) errors.at('hardwareAddress').tooLong(HARDWARE_ADDRESS_MAX_BYTES);
  validateUnique(ips, MAX_IPS, validateInterfaceAddress, (ip) => ip, errors.at('ips'));
}

/** An address together with the length of its network's prefix, in its one form (apimachinery/pkg/util/validation IsValidInterfaceAddress). */
function validateInterfaceAddress(value: string, errors: FieldErrors): void {
  const cidr = readCidr(value);
  if (!cidr) return errors.invalid(value, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)');
  const canonical = `${formatIp(cidr.bytes)}/${cidr.prefixLength}`;
  if (canonical !== value) errors.invalid(value, `must be in canonical form (${quote(canonical)})`);
}
