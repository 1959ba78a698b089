import type { FieldErrors } from '../../api/field-errors.ts';
import { validateLabelKey } from '../validation/label-key.ts';
import { validateList } from './lists.ts';
import { repeats } from '../validation/repeats.ts';

const MAX_CONDITIONS = 4;

interface Binding {
  bindingConditions?: string[];
  bindingFailureConditions?: string[];
}

/** Conditions that a scheduler waits for, and those that tell it to give up: both or neither, and no type in both. */
export function validateBindingConditions(binding: Binding, errors: FieldErrors): void {
  const { bindingConditions = [], bindingFailureConditions = [] } = binding;
  const [bound, failed] = [errors.at('bindingConditions'), errors.at('bindingFailureConditions')];
  validateList(bindingConditions, MAX_CONDITIONS, validateLabelKey, bound);
  validateList(bindingFailureConditions, MAX_CONDITIONS, validateLabelKey, failed);
  const isShort = (list: readonly string[]): boolean => list.length <= MAX_CONDITIONS;
  if (isShort(bindingConditions)) validateOnce(bindingConditions, bound);
  if (isShort(bindingFailureConditions)) {
    validateOnce(bindingFailureConditions, failed);
    const waitedFor = new Set(bindingConditions);
    for (const [index, condition] of bindingFailureConditions.entries())
      if (waitedFor.has(condition)) failed.index(index).invalid(condition, 'bindingFailureConditions must not overlap with bindingConditions');
  }
  if (bindingConditions.length === 0 && bindingFailureConditions.length > 0)
    bound.invalid(binding.bindingConditions ?? null, 'bindingConditions are required to use bindingFailureConditions');
  if (bindingFailureConditions.length === 0 && bindingConditions.length > 0)
    failed.invalid(binding.bindingFailureConditions ?? null, 'bindingFailureConditions are required to use bindingConditions');
}

function validateOnce(conditions: readonly string[], errors: FieldErrors): void {
  const isRepeated = repeats<string>();
  for (const [index, condition] of conditions.entries()) if (isRepeated(condition)) errors.index(index).duplicate(condition);
}
