import type { LimitRangeItem } from '../../apis/facts/types/core-v1.ts';
import { type Quantity, formatQuantity, parseQuantity, quantityAt } from '../../api/quantity.ts';

export type Amounts = ReadonlyMap<string, Quantity>;

const NOTHING: Amounts = new Map();
const ZERO = parseQuantity('0');
/** Up to here thousandths fit an int64, and are compared; beyond, whole units are. */
const MAX_IN_THOUSANDTHS = (2n ** 63n - 1n) / 1000n;

export const amountsOf = (list: Readonly<Record<string, string>> = {}): Amounts =>
  new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(text)]));

/** What a container or a pod has too little or too much of. */
export function usageViolations({ type, min, max, maxLimitRequestRatio }: LimitRangeItem, requests: Amounts, limits: Amounts): string[] {
  return [
    ...violations(min, (name, bound) => minViolation(type, name, bound, requests, limits)),
    ...violations(max, (name, bound) => maxViolation(type, name, bound, requests, limits)),
    ...violations(maxLimitRequestRatio, (name, bound) => ratioViolation(type, name, bound, requests, limits)),
  ];
}

/** A claim only requests. */
export function claimViolations({ type, min, max }: LimitRangeItem, requests: Amounts): string[] {
  return [
    ...violations(min, (name, bound) => minViolation(type, name, bound, requests, NOTHING)),
    ...violations(max, (name, bound) => maxRequestViolation(type, name, bound, requests)),
  ];
}

/** By name: upstream's order is that of a Go map, which is none. */
function violations(bounds: Readonly<Record<string, string>> = {}, violation: (name: string, bound: Quantity) => string | undefined): string[] {
  const names = Object.keys(bounds).toSorted();
  return names.map((name) => violation(name, parseQuantity(bounds[name]!))).filter((found) => found !== undefined);
}

function minViolation(type: string, name: string, bound: Quantity, requests: Amounts, limits: Amounts): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (!request) return `${rule}.  No request is specified`;
  const [requested, limited, least] = comparable(request, limit ?? ZERO, bound);
  if (requested < least) return `${rule}, but request is ${formatQuantity(request)}`;
  if (limit && limited < least) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function maxViolation(type: string, name: string, bound: Quantity, requests: Amounts, limits: Amounts): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (!limit) return `${rule}.  No limit is specified`;
  const [requested, limited, most] = comparable(request ?? ZERO, limit, bound);
  if (limited > most) return `${rule}, but limit is ${formatQuantity(limit)}`;
  if (request && requested > most) return `${rule}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function maxRequestViolation(type: string, name: string, bound: Quantity, requests: Amounts): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  const request = requests.get(name);
  if (!request) return `${rule}.  No request is specified`;
  const [requested, , most] = comparable(request, ZERO, bound);
  return requested > most ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function ratioViolation(type: string, name: string, bound: Quantity, requests: Amounts, limits: Amounts): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(bound)}`;
  const [requested, limited] = comparable(requests.get(name) ?? ZERO, limits.get(name) ?? ZERO, bound);
  if (requested === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limited === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(limited) / Number(requested);
  const isFine = quantityAt(bound, 0) <= MAX_IN_THOUSANDTHS;
  const isExceeded = isFine ? ratio * 1000 > Number(quantityAt(bound, -3)) : ratio > Number(quantityAt(bound, 0));
  return isExceeded ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

/** All in the same unit: thousandths where they can be counted, else whole ones. */
function comparable(...quantities: readonly [Quantity, Quantity, Quantity]): [bigint, bigint, bigint] {
  const whole = quantities.map((quantity) => quantityAt(quantity, 0)) as [bigint, bigint, bigint];
  if (whole.some((value) => value > MAX_IN_THOUSANDTHS)) return whole;
  return quantities.map((quantity) => quantityAt(quantity, -3)) as [bigint, bigint, bigint];
}
