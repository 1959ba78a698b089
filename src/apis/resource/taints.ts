import type { FieldErrors } from '../../api/field-errors.ts';
import { labelValueErrors } from '../../api/names.ts';
import type { DeviceTaint, DeviceToleration } from '../facts/types/resource-v1.ts';
import { validateLabelKey } from '../validation/label-key.ts';

const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];
const OPERATORS = ['Equal', 'Exists'];

/** An effect that stands already, `oldEffect`, may stay, whatever it is. */
export function validateTaint({ key, value = '', effect }: DeviceTaint, errors: FieldErrors, oldEffect?: string): void {
  validateLabelKey(key, errors.at('key'));
  for (const error of labelValueErrors(value)) errors.at('value').invalid(value, error);
  if (effect === oldEffect) return;
  if (effect === '') errors.at('effect').required();
  else validateEffect(effect, errors.at('effect'));
}

export function defaultTolerations(tolerations: readonly DeviceToleration[] | undefined): void {
  for (const toleration of tolerations ?? []) toleration.operator ||= 'Equal';
}

export function validateDeviceTolerations(tolerations: readonly DeviceToleration[] | undefined, errors: FieldErrors): void {
  for (const [index, toleration] of (tolerations ?? []).entries()) validateToleration(toleration, errors.index(index));
}

function validateToleration({ key, operator = '', value = '', effect }: DeviceToleration, errors: FieldErrors): void {
  if (key) validateLabelKey(key, errors.at('key'));
  if (operator === '') errors.at('operator').required();
  else if (!OPERATORS.includes(operator)) errors.at('operator').notSupported(operator, OPERATORS);
  else if (operator === 'Equal') for (const error of labelValueErrors(value)) errors.at('value').invalid(value, error);
  else if (value !== '') errors.at('value').invalid(value, 'must be empty for operator `Exists`');
  if (effect) validateEffect(effect, errors.at('effect'));
}

function validateEffect(effect: string, errors: FieldErrors): void {
  if (!EFFECTS.includes(effect)) errors.notSupported(effect, EFFECTS);
}
