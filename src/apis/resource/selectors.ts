import type { FieldErrors } from '../../api/field-errors.ts';
import { workInSteps } from '../../api/validation-run.ts';
import type { KindSettings } from '../../registry/write.ts';
import type { DeviceSelector } from '../facts/types/resource-v1.ts';
import { compileDeviceExpression } from './device-expressions.ts';
import { validateList } from './lists.ts';

type CelScope = Pick<KindSettings, 'hasFormerCel'>;

const MAX_SELECTORS = 32;
const EXPRESSION_MAX_BYTES = 10 * 1024;

export function validateDeviceSelectors(selectors: readonly DeviceSelector[] | undefined, { hasFormerCel }: CelScope, errors: FieldErrors): void {
  validateList(
    selectors,
    MAX_SELECTORS,
    ({ cel }, at) => {
      if (!cel) at.at('cel').required();
      else if (Buffer.byteLength(cel.expression) > EXPRESSION_MAX_BYTES) at.at('cel', 'expression').tooLong(EXPRESSION_MAX_BYTES);
      else tell(cel.expression, hasFormerCel, at.at('cel', 'expression'));
    },
    errors,
  );
}

function tell(expression: string, hasFormerCel: boolean | undefined, errors: FieldErrors): void {
  const problem = workInSteps(errors, 'compiled', () => compileDeviceExpression(expression, hasFormerCel));
  if (problem?.type === 'invalid') errors.invalid(expression, problem.detail);
  else if (problem?.type === 'internal') errors.internal(problem.detail);
  else if (problem) errors.forbidden(problem.detail);
}
