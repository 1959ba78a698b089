import { REGEX_LENGTH_FACTOR, LIST_CREATE_COST, STRING_TRAVERSAL_FACTOR } from './factors.ts';
import { NOMINAL_FUNCTIONS } from './kubernetes.ts';
import { elementNode, type CallEstimate, type CostNode, type EstimatedCall } from './node.ts';
import { ONE, UNBOUNDED, NO_COST, exactly, plus, scaled, times, union, type CostRange, type SizeEstimate } from './range.ts';

/**
 * What calls of libraries are estimated to cost: cel-go's extensions by overload (ext/lists.go, ext/sets.go), then Kubernetes' by the name of
 * the function (apiserver/pkg/cel/library/cost.go EstimateCallCost). Which rules a CRD may have follows from these figures.
 */
export function estimateLibraryCall(call: EstimatedCall): CallEstimate | undefined {
  return estimateExtension(call) ?? estimateKubernetes(call);
}

function estimateExtension(call: EstimatedCall): CallEstimate | undefined {
  const { overloadId, target, args, sizeOf } = call;
  const sorted = /^list_(.*)_(sort|sortByAssociatedKeys)$/.exec(overloadId);
  if (sorted !== null && target !== undefined) {
    const isText = sorted[1] === 'string' || sorted[1] === 'bytes';
    const size = sizeOf(sorted[2] === 'sort' ? target : args[0]!);
    return allocating(2 + (isText ? STRING_TRAVERSAL_FACTOR : 0), times(size, size));
  }
  switch (overloadId) {
    case 'list_slice': {
      const length = literalOr(args[1]!, sizeOf(target!).max) - literalOr(args[0]!, 0);
      return allocating(1, exactly(length < 0 ? UNBOUNDED : length));
    }
    case 'lists_range':
      return allocating(1, exactly(literalOr(args[0]!, UNBOUNDED)));
    case 'list_reverse':
      return allocating(1, sizeOf(target!));
    case 'list_flatten':
    case 'list_flatten_int':
      return allocating(args.length === 0 ? 1 : literalOr(args[0]!, UNBOUNDED), sizeOf(target!));
    case 'list_distinct':
      return allocating(2, times(sizeOf(target!), sizeOf(target!)));
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
    case 'list_sets_equivalent_list':
      return { cost: plus(scaled(times(sizeOf(args[0]!), sizeOf(args[1]!)), overloadId === 'list_sets_equivalent_list' ? 2 : 1), ONE) };
    default:
      return undefined;
  }
}

const allocating = (factor: number, size: SizeEstimate): CallEstimate => ({
  cost: plus(scaled(size, factor), exactly(1 + LIST_CREATE_COST)),
  resultSize: size,
});

function literalOr({ expr }: CostNode, otherwise: number): number {
  if (expr?.kind !== 'literal' || (typeof expr.value !== 'number' && typeof expr.value !== 'bigint')) return otherwise;
  return Math.max(0, Number(expr.value));
}

const AUTHORIZATION_CHECK = 350_000;
/** A list of requirements, each of a list and a struct. */
const COST_PER_REQUIREMENT = 50;
/** Two addresses of four to sixteen bytes. */
const ADDRESS_SIZE: SizeEstimate = { min: 4, max: 16 };
const MAX_NAME_PATTERN_SIZE = 128;
const MAX_FORMAT_SIZE = 64;

const traversal = (size: SizeEstimate, factor = 1): CostRange => scaled(size, factor * STRING_TRAVERSAL_FACTOR);

type Estimate = (call: EstimatedCall) => CallEstimate | undefined;

/** Of the text in the first argument. */
const ofArgument =
  (factor = 1, keepsSize = false): Estimate =>
  ({ args, sizeOf }) => {
    if (args.length === 0) return undefined;
    const size = sizeOf(args[0]!);
    return { cost: traversal(size, factor), ...(keepsSize && { resultSize: size }) };
  };

/** Of the text that the function is called on. */
const ofTarget: Estimate = ({ target, sizeOf }) => target && { cost: traversal(sizeOf(target)), resultSize: sizeOf(target) };

const ofSelector: Estimate = ({ args, sizeOf }) => {
  const size = sizeOf(args[0]!);
  return { cost: plus(plus(exactly(LIST_CREATE_COST), traversal(size)), scaled(scaled(size, 0.5), COST_PER_REQUIREMENT)) };
};

/** One unit for each element, and its characters. */
const ofElements: Estimate = ({ target, sizeOf }) => {
  if (target === undefined) return undefined;
  const element = elementNode(target);
  if (element === undefined) return { cost: traversal(sizeOf(target)) };
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  return { cost: times(sizeOf(target), isText ? plus(ONE, traversal(sizeOf(element))) : ONE) };
};

const ofPattern: Estimate = ({ target, args, sizeOf }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  return { cost: times(traversal(plus(size, ONE)), scaled(sizeOf(args[0]!), REGEX_LENGTH_FACTOR)), resultSize: { min: 0, max: size.max } };
};

