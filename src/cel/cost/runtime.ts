import { CelObject, type CelValue } from '../values.ts';
import { sizeOf, type CallCost } from './size.ts';
import { kubernetesCallCost } from './kubernetes.ts';
import { libraryCallCost } from './libraries.ts';
import { REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR } from './factors.ts';

const perCharacter = (value: CelValue | undefined, factor = STRING_TRAVERSAL_FACTOR): number => Math.ceil(sizeOf(value) * factor);

const smallerSide: CallCost = ([a, b]) => Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * STRING_TRAVERSAL_FACTOR);
const firstArgument: CallCost = ([a]) => perCharacter(a);
const bothSides: CallCost = ([a, b]) => Math.ceil((sizeOf(a) + sizeOf(b)) * STRING_TRAVERSAL_FACTOR);

const BY_OVERLOAD: Readonly<Record<string, CallCost>> = {
  starts_with_string: firstArgument,
  ends_with_string: firstArgument,
  string_to_bytes: firstArgument,
  bytes_to_string: firstArgument,
  strings_quote: firstArgument,
  string_format: firstArgument,
  in_list: ([, list]) => sizeOf(list),
  less_string: smallerSide,
  greater_string: smallerSide,
  less_equals_string: smallerSide,
  greater_equals_string: smallerSide,
  less_bytes: smallerSide,
  greater_bytes: smallerSide,
  less_equals_bytes: smallerSide,
  greater_equals_bytes: smallerSide,
  add_string: bothSides,
  add_bytes: bothSides,
  matches_string: ([text, pattern]) => Math.ceil((1 + sizeOf(text)) * STRING_TRAVERSAL_FACTOR) * perCharacter(pattern, REGEX_LENGTH_FACTOR),
  contains_string: ([text, part]) => perCharacter(text) * perCharacter(part),
};

/** The cost of a call, by the function and by the overload that was found when it was checked; empty where that depends on the values. */
export function callCost(functionName: string, overloadId: string): CallCost {
  return libraryCallCost(overloadId) ?? kubernetesCallCost(functionName, overloadId) ?? BY_OVERLOAD[overloadId] ?? 1;
}

/** What `a == b` costs. Of what only functions can look into, one (apiserver/pkg/cel/library/cost.go). */
export const equalityCost = (a: CelValue, b: CelValue): number =>
  (typeof a === 'number' && typeof b === 'number') || a instanceof CelObject ? 1 : inequalityCost(a, b);

/** What `a != b` costs. */
export const inequalityCost = (a: CelValue, b: CelValue): number => Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * STRING_TRAVERSAL_FACTOR);
