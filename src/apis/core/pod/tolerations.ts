import type { FieldErrors } from '../../../api/field-errors.ts';
import { quote } from '../../../util/go-quote.ts';
import { labelValueErrors } from '../../../api/names.ts';
import { checkEach } from '../../../api/validation-run.ts';
import type { Toleration } from '../../facts/types/core-v1.ts';
import { validateLabelKey } from '../../validation/label-key.ts';
import type { PodRules } from './rules.ts';

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(tolerations: readonly Toleration[], errors: FieldErrors, rules: Pick<PodRules, 'allowsTolerationComparison'>): void {
  checkEach(errors, 'tolerations', tolerations, (toleration, index) => validateToleration(toleration, errors.index(index), rules));
}

function validateToleration(toleration: Toleration, errors: FieldErrors, rules: Pick<PodRules, 'allowsTolerationComparison'>): void {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
  if (key !== '') validateLabelKey(key, errors.at('key'));
  if (key === '' && operator !== 'Exists')
    errors.at('operator').invalidTyped(operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"');
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.at('effect').invalidTyped(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
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
      if (allowsTolerationComparison) validateInteger(value, errors.at('value'));
      else at.notSupported(operator, ['Equal', 'Exists', 'Lt', 'Gt']);
      return;
    default:
      at.notSupported(operator, ['Equal', 'Exists']);
  }
}

const INT64_MAX = 2n ** 63n - 1n;

function validateInteger(value: string, errors: FieldErrors): void {
  if (value === '') errors.invalid(value, 'must be non-empty');
  else if (!/^(?:0|-?[1-9][0-9]*)$/.test(value)) errors.invalid(value, 'must be a valid decimal integer in canonical form');
  const problem = parseIntProblem(value);
  if (problem !== undefined) errors.invalid(value, `strconv.ParseInt: parsing ${quote(value)}: ${problem}`);
}

/** What Go's parser of integers has against it. */
function parseIntProblem(value: string): string | undefined {
  if (!/^[+-]?[0-9]+$/.test(value)) return 'invalid syntax';
  const number = BigInt(value.replace('+', ''));
  return number > INT64_MAX || number < -INT64_MAX - 1n ? 'value out of range' : undefined;
}
