import type { FieldErrors } from '../../api/field-errors.ts';
import { checkEach } from '../../api/validation-run.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import type { Job, JobStatus } from '../facts/types/batch-v1.ts';
import { internalForm } from '../validation/internal-form.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { countIndexes, firstSharedIndex } from './job-indexes.ts';
import { isIndexed } from './job-spec.ts';

/** What a status says of a job's end. */
interface Outcome {
  complete: boolean;
  failed: boolean;
  failureTarget: boolean;
  successCriteriaMet: boolean;
  suspended: boolean;
}

/** A new status beside the old one. */
interface Change {
  job: Job;
  status: JobStatus;
  is: Outcome & { finished: boolean };
  was: Outcome & { finished: boolean };
  old: JobStatus;
  hasChanged(field: keyof JobStatus): boolean;
  flipped(field: keyof Change['is']): boolean;
}

/**
 * One demand on a status (KEP-4368: the controller need not be ours, so its claims are checked). `applies` says whether the change concerns it: what was
 * wrong before and is left alone does not stand in the way of other changes.
 */
interface StatusRule {
  applies(change: Change): boolean;
  isBroken(change: Change): boolean;
  report(errors: FieldErrors, change: Change): void;
}

const always = (): boolean => true;
const ofConditions =
  (message: string): StatusRule['report'] =>
  (errors) =>
    errors.at('conditions').invalidUnshown(message);
const ofValue =
  (field: keyof JobStatus, message: string): StatusRule['report'] =>
  (errors, { status }) =>
    errors.at(field).invalid(status[field], message);

