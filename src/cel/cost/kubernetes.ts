import { CelList, CelMap, type CelValue } from '../values.ts';
import { REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR } from './factors.ts';
import { sizeOf, type CallCost } from './size.ts';

/** What Kubernetes has calls of its libraries cost, by the name of the function alone (apiserver/pkg/cel/library/cost.go CallCost). */
const AUTHORIZATION_CHECK = 350_000;
/** Of a selector's text: half of its characters are taken to begin a requirement, which is a list and a struct. */
const SELECTOR_BASE = 10;
const COST_PER_REQUIREMENT = 50;

const traversal =
  (factor = 1): CallCost =>
  ([text]) =>
    Math.ceil(sizeOf(text) * factor * STRING_TRAVERSAL_FACTOR);

export const selectorCost = (length: number): number =>
  SELECTOR_BASE + Math.ceil(length * STRING_TRAVERSAL_FACTOR) + Math.ceil(Math.ceil(length * 0.5) * COST_PER_REQUIREMENT);

const selector: CallCost = ([, text]) => selectorCost(sizeOf(text));

const pattern: CallCost = ([text, regex]) => Math.ceil((1 + sizeOf(text)) * STRING_TRAVERSAL_FACTOR) * Math.ceil(sizeOf(regex) * REGEX_LENGTH_FACTOR);

/** Of a value as a tree of data. */
function treeCost(value: CelValue | undefined): number {
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * STRING_TRAVERSAL_FACTOR);
  if (value instanceof Uint8Array) return Math.trunc(value.length * STRING_TRAVERSAL_FACTOR);
  if (value instanceof CelList) {
    let cost = 0;
    for (let index = 0; index < value.size; index++) cost += treeCost(value.get(index));
    return cost;
  }
  if (value instanceof CelMap) return value.keys().reduce<number>((cost, key) => cost + treeCost(key) + treeCost(value.find(key)), 0);
  return 1;
}

const tree: CallCost = ([value]) => treeCost(value);

const containsAddress =
  (textOverload: string, overloadId: string): CallCost =>
  ([range, other]) =>
    Math.ceil(2 * sizeOf(range) * STRING_TRAVERSAL_FACTOR) + (overloadId === textOverload ? Math.ceil(sizeOf(other) * STRING_TRAVERSAL_FACTOR) : 0);

const containsRange =
  (overloadId: string): CallCost =>
  ([range, other]) =>
    Math.ceil(2 * sizeOf(range) * STRING_TRAVERSAL_FACTOR) +
    Math.ceil(sizeOf(range) * STRING_TRAVERSAL_FACTOR) +
    1 +
    (overloadId === 'cidr_contains_cidr_string' ? Math.ceil(sizeOf(other) * STRING_TRAVERSAL_FACTOR) : 0);

/** A format's pattern is not seen; it says how long it may be. */
const validation: CallCost = ([format, text]) => {
  const patternSize = typeof format === 'object' && format !== null && 'maxPatternSize' in format ? Number(format.maxPatternSize) : 0;
  return Math.ceil((1 + sizeOf(text)) * STRING_TRAVERSAL_FACTOR) * Math.ceil(patternSize * REGEX_LENGTH_FACTOR);
};

/** Functions that only look something up. */
export const NOMINAL_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength family isUnspecified isLoopback ' +
    'isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub ' +
    'major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery'
  ).split(' '),
);

const BY_FUNCTION: Readonly<Record<string, (overloadId: string) => CallCost>> = {
  check: () => AUTHORIZATION_CHECK,
  fieldSelector: () => selector,
  labelSelector: () => selector,
  isSorted: () => tree,
  sum: () => tree,
  max: () => tree,
  min: () => tree,
  indexOf: () => tree,
  lastIndexOf: () => tree,
  url: () => traversal(),
  lowerAscii: () => traversal(),
  upperAscii: () => traversal(),
  substring: () => traversal(),
  trim: () => traversal(),
  'jsonpatch.escapeKey': () => traversal(),
  replace: () => traversal(2),
  split: () => traversal(2),
  join: () => ({ ofResult: (result) => Math.ceil(sizeOf(result) * 2 * STRING_TRAVERSAL_FACTOR) }),
  find: () => pattern,
  findAll: () => pattern,
  cidr: () => traversal(),
  isIP: () => traversal(),
  isCIDR: () => traversal(),
  ip: (overloadId) => (overloadId === 'cidr_ip' ? 1 : traversal()),
  'ip.isCanonical': () => traversal(2),
  containsIP: (overloadId) => containsAddress('cidr_contains_ip_string', overloadId),
  containsCIDR: containsRange,
  quantity: () => traversal(),
  isQuantity: () => traversal(),
  semver: () => traversal(),
  isSemver: () => traversal(),
  validate: () => validation,
};

export function kubernetesCallCost(functionName: string, overloadId: string): CallCost | undefined {
  if (NOMINAL_FUNCTIONS.has(functionName)) return 1;
  return Object.hasOwn(BY_FUNCTION, functionName) ? BY_FUNCTION[functionName]!(overloadId) : undefined;
}
