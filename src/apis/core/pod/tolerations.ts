import type { FieldErrors } from '../../../util/field-errors.ts';
import { labelValueErrors } from '../../../util/names.ts';
import type { Toleration } from '../../facts/types/core-v1.ts';
import { validateLabelKey } from '../../validation/label-key.ts';
import type { PodRules } from './rules.ts';

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(tolerations: readonly Toleration[], errors: FieldErrors, rules: Pick<PodRules, 'allowsTolerationComparison'>): void {
  for (const [index, toleration] of tolerations.entries()) validateToleration(toleration, errors.index(index), rules);
}

function validateToleration(toleration: Toleration, errors: FieldErrors, rules: Pick<PodRules, 'allowsTolerationComparison'>): void {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
  if (key !== '') validateLabelKey(key, errors.at('key'));
  if (key === '' && operator !== 'Exists')
    errors.at('operator').invalid(operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"');
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.at('effect').invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  validateOperator(toleration, errors, rules);
  if (effect !== '' && !TAINT_EFFECTS.includes(effect)) errors.at('effect').notSupported(effect, TAINT_EFFECTS);
}

/** A value's faults are reported at the operator. */
function validateOperator(
  { operator = '', value = '' }: Toleration,
  errors: FieldErrors,
  { allowsTolerationComparison }: Pick<PodRules, 'allowsTolerationComparison'>,
): void {
  const at = errors.at('operator');
  switch (operator) {
    case 'Equal':
    case '': {
      const wrong = labelValueErrors(value);
      if (wrong.length > 0) at.invalid(value, wrong.join(';'));
      return;
    }
    case 'Exists':
      if (value !== '') at.invalid(value, "value must be empty when `operator` is 'Exists'");
      return;
    case 'Lt':
    case 'Gt':
      if (!allowsTolerationComparison) at.notSupported(operator, ['Equal', 'Exists', 'Lt', 'Gt']);
      return;
    default:
      at.notSupported(operator, ['Equal', 'Exists']);
  }
}
