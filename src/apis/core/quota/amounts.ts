import { type Quantity, addQuantities, compareQuantities, formatQuantity, parseQuantity, quantitySign, subtractQuantities } from '../../../api/quantity.ts';

/** Amounts by the name that quotas have for them: `pods`, `requests.cpu`, `count/jobs.batch`. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** `list` may come from a client: its keys are just keys. */
export const amountsIn = (list: Record<string, string> | undefined): Map<string, Quantity> =>
  new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]));

export const listOf = (amounts: Amounts): Record<string, string> =>
  Object.fromEntries([...amounts].map(([name, quantity]) => [name, formatQuantity(quantity)]));

export const wholeNumber = (count: number): Quantity => ({ unscaled: BigInt(count), exponent: 0, format: 'DecimalSI' });

export const ZERO = wholeNumber(0);

/** Of both; what only one has is as it is. */
export function sumOf(first: Amounts, second: Amounts): Map<string, Quantity> {
  const sum = new Map(first);
  for (const [name, quantity] of second) {
    const present = sum.get(name);
    sum.set(name, present ? addQuantities(present, quantity) : quantity);
  }
  return sum;
}

/** What `after` has more than `before`, of those names alone that it has more of. */
export function growthOf(after: Amounts, before: Amounts): Map<string, Quantity> {
  const growth = new Map<string, Quantity>();
  for (const [name, quantity] of after) {
    const more = subtractQuantities(quantity, before.get(name) ?? ZERO);
    if (quantitySign(more) > 0) growth.set(name, more);
  }
  return growth;
}

export const withoutZeros = (amounts: Amounts): Map<string, Quantity> => new Map([...amounts].filter(([, quantity]) => quantitySign(quantity) !== 0));

export const only = (amounts: Amounts, names: Iterable<string>): Map<string, Quantity> => {
  const wanted = new Set(names);
  return new Map([...amounts].filter(([name]) => wanted.has(name)));
};

export const namesBeyond = (amounts: Amounts, limits: Amounts): string[] =>
  [...amounts].filter(([name, quantity]) => limits.has(name) && compareQuantities(quantity, limits.get(name)!) > 0).map(([name]) => name);

export const namesBelowZero = (amounts: Amounts): string[] => [...amounts].filter(([, quantity]) => quantitySign(quantity) < 0).map(([name]) => name);

export const areEqual = (first: Amounts, second: Amounts): boolean =>
  first.size === second.size && [...first].every(([name, quantity]) => second.has(name) && compareQuantities(quantity, second.get(name)!) === 0);

/** In order of names, as messages have them. */
export const printAmounts = (amounts: Amounts): string =>
  [...amounts]
    .map(([name, quantity]) => `${name}=${formatQuantity(quantity)}`)
    .toSorted()
    .join(',');

export const printNames = (names: readonly string[]): string => names.toSorted().join(',');