const RULES: readonly StatusRule[] = [
  {
    applies: (c) => c.flipped('complete') || c.flipped('failed'),
    isBroken: ({ is }) => is.complete && is.failed,
    report: ofConditions('cannot set Complete=True and Failed=true conditions'),
  },
  {
    applies: (c) => c.flipped('complete') || c.flipped('failureTarget'),
    isBroken: ({ is }) => is.complete && is.failureTarget,
    report: ofConditions('cannot set Complete=True and FailureTarget=true conditions'),
  },
  {
    applies: (c) => c.flipped('complete') || c.hasChanged('completionTime'),
    isBroken: ({ is, status }) => status.completionTime !== undefined && !is.complete,
    report: ofValue('completionTime', 'cannot set completionTime when there is no Complete=True condition'),
  },
  {
    applies: (c) => c.flipped('complete') || c.hasChanged('completionTime'),
    isBroken: ({ is, status }) => status.completionTime === undefined && is.complete,
    report: (errors) => errors.at('completionTime').required('completionTime is required for Complete jobs'),
  },
  {
    applies: (c) => c.hasChanged('startTime') || c.hasChanged('completionTime'),
    isBroken: ({ status }) => Date.parse(status.completionTime ?? '') < Date.parse(status.startTime ?? ''),
    report: ofValue('completionTime', 'must be equal to or after `startTime`'),
  },
  {
    applies: (c) => c.flipped('failed') || c.hasChanged('failedIndexes'),
    isBroken: ({ is }) => is.failed && !is.failureTarget,
    report: ofConditions('cannot set Failed=True condition without the FailureTarget=true condition'),
  },
  {
    applies: (c) => c.flipped('complete') || c.flipped('successCriteriaMet'),
    isBroken: ({ is }) => is.complete && !is.successCriteriaMet,
    report: ofConditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
  },
  {
    applies: (c) => c.flipped('finished') || c.hasChanged('active'),
    isBroken: ({ is, status }) => is.finished && (status.active ?? 0) > 0,
    report: ofValue('active', 'active>0 is invalid for finished job'),
  },
  {
    applies: (c) => (c.flipped('finished') || c.hasChanged('startTime')) && !(c.job.spec.suspend === true && c.job.spec.completions === 0),
    isBroken: ({ is, status }) => is.finished && status.startTime === undefined,
    report: (errors) => errors.at('startTime').required('startTime is required for finished job'),
  },
  {
    applies: (c) => c.flipped('finished') || c.hasChanged('uncountedTerminatedPods'),
    isBroken: ({ is, status }) => is.finished && uncountedPods(status).length > 0,
    report: (errors, { status }) =>
      errors.at('uncountedTerminatedPods').invalid(
        internalForm(status.uncountedTerminatedPods, [
          ['Succeeded', 'succeeded'],
          ['Failed', 'failed'],
        ]),
        'must be empty for finished job',
      ),
  },
  {
    applies: (c) => c.hasChanged('completedIndexes') && c.job.spec.completions !== undefined,
    isBroken: (c) => indexError(c, 'completedIndexes') !== undefined,
    report: (errors, c) =>
      errors.at('completedIndexes').invalid(c.status.completedIndexes, `error parsing completedIndexes: ${indexError(c, 'completedIndexes')}`),
  },
  {
    applies: (c) => c.hasChanged('failedIndexes') && c.job.spec.completions !== undefined && c.job.spec.backoffLimitPerIndex !== undefined,
    isBroken: (c) => indexError(c, 'failedIndexes') !== undefined,
    report: (errors, c) => errors.at('failedIndexes').invalidTyped(c.status.failedIndexes, `error parsing failedIndexes: ${indexError(c, 'failedIndexes')}`),
  },
  {
    applies: (c) => c.hasChanged('completedIndexes'),
    isBroken: ({ job, status }) => Boolean(status.completedIndexes) && !isIndexed(job.spec),
    report: ofValue('completedIndexes', 'cannot set non-empty completedIndexes when non-indexed completion mode'),
  },
  {
    applies: (c) => c.hasChanged('failedIndexes'),
    isBroken: ({ job, status }) => status.failedIndexes !== undefined && job.spec.backoffLimitPerIndex === undefined,
    report: ofValue('failedIndexes', 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
  },
  {
    applies: (c) => c.hasChanged('failedIndexes') || c.hasChanged('completedIndexes'),
    isBroken: (c) => overlap(c) !== undefined,
    report: (errors, c) =>
      errors.at('failedIndexes').invalidTyped(c.status.failedIndexes, `failedIndexes and completedIndexes overlap at index: ${overlap(c)}`),
  },
  {
    applies: (c) => c.flipped('finished') || c.hasChanged('terminating'),
    isBroken: ({ is, status }) => is.finished && (status.terminating ?? 0) > 0,
    report: ofValue('terminating', 'terminating>0 is invalid for finished job'),
  },
  {
    applies: (c) => c.hasChanged('ready') || c.hasChanged('active'),
    isBroken: ({ status }) => status.ready !== undefined && status.ready > (status.active ?? 0),
    report: ofValue('ready', 'cannot set more ready pods than active'),
  },
  {
    applies: always,
    isBroken: ({ is }) => is.successCriteriaMet && is.failed,
    report: ofConditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'),
  },
  {
    applies: always,
    isBroken: ({ is }) => is.successCriteriaMet && is.failureTarget,
    report: ofConditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
  },
  {
    applies: ({ job }) => job.spec.successPolicy !== undefined,
    isBroken: ({ is }) => is.complete && !is.successCriteriaMet,
    report: ofConditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'),
  },
  { applies: always, isBroken: ({ is, was }) => was.failed && !is.failed, report: ofConditions('cannot disable the terminal Failed=True condition') },
  { applies: always, isBroken: ({ is, was }) => was.complete && !is.complete, report: ofConditions('cannot disable the terminal Complete=True condition') },
  {
    applies: always,
    isBroken: ({ is, was }) => was.failureTarget && !is.failureTarget,
    report: ofConditions('cannot disable the terminal FailureTarget=True condition'),
  },
  {
    applies: always,
    isBroken: ({ status, old }) => (status.failed ?? 0) < (old.failed ?? 0),
    report: (errors, { status }) => errors.at('failed').invalid(status.failed ?? 0, 'cannot decrease the failed counter'),
  },
  {
    // An indexed job that needs as many successes as it has pods can be made smaller.
    applies: ({ job: { spec } }) => !isIndexed(spec) || spec.completions !== spec.parallelism,
    isBroken: ({ status, old }) => (status.succeeded ?? 0) < (old.succeeded ?? 0),
    report: (errors, { status }) => errors.at('succeeded').invalid(status.succeeded ?? 0, 'cannot decrease the succeeded counter'),
  },
  {
    applies: (c) => c.hasChanged('completionTime'),
    isBroken: ({ status, old }) => status.completionTime !== undefined && old.completionTime !== undefined,
    report: ofValue('completionTime', 'field is immutable'),
  },
  {
    // Resuming starts a job anew.
    applies: (c) => c.hasChanged('startTime') && !(c.was.suspended && isResumed(c.status)),
    isBroken: ({ job, old }) => old.startTime !== undefined && !job.spec.suspend,
    report: ofValue('startTime', 'field is immutable for unsuspended job once set'),
  },
  {
    applies: always,
    isBroken: ({ is, was }) => was.successCriteriaMet && !is.successCriteriaMet,
    report: ofConditions('cannot disable the SuccessCriteriaMet=True condition'),
  },
  {
    applies: always,
    isBroken: ({ is, was }) => was.complete && !was.successCriteriaMet && is.successCriteriaMet,
    report: ofConditions('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'),
  },
];

/** `errors` stands at the status. */
export function validateStatusChange(job: Job, old: Job, errors: FieldErrors): void {
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) validateNonNegative(job.status[field], errors.at(field));
  validateUncounted(job.status, errors.at('uncountedTerminatedPods'));
  const change = changeOf(job, old);
  for (const rule of RULES) if (rule.applies(change) && rule.isBroken(change)) rule.report(errors, change);
}

