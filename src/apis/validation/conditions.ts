import { repeats } from './repeats.ts';
import { checkEach } from '../../api/validation-run.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { patternError, qualifiedNameErrors } from '../../api/names.ts';
import type { Condition } from '../facts/types/meta-v1.ts';

/** Rules of meta/v1's Condition (apimachinery/pkg/apis/meta/v1/validation). */
const STATUSES = ['False', 'True', 'Unknown'];
const REASON_MAX_BYTES = 1024;
const MESSAGE_MAX_BYTES = 32 * 1024;
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonExpression = new RegExp(`^${REASON}$`);
const REASON_ERROR = patternError(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  REASON,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);

/** Of one list: a type stands once. */
export function validateConditions(conditions: readonly Condition[] | null | undefined, errors: FieldErrors): void {
  const check = (condition: Condition, index: number, isRepeated: (type: string) => boolean): void => {
    const at = errors.index(index);
    if (isRepeated(condition.type)) at.at('type').duplicate(condition.type);
    validateCondition(condition, at);
  };
  checkEach(errors, 'conditions', conditions ?? [], check, repeats<string>);
}

function validateCondition({ type, status, observedGeneration = 0, lastTransitionTime, reason, message }: Condition, errors: FieldErrors): void {
  for (const error of qualifiedNameErrors(type)) errors.at('type').invalid(type, error);
  if (!STATUSES.includes(status)) errors.at('status').notSupported(status, STATUSES);
  if (observedGeneration < 0) errors.at('observedGeneration').invalid(observedGeneration, 'must be greater than or equal to zero');
  if (!lastTransitionTime) errors.at('lastTransitionTime').required();
  if (reason === '') errors.at('reason').required();
  else {
    if (!reasonExpression.test(reason)) errors.at('reason').invalid(reason, REASON_ERROR);
    if (Buffer.byteLength(reason) > REASON_MAX_BYTES) errors.at('reason').tooLong(REASON_MAX_BYTES);
  }
  if (Buffer.byteLength(message) > MESSAGE_MAX_BYTES) errors.at('message').tooLong(MESSAGE_MAX_BYTES);
}
