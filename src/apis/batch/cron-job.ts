import type { Write } from '../../registry/write.ts';
import { ageSince } from '../../util/duration.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { containerImages, containerNames, podNameWarnings } from '../apps/workload.ts';
import { type PodTemplateOptions, dropGatedTemplateFields } from '../core/pod/template.ts';
import { defineResource } from '../define.ts';
import type { CronJob, CronJobSpec, JobTemplateSpec } from '../facts/types/batch-v1.ts';
import { formatLabelSelector, shownSelector } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { cronScheduleError } from './cron-schedule.ts';
import { jobSpecWarnings, validateJobTemplate } from './job-spec.ts';
import { defaultJobTemplate } from './job.ts';
import { timeZoneError } from './time-zone.ts';

const CONCURRENCY_POLICIES = ['Allow', 'Forbid', 'Replace'];
/** A Job is named for its CronJob and the time, in eleven characters more. */
const NAME_MAX_LENGTH = 52;

/** Jobs, at times. */
export const cronJobs = defineResource<CronJob>('batch/v1/cronjobs', {
  validatesFinalizerNames: true,
  generation: 'spec',

  default({ spec }, context) {
    spec.concurrencyPolicy ||= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    defaultJobTemplate(spec.jobTemplate.spec, context);
  },

  prepareForCreate: ({ object: { spec }, settings }) => dropGatedTemplateFields(spec.jobTemplate.spec.template, undefined, settings),
  prepareForUpdate: ({ object: { spec }, old, settings }) =>
    dropGatedTemplateFields(spec.jobTemplate.spec.template, old.spec.jobTemplate.spec.template, settings),

  validate(write, errors) {
    validateSpec(write, errors.at('spec'));
    const name = write.object.metadata.name ?? '';
    if (Buffer.byteLength(name) > NAME_MAX_LENGTH) errors.at('metadata', 'name').invalid(name, `must be no more than ${NAME_MAX_LENGTH} characters`);
  },
  validateUpdate: (write, errors) => validateSpec(write, errors.at('spec')),
  warnings({ object: { metadata, spec }, old }) {
    const warnings = old ? [] : podNameWarnings(metadata.name);
    if (!old || old.metadata.generation !== metadata.generation) warnings.push(...jobSpecWarnings(spec.jobTemplate.spec, 'spec.jobTemplate.spec'));
    if (old && spec.schedule.includes('TZ')) {
      warnings.push(
        'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
      );
    }
    return warnings;
  },

  subresources: { status: { update: { validatesMetadata: false } } },

  cells: {
    Schedule: ({ spec }) => spec.schedule,
    Timezone: ({ spec }) => spec.timeZone ?? '<none>',
    // Text, although the column is said to hold truth values.
    Suspend: ({ spec }) => (spec.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False'),
    Active: ({ status }) => (status.active ?? []).length,
    'Last Schedule': ({ status }, now) => (status.lastScheduleTime === undefined ? '<none>' : ageSince(status.lastScheduleTime, now)),
    Containers: ({ spec }) => containerNames(spec.jobTemplate.spec.template.spec.containers),
    Images: ({ spec }) => containerImages(spec.jobTemplate.spec.template.spec.containers),
    Selector: ({ spec }) => formatLabelSelector(spec.jobTemplate.spec.selector),
  },
});

function validateSpec({ object: { spec }, old: before, settings, sentEmpty }: Write<CronJob>, errors: FieldErrors): void {
  const old = before?.spec;
  if (spec.schedule === '') errors.at('schedule').required();
  else validateSchedule(spec, old, errors.at('schedule'));
  validateNonNegative(spec.startingDeadlineSeconds, errors.at('startingDeadlineSeconds'));
  if (spec.timeZone !== undefined && spec.timeZone !== old?.timeZone) validateTimeZone(spec.timeZone, errors.at('timeZone'));
  const policy = spec.concurrencyPolicy ?? '';
  if (policy === '') errors.at('concurrencyPolicy').required();
  else if (!CONCURRENCY_POLICIES.includes(policy)) errors.at('concurrencyPolicy').notSupported(policy, CONCURRENCY_POLICIES);
  validateTemplate(spec.jobTemplate, errors.at('jobTemplate', 'spec'), {
    old: old?.jobTemplate.spec.template,
    settings,
    sentEmpty: sentEmpty.at('spec', 'jobTemplate', 'spec', 'template'),
  });
  validateNonNegative(spec.successfulJobsHistoryLimit, errors.at('successfulJobsHistoryLimit'));
  validateNonNegative(spec.failedJobsHistoryLimit, errors.at('failedJobsHistoryLimit'));
}

/** A time zone has its own field; one that older releases let into the schedule may stay there. */
function validateSchedule({ schedule, timeZone }: CronJobSpec, old: CronJobSpec | undefined, errors: FieldErrors): void {
  const error = cronScheduleError(schedule);
  if (error !== undefined) errors.invalid(schedule, error);
  if (!schedule.includes('TZ')) return;
  if (!old?.schedule.includes('TZ')) errors.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  else if (timeZone !== undefined) errors.invalid(schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
}

function validateTimeZone(timeZone: string, errors: FieldErrors): void {
  if (timeZone === '') return errors.invalidTyped(timeZone, 'timeZone must be nil or non-empty string');
  if (!timeZone.split('/').every(isZonePart)) return errors.invalidTyped(timeZone, `unknown time zone ${timeZone}`);
  if (timeZone.toLowerCase() === 'local') errors.invalidTyped(timeZone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  const error = timeZoneError(timeZone);
  if (error !== undefined) errors.invalidTyped(timeZone, error);
}

/** https://data.iana.org/time-zones/theory.html#naming, with digits and plus signs for names of old. */
const isZonePart = (part: string): boolean => part !== '.' && part !== '..' && /^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$/.test(part);

/** `errors` stands at the template's spec. */
function validateTemplate({ spec }: JobTemplateSpec, errors: FieldErrors, options: PodTemplateOptions): void {
  validateJobTemplate(spec, errors, options);
  if (spec.selector) errors.at('selector').invalid(shownSelector(spec.selector), '`selector` will be auto-generated');
  if (spec.manualSelector) errors.at('manualSelector').notSupported(true, ['nil', 'false']);
}
