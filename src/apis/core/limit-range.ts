import { randomUUID } from 'node:crypto';
import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import { type Quantity, compareQuantities, parseQuantity, quantityAt } from '../../api/quantity.ts';
import { defineResource } from '../define.ts';
import type { LimitRange, LimitRangeItem } from '../facts/types/core-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { isOvercommitAllowed, validateContainerResourceName, validateResourceName } from '../validation/resource-names.ts';
import { roundToThousandths } from './pod/resource-lists.ts';
import { repeats } from '../validation/repeats.ts';

const POD = 'Pod';
const CONTAINER = 'Container';
const CLAIM = 'PersistentVolumeClaim';
const TYPES = new Set([POD, CONTAINER, CLAIM]);
const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type ListName = (typeof LISTS)[number];
const ONE = parseQuantity('1');
/** Above this, amounts are compared in whole units. */
const MAX_COUNTED_IN_THOUSANDTHS = (2n ** 63n - 1n) / 1000n;

/** What one pod, container or claim of a namespace may ask for, and what it is given where it asks for nothing. */
export const limitRanges = defineResource<LimitRange>('v1/limitranges', {
  createsOnUpdate: true,

  default({ spec }) {
    for (const limit of spec.limits ?? []) {
      if (limit.type === CONTAINER) defaultContainerLimits(limit);
      for (const name of LISTS) roundToThousandths(limit[name]);
    }
  },
  prepareForCreate({ object: { metadata } }) {
    metadata.name ||= randomUUID();
  },

  validatesMetadataUpdate: false,
  validatesWhole: 'before',
  validate({ object: { metadata, spec } }, errors) {
    validateFinalizerNames(metadata, errors);
    const limits = spec.limits ?? [];
    const at = errors.at('spec', 'limits');
    const isRepeated = repeats<string>();
    for (const [index, limit] of limits.entries()) {
      validateType(limit.type, at.index(index).at('type'));
      if (isRepeated(limit.type)) at.index(index).at('type').duplicateTyped(limit.type);
      validateNames(limit, at.index(index));
      validateAmounts(limit, at.index(index));
    }
  },
});

/** A limit is by default the most that is allowed; a request, the limit, or the least. */
function defaultContainerLimits(limit: LimitRangeItem): void {
  limit.default = { ...limit.max, ...limit.default };
  limit.defaultRequest = { ...limit.min, ...limit.default, ...limit.defaultRequest };
}

function validateType(type: string, errors: FieldErrors): void {
  const problems = qualifiedNameErrors(type);
  for (const problem of problems) errors.invalidTyped(type, problem);
  if (problems.length === 0 && !type.includes('/') && !TYPES.has(type)) errors.invalidTyped(type, 'must be a standard limit type or fully qualified');
}

function validateNames(limit: LimitRangeItem, errors: FieldErrors): void {
  const isCompute = limit.type === POD || limit.type === CONTAINER;
  const validateList = (list: ListName): void => {
    for (const name of Object.keys(limit[list] ?? {})) (isCompute ? validateContainerResourceName : validateResourceName)(name, errors.at(list).key(name));
  };
  validateList('max');
  validateList('min');
  for (const list of ['default', 'defaultRequest'] as const) {
    if (limit.type !== POD) validateList(list);
    else if (Object.keys(limit[list] ?? {}).length > 0) errors.at(list).forbidden(`may not be specified when \`type\` is '${POD}'`);
  }
  const hasStorage = limit.min?.['storage'] !== undefined || limit.max?.['storage'] !== undefined;
  if (limit.type === CLAIM && !hasStorage) errors.at('limits').required('either minimum or maximum storage value is required, but neither was provided');
  validateList('maxLimitRequestRatio');
}

function validateAmounts(limit: LimitRangeItem, errors: FieldErrors): void {
  // Of pods there are no defaults, whatever stands there.
  const lists = limit.type === POD ? (['max', 'min', 'maxLimitRequestRatio'] as const) : LISTS;
  const names = new Set(lists.flatMap((list) => Object.keys(limit[list] ?? {})));
  for (const name of [...names].toSorted()) {
    const texts = Object.fromEntries(lists.flatMap((list) => (limit[list] && Object.hasOwn(limit[list], name) ? [[list, limit[list][name]!]] : []))) as Partial<
      Record<ListName, string>
    >;
    validateOrder(name, texts, errors);
    validateRatio(name, texts, errors);
  }
}

/** Pairs that must not be the wrong way round: the smaller, the larger, where and what to show, and what they are called. */
const ORDER: readonly [ListName, ListName, ListName, ListName, string, string][] = [
  ['min', 'max', 'min', 'min', 'min value', 'max value'],
  ['min', 'defaultRequest', 'defaultRequest', 'defaultRequest', 'min value', 'default request value'],
  ['defaultRequest', 'max', 'defaultRequest', 'defaultRequest', 'default request value', 'max value'],
  ['defaultRequest', 'default', 'defaultRequest', 'defaultRequest', 'default request value', 'default limit value'],
  ['min', 'default', 'default', 'min', 'min value', 'default value'],
  ['default', 'max', 'default', 'max', 'default value', 'max value'],
];

function validateOrder(name: string, texts: Partial<Record<ListName, string>>, errors: FieldErrors): void {
  for (const [small, large, where, shown, smallName, largeName] of ORDER) {
    const [least, most] = [texts[small], texts[large]];
    if (least === undefined || most === undefined || compareQuantities(parseQuantity(least), parseQuantity(most)) <= 0) continue;
    errors.at(where).key(name).invalid(texts[shown], `${smallName} ${least} is greater than ${largeName} ${most}`);
  }
}

function validateRatio(
  name: string,
  { min, max, maxLimitRequestRatio: text, default: limit, defaultRequest: request }: Partial<Record<ListName, string>>,
  errors: FieldErrors,
): void {
  if (text !== undefined) {
    const ratio = parseQuantity(text);
    const at = errors.at('maxLimitRequestRatio').key(name);
    if (compareQuantities(ratio, ONE) < 0) at.invalid(text, `ratio ${text} is less than 1`);
    if (min !== undefined && max !== undefined) validateReachable(text, ratio, parseQuantity(min), parseQuantity(max), at);
  }
  const isUneven = limit !== undefined && request !== undefined && compareQuantities(parseQuantity(limit), parseQuantity(request)) !== 0;
  if (isUneven && !isOvercommitAllowed(name))
    errors.at('defaultRequest').key(name).invalid(request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`);
}

function validateReachable(text: string, ratio: Quantity, min: Quantity, max: Quantity, errors: FieldErrors): void {
  const isFine = [ratio, min, max].every((quantity) => quantityAt(quantity, 0) < MAX_COUNTED_IN_THOUSANDTHS);
  const exponent = isFine ? -3 : 0;
  const highest = Number(quantityAt(max, exponent)) / Number(quantityAt(min, exponent));
  const given = Number(quantityAt(ratio, exponent)) / (isFine ? 1000 : 1);
  if (given > highest) errors.invalid(text, `ratio ${text} is greater than max/min = ${highest.toFixed(6)}`);
}