function changeOf(job: Job, old: Job): Change {
  const [is, was] = [outcomeOf(job.status), outcomeOf(old.status)];
  return {
    job,
    status: job.status,
    old: old.status,
    is,
    was,
    hasChanged: (field) => !equalJson(job.status[field], old.status[field]),
    flipped: (field) => is[field] !== was[field],
  };
}

function outcomeOf(status: JobStatus): Change['is'] {
  const holds = (type: string): boolean => hasCondition(status, type, 'True');
  const [complete, failed] = [holds('Complete'), holds('Failed')];
  return {
    complete,
    failed,
    finished: complete || failed,
    failureTarget: holds('FailureTarget'),
    successCriteriaMet: holds('SuccessCriteriaMet'),
    suspended: holds('Suspended'),
  };
}

export const hasCondition = ({ conditions }: JobStatus, type: string, status: string): boolean =>
  (conditions ?? []).some((condition) => condition.type === type && condition.status === status);

const isResumed = (status: JobStatus): boolean => hasCondition(status, 'Suspended', 'False');

const uncountedPods = ({ uncountedTerminatedPods: pods }: JobStatus): string[] => [...(pods?.succeeded ?? []), ...(pods?.failed ?? [])];

function indexError({ job, status }: Change, field: 'completedIndexes' | 'failedIndexes'): string | undefined {
  const count = countIndexes(status[field] ?? '', job.spec.completions ?? 0);
  return typeof count === 'string' ? count : undefined;
}

const overlap = ({ job, status }: Change): number | undefined =>
  job.spec.completions === undefined ? undefined : firstSharedIndex(status.completedIndexes ?? '', status.failedIndexes ?? '', job.spec.completions);

/** Each pod once, in one list or the other. */
function validateUncounted({ uncountedTerminatedPods: pods }: JobStatus, errors: FieldErrors): void {
  const succeeded = checkPods(pods?.succeeded ?? [], new Set(), errors.at('succeeded'));
  checkPods(pods?.failed ?? [], succeeded, errors.at('failed'));
}

/** Answers with those of the list. */
function checkPods(uids: readonly string[], others: ReadonlySet<string>, errors: FieldErrors): Set<string> {
  const check = (uid: string, index: number, own: Set<string>): void => {
    if (uid === '') errors.index(index).invalid(uid, 'must not be empty');
    else if (others.has(uid) || own.has(uid)) errors.index(index).duplicateTyped(uid);
    own.add(uid);
  };
  return checkEach(errors, 'pods', uids, check, () => new Set<string>());
}
