import type { KindContext } from '../../registry/write.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { OtherVersion } from '../define.ts';
import type { Device, DeviceRequest, ResourceClaimSpec, ResourceSlice, ResourceSliceSpec } from '../facts/types/resource-v1.ts';
import { sameInVersion } from '../same-in-version.ts';

/** Versions that --runtime-config can turn on beside v1. v1beta2 has v1's fields; v1beta1 nests some of them otherwise. */
const GROUP = 'resource.k8s.io';

const deprecation = (version: string, kind: string, since: string, removed: string): string =>
  `${GROUP}/${version} ${kind} is deprecated in ${since}+, unavailable in ${removed}+`;

/** `flatten` and `nest` are the ways from v1beta1 and back; absent where its fields are v1's too. `fill` are v1's defaults; `isFlat` of what was v1beta1. */
export function betaVersions<T extends ApiObject>(
  kind: string,
  fill?: (object: T, context: KindContext, isFlat?: boolean) => void,
  flatten?: (object: T) => void,
  nest?: (object: T) => void,
): OtherVersion[] {
  const beta2 = sameInVersion(GROUP, 'v1', 'v1beta2', deprecation('v1beta2', kind, 'v1.36', 'v1.39'));
  const beta1 = sameInVersion(GROUP, 'v1', 'v1beta1', deprecation('v1beta1', kind, 'v1.35', 'v1.38'));
  const filled = fill as ((object: ApiObject, context: KindContext, isFlat?: boolean) => void) | undefined;
  return [
    { ...beta2, ...(filled && { default: (object, context) => filled(object, context) }) },
    {
      ...beta1,
      toStored(object, context) {
        flatten?.(object as T);
        filled?.(object, context, true);
        return beta1.toStored!(object, context);
      },
      fromStored(object) {
        nest?.(object as T);
        return beta1.fromStored!(object);
      },
    },
  ];
}

const EXACT_FIELDS = ['deviceClassName', 'selectors', 'allocationMode', 'count', 'adminAccess', 'tolerations', 'capacity'];
const FLAT_DEVICE_FIELDS = new Set(['name', 'basic']);

type Fields = Record<string, unknown>;

/** What is asked for exactly stands in the request itself. Any of its fields makes it such a request. */
export function flattenRequests({ devices }: ResourceClaimSpec): void {
  for (const request of devices.requests ?? []) {
    const fields = request as unknown as Fields;
    const given = EXACT_FIELDS.filter((field) => fields[field] !== undefined && fields[field] !== '');
    if (given.length > 0)
      request.exactly = Object.fromEntries(given.map((field) => [field, fields[field]])) as unknown as NonNullable<DeviceRequest['exactly']>;
    if (request.exactly) request.exactly.deviceClassName ??= '';
    for (const field of EXACT_FIELDS) delete fields[field];
  }
}

export function nestRequests({ devices }: ResourceClaimSpec): void {
  for (const request of devices.requests ?? []) {
    const { exactly } = request;
    delete request.exactly;
    Object.assign(request, { deviceClassName: '' }, exactly);
  }
}

/** All of a device but its name stands in `basic`. */
export function flattenDevices({ spec }: ResourceSlice): void {
  dropZero(spec);
  if (spec.devices) spec.devices = spec.devices.map((device) => ({ name: device.name, ...(device as unknown as { basic?: object }).basic }));
}

/** In v1beta1 they are no pointers: none and the zero value are one. */
function dropZero(spec: ResourceSliceSpec): void {
  if (!spec.nodeName) delete spec.nodeName;
  if (!spec.allNodes) delete spec.allNodes;
}

export function nestDevices({ spec }: ResourceSlice): void {
  if (!spec.devices) return;
  spec.devices = spec.devices.map(
    (device) =>
      ({ name: device.name, basic: Object.fromEntries(Object.entries(device).filter(([field]) => !FLAT_DEVICE_FIELDS.has(field))) }) as unknown as Device,
  );
}
