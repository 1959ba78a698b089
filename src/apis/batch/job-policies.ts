import { checkEach } from '../../api/validation-run.ts';
import { repeats } from '../validation/repeats.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '../facts/types/batch-v1.ts';
import type { InternalFields } from '../validation/internal-form.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { countIndexes } from './job-indexes.ts';

/** When a job is over before its counts say so: on failures of a kind (KEP-3329), or on successes that are enough (KEP-3998). */
const FAIL_INDEX = 'FailIndex';
const ACTIONS = ['Count', FAIL_INDEX, 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const CONDITION_STATUSES = ['False', 'True', 'Unknown'];
export const FAILED_ONLY = ['Failed'];
export const POD_REPLACEMENT_POLICIES = ['Failed', 'TerminatingOrFailed'];
const RULES_MAX = 20;
const CONDITIONS_MAX = 20;
const EXIT_CODES_MAX = 255;
const SUCCEEDED_INDEXES_MAX_BYTES = 64 * 1024;

export const SUCCESS_POLICY: InternalFields = [
  [
    'Rules',
    'rules',
    [
      ['SucceededIndexes', 'succeededIndexes'],
      ['SucceededCount', 'succeededCount'],
    ],
  ],
];
export const POD_FAILURE_POLICY: InternalFields = [
  [
    'Rules',
    'rules',
    [
      ['Action', 'action'],
      [
        'OnExitCodes',
        'onExitCodes',
        [
          ['ContainerName', 'containerName'],
          ['Operator', 'operator'],
          ['Values', 'values'],
        ],
      ],
      [
        'OnPodConditions',
        'onPodConditions',
        [
          ['Type', 'type'],
          ['Status', 'status'],
        ],
      ],
    ],
  ],
];

const validValues = (values: readonly string[]): string => `valid values: [${values.map(quote).join(' ')}]`;

/** `errors` stands at the rules. */
export function validatePodFailurePolicy(spec: JobSpec, { rules }: PodFailurePolicy, errors: FieldErrors): void {
  const all = rules ?? [];
  if (all.length > RULES_MAX) errors.tooMany(all.length, RULES_MAX);
  const { containers, initContainers } = spec.template.spec;
  const names = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name }) => name));
  for (const [index, rule] of all.entries()) validateFailureRule(spec, rule, names, errors.index(index));
}

function validateFailureRule(
  spec: JobSpec,
  { action, onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  names: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  const at = errors.at('action');
  if (action === '') at.required(validValues(ACTIONS));
  else if (action === FAIL_INDEX) {
    if (spec.backoffLimitPerIndex === undefined) at.invalidTyped(action, 'requires the backoffLimitPerIndex to be set');
  } else if (!ACTIONS.includes(action)) at.notSupported(action, ACTIONS);
  if (onExitCodes) validateExitCodes(onExitCodes, names, errors.at('onExitCodes'));
  if (onPodConditions.length > 0) validateConditions(onPodConditions, errors.at('onPodConditions'));
  if (onExitCodes && onPodConditions.length > 0) errors.invalidUnshown('specifying both OnExitCodes and OnPodConditions is not supported');
  if (!onExitCodes && onPodConditions.length === 0) errors.invalidUnshown('specifying one of OnExitCodes and OnPodConditions is required');
}

function validateConditions(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], errors: FieldErrors): void {
  if (patterns.length > CONDITIONS_MAX) errors.tooMany(patterns.length, CONDITIONS_MAX);
  for (const [index, { type, status }] of patterns.entries()) {
    const at = errors.index(index);
    for (const error of qualifiedNameErrors(type)) at.at('type').invalid(type, error);
    if (status === '') at.at('status').required(validValues(CONDITION_STATUSES));
    else if (!CONDITION_STATUSES.includes(status)) at.at('status').notSupported(status, CONDITION_STATUSES);
  }
}

function validateExitCodes(requirement: PodFailurePolicyOnExitCodesRequirement, names: ReadonlySet<string>, errors: FieldErrors): void {
  const { operator, containerName } = requirement;
  const values = requirement.values ?? [];
  if (operator === '') errors.at('operator').required(validValues(OPERATORS));
  else if (!OPERATORS.includes(operator)) errors.at('operator').notSupported(operator, OPERATORS);
  if (containerName !== undefined && !names.has(containerName))
    errors.at('containerName').invalid(containerName, 'must be one of the container or initContainer names in the pod template');
  const at = errors.at('values');
  if (values.length === 0) at.invalid(requirement.values, 'at least one value is required');
  else if (values.length > EXIT_CODES_MAX) at.tooMany(values.length, EXIT_CODES_MAX);
  const check = (value: number, index: number, isRepeated: (value: number) => boolean): void => {
    if (operator === 'In' && value === 0) at.index(index).invalid(value, 'must not be 0 for the In operator');
    if (isRepeated(value)) at.index(index).duplicate(value);
  };
  checkEach(at, 'values', values, check, repeats<number>);
  if (values.some((value, index) => index > 0 && values[index - 1]! > value)) at.invalid(values, 'must be ordered');
}

/** `errors` stands at the rules. */
export function validateSuccessPolicy({ rules }: SuccessPolicy, completions: number, errors: FieldErrors): void {
  const all = rules ?? [];
  if (all.length === 0) errors.required('at least one rules must be specified when the successPolicy is specified');
  if (all.length > RULES_MAX) errors.tooMany(all.length, RULES_MAX);
  checkEach(errors, 'rules', all, (rule, index) => validateSuccessRule(rule, completions, errors.index(index)));
}

function validateSuccessRule({ succeededIndexes, succeededCount }: SuccessPolicyRule, completions: number, errors: FieldErrors): void {
  if (succeededCount === undefined && succeededIndexes === undefined) errors.required('at least one of succeededCount or succeededIndexes must be specified');
  const indexes = succeededIndexes === undefined ? 0 : validateSucceededIndexes(succeededIndexes, completions, errors.at('succeededIndexes'));
  if (succeededCount === undefined) return;
  const at = errors.at('succeededCount');
  validateNonNegative(succeededCount, at);
  if (succeededCount > completions) at.invalid(succeededCount, `must be less than or equal to ${completions} (the number of specified completions)`);
  if (succeededIndexes !== undefined && succeededCount > indexes)
    at.invalid(succeededCount, `must be less than or equal to ${indexes} (the number of indexes in the specified succeededIndexes field)`);
}

/** How many there are. */
function validateSucceededIndexes(text: string, completions: number, errors: FieldErrors): number {
  if (Buffer.byteLength(text) > SUCCEEDED_INDEXES_MAX_BYTES) errors.tooLong(SUCCEEDED_INDEXES_MAX_BYTES);
  const count = countIndexes(text, completions);
  if (typeof count === 'number') return count;
  errors.invalid(text, `error parsing succeededIndexes: ${count}`);
  return 0;
}
