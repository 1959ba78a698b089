import type { DeviceRequest, DeviceSubRequest, ExactDeviceRequest, ResourceClaim } from '../../facts/types/resource-v1.ts';
import { type Amounts, wholeNumber } from './amounts.ts';
import { type Evaluator, NO_SCOPE, countName } from './evaluator.ts';

const COUNT = countName({ group: 'resource.k8s.io', resource: 'resourceclaims' });
/** After the name of a class of devices. */
const DEVICES_OF_CLASS = '.deviceclass.resource.k8s.io/devices';
/** As many as one claim can be given: what "all" comes to (AllocationResultsMaxSize). */
const MOST_DEVICES = 32;

/** Claims, and the devices of each class that they ask for. */
export const resourceClaimEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  counts: (name) => name === COUNT || name.endsWith(DEVICES_OF_CLASS),
  usage: (object) => usage(object as ResourceClaim),
  isInScope: NO_SCOPE,
};

function usage({ spec }: ResourceClaim): Amounts {
  const counts = new Map([[COUNT, 1]]);
  for (const request of spec.devices.requests ?? []) {
    for (const [name, count] of devicesOf(request)) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return new Map([...counts].map(([name, count]) => [name, wholeNumber(count)]));
}

/** Of alternatives, the most that any of them asks of a class. */
function devicesOf({ exactly, firstAvailable }: DeviceRequest): Map<string, number> {
  const most = new Map<string, number>();
  const alternatives = firstAvailable?.length ? firstAvailable : exactly ? [exactly] : [];
  for (const alternative of alternatives) {
    const name = alternative.deviceClassName + DEVICES_OF_CLASS;
    most.set(name, Math.max(most.get(name) ?? 0, deviceCount(alternative)));
  }
  return most;
}

function deviceCount({ allocationMode, count = 0 }: ExactDeviceRequest | DeviceSubRequest): number {
  if (allocationMode === 'All') return MOST_DEVICES;
  return allocationMode === 'ExactCount' ? count : 0;
}
