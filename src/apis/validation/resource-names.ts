import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import { parseQuantity, quantityAt } from '../../api/quantity.ts';

/** Names of resources and what amounts they take (pkg/apis/core/helper, validateResourceName and its kin in pkg/apis/core/validation). */
const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const COUNTED = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const QUOTA = new Set([...COMPUTE, ...COMPUTE.map((name) => REQUESTS + name), ...COMPUTE.map((name) => `limits.${name}`), ...COUNTED, 'requests.storage']);
const STANDARD = new Set([...QUOTA, 'storage']);
const INTEGER = new Set(COUNTED);
const CONTAINER = new Set(COMPUTE);
const POD_LEVEL = ['cpu', 'hugepages-', 'memory'];

const NEGATIVE_QUANTITY = 'must be greater than or equal to 0';

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith(REQUESTS + HUGE_PAGES);

/** In Kubernetes' own namespace, where a name without a prefix is too. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith(REQUESTS) && qualifiedNameErrors(REQUESTS + name).length === 0;
/** Whether requests may be below limits. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);
export const isStandardQuotaResource = (name: string): boolean => QUOTA.has(name) || isQuotaHugePages(name);
const isIntegerResource = (name: string): boolean => INTEGER.has(name) || isExtendedResource(name);
export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

/** Any resource; answers whether it is one. */
export function validateResourceName(name: string, errors: FieldErrors): boolean {
  const before = errors.list.length;
  for (const error of qualifiedNameErrors(name)) errors.invalidTyped(name, error);
  if (errors.list.length > before) return false;
  if (name.includes('/') || STANDARD.has(name) || isQuotaHugePages(name)) return true;
  errors.invalidTyped(name, 'must be a standard resource type or fully qualified');
  return false;
}

/** What a container may ask for. */
export function validateContainerResourceName(name: string, errors: FieldErrors): void {
  // The usual names need no grammar.
  if (CONTAINER.has(name)) return;
  validateResourceName(name, errors);
  if (!name.includes('/')) {
    if (!isHugePages(name)) errors.invalidTyped(name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name)) errors.invalidTyped(name, "doesn't follow extended resource name standard");
}

/** What a pod as a whole may ask for (KEP-2837). */
export function validatePodResourceName(name: string, errors: FieldErrors): void {
  if (validateResourceName(name, errors) && !isPodLevelResource(name)) errors.notSupported(name, POD_LEVEL);
}

export function validateQuotaResourceName(name: string, errors: FieldErrors): void {
  validateResourceName(name, errors);
  if (!name.includes('/') && !isStandardQuotaResource(name)) errors.invalidTyped(name, 'must be a standard resource for quota');
}

/** `quantity` is canonical text, as decoding leaves it. */
export function validateResourceQuantity(name: string, quantity: string, errors: FieldErrors): void {
  if (quantity.startsWith('-')) errors.invalid(quantity, NEGATIVE_QUANTITY);
  if (!CONTAINER.has(name) && isIntegerResource(name) && !isWholeNumber(quantity)) errors.invalid(quantity, 'must be an integer');
}

/** To a thousandth, which is as fine as upstream looks. */
export function isWholeNumber(text: string): boolean {
  const quantity = parseQuantity(text);
  return quantity.exponent >= 0 || quantityAt(quantity, -3) % 1000n === 0n;
}

/** Whether an amount of huge pages is a number of such pages: `hugepages-2Mi: 5Mi` is not. */
export function isDivisibleHugePages(name: string, quantity: string): boolean {
  let size;
  try {
    size = parseQuantity(name.slice(HUGE_PAGES.length));
  } catch {
    return false;
  }
  if (quantityAt(size, -3) <= 0n || quantityAt(size, -3) % 1000n !== 0n) return false;
  return quantityAt(parseQuantity(quantity), 0) % quantityAt(size, 0) === 0n;
}
