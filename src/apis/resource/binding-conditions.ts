import type { FieldErrors } from '../../util/field-errors.ts';
import { validateLabelKey } from '../validation/label-key.ts';
import { validateList } from './lists.ts';

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
  for (const [index, condition] of bindingConditions.entries()) if (bindingConditions.indexOf(condition) < index) bound.index(index).duplicate(condition);
  for (const [index, condition] of bindingFailureConditions.entries()) {
    if (bindingFailureConditions.indexOf(condition) < index) failed.index(index).duplicate(condition);
    if (bindingConditions.includes(condition)) failed.index(index).invalid(condition, 'bindingFailureConditions must not overlap with bindingConditions');
  }
  if (bindingConditions.length === 0 && bindingFailureConditions.length > 0)
    bound.invalid(binding.bindingConditions ?? null, 'bindingConditions are required to use bindingFailureConditions');
  if (bindingFailureConditions.length === 0 && bindingConditions.length > 0)
    failed.invalid(binding.bindingFailureConditions ?? null, 'bindingFailureConditions are required to use bindingConditions');
}
