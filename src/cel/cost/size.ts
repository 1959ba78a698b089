import { CelList, CelMap, CelObject, CelOptional, codePointCount, type CelValue } from '../values.ts';

/**
 * What a call costs: always the same, or by its arguments (a receiver first), or by its result. What is known from the arguments is charged before
 * the call runs, so that one that costs too much is never run.
 */
export type CallCost = number | ((args: readonly CelValue[]) => number) | { ofResult: (result: CelValue) => number };

/** How large a value is where costs are measured: what `size` answers, and one for what has no size (cel-go interpreter/runtimecost.go). */
export function sizeOf(value: CelValue | undefined): number {
  if (typeof value === 'string') return codePointCount(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelObject) return value.size ?? 1;
  return value instanceof CelOptional && value.value !== undefined ? sizeOf(value.value) : 1;
}
