import { REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR } from './factors.ts';
import type { CallEstimate, CostNode } from './node.ts';
import { ONE, UNBOUNDED, UNKNOWN_SIZE, plus, scaled, sum, times, union, type CostEstimate, type CostRange, type SizeEstimate } from './range.ts';

const sizeOf = (node: CostNode): SizeEstimate => node.computedSize ?? UNKNOWN_SIZE;
const traversal = (size: CostRange): CostEstimate => scaled(size, STRING_TRAVERSAL_FACTOR);

/** Calls whose cost grows with the sizes of `target` and `args`, by overload. */
const BY_OVERLOAD: Readonly<Record<string, (target: CostNode | undefined, args: readonly CostNode[]) => CallEstimate | undefined>> = {
  string_format: (target) => target && { cost: traversal(sizeOf(target)) },
  // A character has up to four bytes.
  string_to_bytes: (_target, [text]) => ({ cost: traversal(sizeOf(text!)), resultSize: { min: sizeOf(text!).min, max: unlimitedTimes(sizeOf(text!).max, 4) } }),
  bytes_to_string: (_target, [bytes]) => ({
    cost: traversal(sizeOf(bytes!)),
    resultSize: { min: Math.trunc(sizeOf(bytes!).min / 4), max: sizeOf(bytes!).max },
  }),
  strings_quote: (_target, [text]) => ({ cost: traversal(sizeOf(text!)), resultSize: quotedSize(sizeOf(text!)) }),
  starts_with_string: (_target, [part]) => ({ cost: traversal(sizeOf(part!)) }),
  ends_with_string: (_target, [part]) => ({ cost: traversal(sizeOf(part!)) }),
  in_list: (_target, [, list]) => ({ cost: sizeOf(list!) }),
  matches_string: (target, [pattern]) => target && { cost: times(traversal(plus(sizeOf(target), ONE)), scaled(sizeOf(pattern!), REGEX_LENGTH_FACTOR)) },
  contains_string: (target, [part]) => target && { cost: times(traversal(sizeOf(target)), traversal(sizeOf(part!))) },
  add_list: (_target, [a, b]) => ({ cost: ONE, resultSize: plus(sizeOf(a!), sizeOf(b!)) }),
  add_string: (_target, [a, b]) => added(sizeOf(a!), sizeOf(b!)),
  add_bytes: (_target, [a, b]) => added(sizeOf(a!), sizeOf(b!)),
};

const unlimitedTimes = (size: number, factor: number): number => Math.min(size * factor, UNBOUNDED);

/** Every character may be escaped. Of a text without bound the sum overflows to nothing in cel-go, and costs are counted so. */
const quotedSize = ({ min, max }: SizeEstimate): SizeEstimate => ({ min: min + 2, max: max >= UNBOUNDED ? 0 : max * 2 + 2 });

function added(a: SizeEstimate, b: SizeEstimate): CallEstimate {
  const size = plus(a, b);
  return { cost: traversal(size), resultSize: size };
}

const COMPARISON = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/;

/** What a call of the standard functions costs with its arguments (cel-go checker/cost.go functionCost). */
export function estimateStandardCall(
  overloadId: string,
  target: CostNode | undefined,
  args: readonly CostNode[],
  argCosts: readonly CostEstimate[],
): CallEstimate {
  const [first, second, third] = argCosts;
  if (overloadId === 'logical_and' || overloadId === 'logical_or') return { cost: { min: first!.min, max: plus(first!, second!).max } };
  if (overloadId === 'conditional') return { cost: plus(first!, union(second!, third!)), resultSize: union(sizeOf(args[1]!), sizeOf(args[2]!)) };
  const estimate = COMPARISON.test(overloadId) ? { cost: comparison(args) } : BY_OVERLOAD[overloadId]?.(target, args);
  return { ...estimate, cost: plus(estimate?.cost ?? ONE, sum(argCosts)) };
}

/** Up to the end of the shorter one. */
function comparison([left, right]: readonly CostNode[]): CostEstimate {
  const max = Math.min(sizeOf(left!).max, sizeOf(right!).max);
  return traversal({ min: max > 0 ? 1 : 0, max });
}