const ofSplit: Estimate = ({ target, args, sizeOf }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  const limit = args.length > 1 ? args[1]!.expr : undefined;
  const max = limit?.kind === 'literal' && typeof limit.value === 'number' ? limit.value : size.max;
  return { cost: traversal(size, 2), resultSize: { min: 0, max: max < 0 ? UNBOUNDED : max } };
};

const ofJoin: Estimate = ({ target, args, sizeOf }) => {
  if (target === undefined) return undefined;
  const count = sizeOf(target);
  const element = elementNode(target);
  let size = element === undefined ? NO_COST : times(count, sizeOf(element));
  if (args.length > 0) size = plus(size, times(sizeOf(args[0]!), { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }));
  return { cost: traversal(size), resultSize: size };
};

const ofReplace: Estimate = ({ target, args, sizeOf }) => {
  if (target === undefined || args.length < 2) return undefined;
  const size = sizeOf(target);
  return { cost: traversal(size, 2), resultSize: replacedSize(size, sizeOf(args[0]!), sizeOf(args[1]!)) };
};

/** As short and as long as the result can get: few long parts replaced by short ones, or many short parts by long ones. */
function replacedSize(size: SizeEstimate, old: SizeEstimate, replacement: SizeEstimate): SizeEstimate {
  const [maxCount, maxKept] = old.min === 0 ? [size.max + 1, size.max] : replacement.max <= old.min ? [0, size.max] : [Math.ceil(size.max / old.min), 0];
  const [minCount, minKept] = old.max === 0 ? [size.min + 1, size.min] : old.max <= replacement.min ? [0, size.min] : [Math.ceil(size.min / old.max), 0];
  return plus(times({ min: minCount, max: maxCount }, replacement), { min: minKept, max: maxKept });
}

/** Of comparing addresses, plus reading one that is a text. */
const ofContains =
  (isRange: boolean, textOverload: string): Estimate =>
  ({ overloadId, args, sizeOf }) => {
    const compared = traversal(plus(ADDRESS_SIZE, ADDRESS_SIZE));
    const whole = isRange ? plus(plus(compared, traversal(ADDRESS_SIZE)), ONE) : compared;
    return { cost: overloadId === textOverload ? plus(whole, traversal(sizeOf(args[0]!))) : whole };
  };

const ofFormat: Estimate = ({ args, sizeOf }) => ({ cost: scaled(traversal(sizeOf(args[0]!)), MAX_NAME_PATTERN_SIZE * REGEX_LENGTH_FACTOR) });

const CONSTANT_EQUALITY = new Set([
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
  'net.IP',
  'net.CIDR',
]);

const ofEquality: Estimate = ({ args: [left, right] }) => {
  if (left === undefined || right === undefined || left.type.name !== right.type.name) return undefined;
  if (CONSTANT_EQUALITY.has(left.type.name)) return { cost: ONE };
  if (left.type.name === 'kubernetes.NamedFormat') return { cost: traversal({ min: 1, max: MAX_FORMAT_SIZE }) };
  if (left.type.name !== 'kubernetes.URL') return undefined;
  const size = right.computedSize === undefined ? ONE : union(right.computedSize, right.computedSize);
  return { cost: traversal({ min: 1, max: size.max }) };
};

const BY_FUNCTION: Readonly<Record<string, Estimate>> = {
  check: () => ({ cost: exactly(AUTHORIZATION_CHECK) }),
  fieldSelector: ofSelector,
  labelSelector: ofSelector,
  isSorted: ofElements,
  sum: ofElements,
  max: ofElements,
  min: ofElements,
  indexOf: ofElements,
  lastIndexOf: ofElements,
  url: ofArgument(1, true),
  'jsonpatch.escapeKey': ofArgument(1, true),
  lowerAscii: ofTarget,
  upperAscii: ofTarget,
  substring: ofTarget,
  trim: ofTarget,
  replace: ofReplace,
  split: ofSplit,
  join: ofJoin,
  find: ofPattern,
  findAll: ofPattern,
  cidr: ofArgument(),
  isIP: ofArgument(),
  isCIDR: ofArgument(),
  ip: (call) => (call.overloadId === 'cidr_ip' ? { cost: ONE } : ofArgument()(call)),
  'ip.isCanonical': ofArgument(2),
  containsIP: ofContains(false, 'cidr_contains_ip_string'),
  containsCIDR: ofContains(true, 'cidr_contains_cidr_string'),
  quantity: ofArgument(),
  isQuantity: ofArgument(),
  semver: ofArgument(),
  isSemver: ofArgument(),
  validate: ofFormat,
  '_==_': ofEquality,
};

function estimateKubernetes(call: EstimatedCall): CallEstimate | undefined {
  if (NOMINAL_FUNCTIONS.has(call.name)) return { cost: ONE };
  return Object.hasOwn(BY_FUNCTION, call.name) ? BY_FUNCTION[call.name]!(call) : undefined;
}
