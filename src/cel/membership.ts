import type { PlannedExpression } from './frame.ts';
import { isNumber } from './numbers.ts';
import type { CelList } from './values.ts';
import { CelDouble, CelError, CelUint, canonicalInt, type CelValue } from './values.ts';

type Member = string | boolean | number | bigint;

/** `x in [constants]` as one look into a set, whatever the length. Undefined where an element is of a type that is not looked up so. */
export function membershipTest(arg: PlannedExpression, list: CelList): PlannedExpression | undefined {
  const members = new Set<Member>();
  for (let index = 0; index < list.size; index++) {
    const element = list.get(index);
    const member = memberOf(element);
    if (member === undefined) return undefined;
    members.add(member);
  }
  return (frame) => {
    const value = arg(frame);
    if (value instanceof CelError) return value;
    const member = memberOf(value);
    // NaN equals nothing, itself included.
    return member !== undefined && !Number.isNaN(member) && members.has(member);
  };
}

/** Numbers of all types that are equal are one member. */
function memberOf(value: CelValue): Member | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return value;
  if (!isNumber(value)) return undefined;
  if (value instanceof CelUint) return canonicalInt(value.value);
  return value instanceof CelDouble && Number.isInteger(value.value) ? canonicalInt(BigInt(value.value)) : Number(value.value);
}
