import type { FieldErrors } from '../../api/field-errors.ts';
import { ageSince } from '../../util/duration.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { DNS1123_SUBDOMAIN, dns1123SubdomainErrors, patternError } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type {
  PoolStatus,
  ResourcePoolStatusRequest,
  ResourcePoolStatusRequestSpec,
  ResourcePoolStatusRequestStatus,
} from '../facts/types/resource-v1alpha3.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateConditions } from '../validation/conditions.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MAX_CONDITIONS = 10;
const POOL_NAME_MAX_BYTES = 253;
const ERROR_MAX_BYTES = 256;
/** By the rule of the tags, in which capitals are named. */
const DRIVER_ERROR = patternError(
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  DNS1123_SUBDOMAIN,
  'Example.com',
);
const COUNTS = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const;

/** Asks once how the devices of a driver's pools stand; a controller answers in its status, which then stays. */
export const resourcePoolStatusRequests = defineResource<ResourcePoolStatusRequest>('resource.k8s.io/v1alpha3/resourcepoolstatusrequests', {
  validatesFinalizerNames: true,
  allowsUnconditionalUpdate: false,
  default({ spec }) {
    spec.limit ??= DEFAULT_LIMIT;
  },

  validate: ({ object: { spec } }, errors) => validateSpec(spec, errors.at('spec')),
  validateUpdate({ object: { spec }, old }, errors) {
    if (!equalJson(spec, old.spec)) errors.at('spec').invalid(null, 'field is immutable');
  },

  subresources: {
    status: {
      hasNoTable: true,
      update: {
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate({ object: { metadata, status }, old }, errors) {
          validateFinalizerNames(metadata, errors);
          if (equalJson(status, old.status)) return;
          if (old.status) errors.at('status').invalid(status, 'field is immutable');
          else if (status) validateStatus(status, errors.at('status'));
        },
      },
    },
  },

  cells: {
    Driver: ({ spec }) => spec.driver,
    Total: ({ status }) => sumCell(status, ({ totalDevices = 0 }) => totalDevices),
    Available: ({ status }) => sumCell(status, ({ availableDevices = 0 }) => availableDevices),
    Allocated: ({ status }) => sumCell(status, ({ allocatedDevices = 0 }) => allocatedDevices),
    Unavailable: ({ status }) => sumCell(status, ({ unavailableDevices = 0 }) => unavailableDevices),
    Errors: ({ status }) => sumCell(status, ({ validationError }) => (validationError === undefined ? 0 : 1)),
    Pools: ({ status }) => status?.poolCount ?? 0,
    Status: statusCell,
    Completed: ({ status }, now) => {
      const outcome = outcomeOf(status);
      return outcome?.type === 'Complete' ? ageSince(outcome.lastTransitionTime ?? undefined, now) : '<none>';
    },
  },
});

function validateSpec({ driver, poolName, limit }: ResourcePoolStatusRequestSpec, errors: FieldErrors): void {
  validateDriver(driver, errors.at('driver'));
  if (poolName !== undefined) validatePoolName(poolName, errors.at('poolName'));
  if (limit !== undefined && limit < 1) errors.at('limit').invalid(limit, 'must be greater than or equal to 1');
  if (limit !== undefined && limit > MAX_LIMIT) errors.at('limit').invalid(limit, `must be less than or equal to ${MAX_LIMIT}`);
}

function validateDriver(driver: string, errors: FieldErrors): void {
  if (driver === '') return errors.required();
  for (const error of dns1123SubdomainErrors(driver.toLowerCase(), DRIVER_ERROR)) errors.invalid(driver, error);
}

/** By the rule of the tags, which counts the parts. */
function validatePoolName(name: string, errors: FieldErrors): void {
  if (Buffer.byteLength(name) > POOL_NAME_MAX_BYTES) errors.tooLong(POOL_NAME_MAX_BYTES);
  for (const [index, part] of name.split('/').entries()) {
    if (part === '') errors.invalid(name, `segment ${index}: must not be empty`);
    else for (const error of dns1123SubdomainErrors(part)) errors.invalid(part, `segment ${index}: ${error}`);
  }
}

function validateStatus({ poolCount, pools = [], conditions = [] }: ResourcePoolStatusRequestStatus, errors: FieldErrors): void {
  validateConditions(conditions, errors.at('conditions'));
  if (poolCount === undefined) errors.at('poolCount').required();
  else if (poolCount < 0) errors.at('poolCount').invalid(poolCount, 'must be greater than or equal to 0');
  if (pools.length > MAX_LIMIT) errors.at('pools').tooMany(pools.length, MAX_LIMIT);
  else for (const [index, pool] of pools.entries()) validatePool(pool, errors.at('pools').index(index));
  if (conditions.length > MAX_CONDITIONS) errors.at('conditions').tooMany(conditions.length, MAX_CONDITIONS);
}

function validatePool(pool: PoolStatus, errors: FieldErrors): void {
  validateDriver(pool.driver ?? '', errors.at('driver'));
  if (pool.poolName) validatePoolName(pool.poolName, errors.at('poolName'));
  else errors.at('poolName').required();
  if (pool.generation === 0) errors.at('generation').required();
  else if (pool.generation < 0) errors.at('generation').invalid(pool.generation, 'must be greater than or equal to 0');
  const { resourceSliceCount, nodeName, validationError } = pool;
  if (resourceSliceCount !== undefined && resourceSliceCount < 1)
    errors.at('resourceSliceCount').invalid(resourceSliceCount, 'must be greater than or equal to 1');
  for (const field of COUNTS) {
    const count = pool[field];
    if (count !== undefined && count < 0) errors.at(field).invalid(count, 'must be greater than or equal to 0');
  }
  if (nodeName !== undefined) for (const error of dns1123SubdomainErrors(nodeName)) errors.at('nodeName').invalid(nodeName, error);
  if (validationError !== undefined && Buffer.byteLength(validationError) > ERROR_MAX_BYTES) errors.at('validationError').tooLong(ERROR_MAX_BYTES);
}

const outcomeOf = (status: ResourcePoolStatusRequestStatus | undefined) =>
  (status?.conditions ?? []).find((condition) => condition.status === 'True' && (condition.type === 'Complete' || condition.type === 'Failed'));

function sumCell(status: ResourcePoolStatusRequestStatus | undefined, valueOf: (pool: PoolStatus) => number): string {
  if (!status || outcomeOf(status)?.type === 'Failed') return '-';
  return String((status.pools ?? []).reduce((sum, pool) => sum + valueOf(pool), 0));
}

function statusCell({ status }: ResourcePoolStatusRequest): string {
  const outcome = outcomeOf(status)?.type ?? 'Pending';
  const { poolCount = 0, pools = [] } = status ?? {};
  return outcome === 'Complete' && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : outcome;
}
