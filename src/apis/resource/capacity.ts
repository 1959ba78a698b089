import type { FieldErrors } from '../../api/field-errors.ts';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, quantityAt } from '../../api/quantity.ts';
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from '../facts/types/resource-v1.ts';
import { validateUnique } from './lists.ts';

/** How much of a device's capacity a request may take (KEP-5075). Quantities are canonical text. */
const MAX_OPTIONS = 10;
const OPTIONS_AND_RANGE = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';

export function validateCapacity({ value, requestPolicy }: DeviceCapacity, isShared: boolean, errors: FieldErrors): void {
  if (!requestPolicy) return;
  const at = errors.at('requestPolicy');
  if (isShared) validatePolicy(requestPolicy, value, at);
  else at.forbidden('allowMultipleAllocations must be true');
}

function validatePolicy({ default: fallback, validValues = [], validRange }: CapacityRequestPolicy, capacity: string, errors: FieldErrors): void {
  if (validValues.length > 0 && validRange) return errors.forbidden(OPTIONS_AND_RANGE);
  const field = validValues.length > 0 ? 'validValues' : 'validRange';
  if (validValues.length === 0 && !validRange) return;
  if (fallback === null) errors.at('default').required(`required when ${field} is defined`);
  else if (validRange) validateRange(validRange, fallback, capacity, errors.at(field));
  else validateOptions(validValues, fallback, capacity, errors.at(field));
}

const compare = (a: string, b: string): number => compareQuantities(parseQuantity(a), parseQuantity(b));
/** Rounded up to a whole number, as Go's Quantity.Value. */
const wholeValue = (quantity: string): bigint => quantityAt(parseQuantity(quantity), 0);

function validateOptions(options: readonly string[], fallback: string, capacity: string, errors: FieldErrors): void {
  for (const [index, option] of options.entries()) {
    if (index > 0 && compare(options[index - 1]!, option) > 0) errors.index(index).invalid(option, 'values must be sorted in ascending order');
  }
  const validateOption = (option: string, at: FieldErrors): void => {
    if (compare(option, capacity) > 0) at.invalid(option, `option is larger than capacity value: ${capacity}`);
  };
  validateUnique(options, MAX_OPTIONS, validateOption, (option) => String(wholeValue(option)), errors);
  const isOption = options.length <= MAX_OPTIONS && options.some((option) => compare(option, fallback) === 0);
  if (!isOption) errors.invalid(fallback, 'default value is not valid according to the requestPolicy');
}

function validateRange({ min, max, step }: CapacityRequestPolicyRange, fallback: string, capacity: string, errors: FieldErrors): void {
  if (min === undefined) return errors.at('min').required('required when validRange is defined');
  if (compare(min, capacity) > 0) errors.at('min').invalid(min, `min is larger than capacity value: ${capacity}`);
  if (compare(fallback, min) < 0) errors.at('min').invalid(fallback, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (compare(min, max) > 0) errors.at('max').invalid(min, `min is larger than max: ${max}`);
    if (compare(max, capacity) > 0) errors.at('max').invalid(max, `max is larger than capacity value: ${capacity}`);
    if (compare(fallback, max) > 0) errors.at('max').invalid(fallback, `default is more than max: ${max}`);
  }
  if (step === undefined) return;
  const oneStep = formatQuantity(addQuantities(parseQuantity(min), parseQuantity(step)));
  if (compare(oneStep, capacity) > 0) errors.at('step').invalid(step, `one step ${oneStep} is larger than capacity value: ${capacity}`);
  for (const value of [fallback, ...(max === undefined ? [] : [max])]) validateStep(value, min, step, errors.at('step'));
}

function validateStep(value: string, min: string, step: string, errors: FieldErrors): void {
  const size = wholeValue(step);
  // Upstream divides by it, and fails the request where it is zero.
  const isMultiple = size !== 0n && (wholeValue(value) - wholeValue(min)) % size === 0n;
  if (!isMultiple) errors.invalid(value, `value is not a multiple of a given step (${step}) from (${min})`);
}
