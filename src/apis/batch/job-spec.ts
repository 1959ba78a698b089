import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { type PodTemplateOptions, podTemplateWarnings, validatePodTemplateSpec } from '../core/pod/template.ts';
import type { JobSpec } from '../facts/types/batch-v1.ts';
import { validateDomainPrefixedPath } from '../../api/domain-prefixed-path.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { internalForm } from '../validation/internal-form.ts';
import { FAILED_ONLY, POD_REPLACEMENT_POLICIES, SUCCESS_POLICY, validatePodFailurePolicy, validateSuccessPolicy } from './job-policies.ts';

const INDEXED = 'Indexed';
export const NON_INDEXED = 'NonIndexed';
const ON_FAILURE = 'OnFailure';
const NEVER = 'Never';

/** So that what a status lists of indexes stays small enough to be stored. */
const INDEXED_PARALLELISM_MAX = 100_000;
const FAILED_INDEXES_MAX = 100_000;
const MANY_COMPLETIONS = 100_000;
const MANY_COMPLETIONS_MAX = 10_000;
const MANAGED_BY_MAX_BYTES = 63;

export const isIndexed = ({ completionMode }: JobSpec): boolean => completionMode === INDEXED;

/** What a Job and a CronJob's template for Jobs have in common. `errors` stands at the spec. */
export function validateJobTemplate(spec: JobSpec, errors: FieldErrors, options: PodTemplateOptions): void {
  for (const field of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const) {
    validateNonNegative(spec[field], errors.at(field));
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.at('backoffLimitPerIndex').required('when maxFailedIndexes is specified');
  if (spec.managedBy !== undefined) validateManagedBy(spec.managedBy, errors.at('managedBy'));
  validateCompletionMode(spec, errors);
  if (spec.podFailurePolicy) validatePodFailurePolicy(spec, spec.podFailurePolicy, errors.at('podFailurePolicy', 'rules'));
  if (spec.successPolicy && isIndexed(spec)) validateSuccessPolicy(spec.successPolicy, spec.completions ?? 0, errors.at('successPolicy', 'rules'));
  else if (spec.successPolicy) errors.at('successPolicy').invalid(internalForm(spec.successPolicy, SUCCESS_POLICY), 'requires indexed completion mode');
  validatePodReplacement(spec, errors.at('podReplacementPolicy'));
  validatePodTemplateSpec(spec.template, errors.at('template'), options);
  validateRestartPolicy(spec, errors.at('template', 'spec', 'restartPolicy'));
}

/** `acme.io/foo`: which controller looks after it. */
function validateManagedBy(managedBy: string, errors: FieldErrors): void {
  validateDomainPrefixedPath(managedBy, errors);
  if (Buffer.byteLength(managedBy) > MANAGED_BY_MAX_BYTES) errors.tooLong(MANAGED_BY_MAX_BYTES);
}

function validateCompletionMode(spec: JobSpec, errors: FieldErrors): void {
  const { completionMode = NON_INDEXED } = spec;
  if (completionMode !== NON_INDEXED && completionMode !== INDEXED) errors.at('completionMode').notSupported(completionMode, [NON_INDEXED, INDEXED]);
  if (completionMode === INDEXED) validateIndexed(spec, errors);
  if (completionMode !== NON_INDEXED) return;
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
    if (spec[field] !== undefined) errors.at(field).invalid(spec[field], 'requires indexed completion mode');
}

function validateIndexed({ completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex }: JobSpec, errors: FieldErrors): void {
  if (completions === undefined) errors.at('completions').required(`when completion mode is ${INDEXED}`);
  if (parallelism > INDEXED_PARALLELISM_MAX)
    errors.at('parallelism').invalid(parallelism, `must be less than or equal to ${INDEXED_PARALLELISM_MAX} when completion mode is ${INDEXED}`);
  const failed = errors.at('maxFailedIndexes');
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    failed.invalid(maxFailedIndexes, 'must be less than or equal to completions');
  if (maxFailedIndexes !== undefined && maxFailedIndexes > FAILED_INDEXES_MAX)
    failed.invalid(maxFailedIndexes, `must be less than or equal to ${FAILED_INDEXES_MAX}`);
  if (completions === undefined || completions <= MANY_COMPLETIONS || backoffLimitPerIndex === undefined) return;

  if (maxFailedIndexes === undefined) failed.required(`must be specified when completions is above ${MANY_COMPLETIONS}`);
  const limited = `must be less than or equal to ${MANY_COMPLETIONS_MAX} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (parallelism > MANY_COMPLETIONS_MAX) errors.at('parallelism').invalid(parallelism, limited);
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MANY_COMPLETIONS_MAX) failed.invalid(maxFailedIndexes, limited);
}

/** A policy for failures needs to see them: pods are replaced only when they have failed. */
function validatePodReplacement({ podReplacementPolicy, podFailurePolicy }: JobSpec, errors: FieldErrors): void {
  if (podReplacementPolicy === undefined) return;
  const supported = podFailurePolicy ? FAILED_ONLY : POD_REPLACEMENT_POLICIES;
  if (!supported.includes(podReplacementPolicy)) errors.notSupported(podReplacementPolicy, supported);
}

function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, errors: FieldErrors): void {
  const { restartPolicy } = template.spec;
  if (!restartPolicy || restartPolicy === 'Always') errors.required(`valid values: ${quote(ON_FAILURE)}, ${quote(NEVER)}`);
  else if (restartPolicy !== ON_FAILURE && restartPolicy !== NEVER) errors.notSupported(restartPolicy, [ON_FAILURE, NEVER]);
  else if (podFailurePolicy && restartPolicy !== NEVER)
    errors.invalidTyped(restartPolicy, `only ${quote(NEVER)} is supported when podFailurePolicy is specified`);
}

export function jobSpecWarnings(spec: JobSpec, path: string): string[] {
  const isLarge = isIndexed(spec) && (spec.completions ?? 0) > MANY_COMPLETIONS && (spec.parallelism ?? 0) > MANY_COMPLETIONS_MAX;
  const large = `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`;
  return [...(isLarge ? [large] : []), ...podTemplateWarnings(spec.template, `${path}.template`)];
}
