import type { KindContext, KindSettings, Write } from '../../registry/write.ts';
import { clone } from '../../schema/clone.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { humanDuration } from '../../util/duration.ts';
import { dns1123LabelErrors } from '../../api/names.ts';
import { containerImages, containerNames, podNameWarnings, validateMatches, validateSameSelector } from '../apps/workload.ts';
import { internalPodSpec, internalPodTemplate } from '../core/pod/internal-form.ts';
import { defaultPodTemplateSpec, dropGatedTemplateFields } from '../core/pod/template.ts';
import { defineResource } from '../define.ts';
import type { Job, JobSpec } from '../facts/types/batch-v1.ts';
import type { Container, PodTemplateSpec } from '../facts/types/core-v1.ts';
import { isFeatureOn } from '../features.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { internalForm } from '../validation/internal-form.ts';
import { formatLabelSelector, hasInvalidLabelValue, parsedSelector, shownSelector, validateLabelSelector } from '../validation/label-selector.ts';
import { POD_FAILURE_POLICY, SUCCESS_POLICY } from './job-policies.ts';
import { NON_INDEXED, isIndexed, jobSpecWarnings, validateJobTemplate } from './job-spec.ts';
import { hasCondition, validateStatusChange } from './job-status.ts';

const MAX_INT32 = 2 ** 31 - 1;
const UID_LABEL = 'batch.kubernetes.io/controller-uid';
const NAME_LABEL = 'batch.kubernetes.io/job-name';
/** Of the time before labels had prefixes. */
const OLD_UID_LABEL = 'controller-uid';
const OLD_NAME_LABEL = 'job-name';
/** The state that `kubectl get` shows, from the first condition that is true; deletion comes behind the first two. */
const FINAL_STATES = ['Complete', 'Failed'];
const PASSING_STATES = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

/** Pods that run until so many of them have succeeded. */
export const jobs = defineResource<Job>('batch/v1/jobs', {
  validatesFinalizerNames: true,
  generation: 'spec',
  deletion: {
    // Kept from the time when clients deleted the pods themselves.
    defaultPropagation: 'Orphan',
    warning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },

  default(job, context) {
    const { spec } = job;
    defaultJobCounts(spec);
    takeTemplateLabels(job);
    spec.completionMode ??= NON_INDEXED;
    spec.suspend ??= false;
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
    spec.manualSelector ??= false;
    defaultJobTemplate(spec, context);
  },

  prepareForCreate({ object: job, settings }) {
    if (!job.spec.manualSelector) generateSelector(job);
    dropGatedTemplateFields(job.spec.template, undefined, settings);
  },
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropGatedTemplateFields(spec.template, old.spec.template, settings),
  // Labels that are generated after a job was defaulted become its own when it is read, and are stored with the next write (pkg/apis/batch/v1/defaults.go).
  storage: { defaultsOnRead: true },

  validate(write, errors) {
    const { object: job, old } = write;
    validateGeneratedSelector(job, errors, old);
    validateSpec(write, errors.at('spec'));
    validatePodHostname(job, errors.at('metadata', 'name'));
  },
  validatesWhole: 'before',
  validateUpdate(write, errors) {
    const { object: job, old, settings } = write;
    const at = errors.at('spec');
    validateSpec(write, at);
    validateCompletionsChange(job.spec, old.spec, at.at('completions'));
    validateSameSelector(job.spec.selector, old.spec.selector, at.at('selector'));
    validateTemplateChange(job, old, at.at('template'), settings);
    validateUnchanged(job.spec.completionMode, old.spec.completionMode, at.at('completionMode'));
    validateUnchanged(job.spec.podFailurePolicy, old.spec.podFailurePolicy, at.at('podFailurePolicy'), () =>
      internalForm(job.spec.podFailurePolicy, POD_FAILURE_POLICY),
    );
    validateUnchanged(job.spec.backoffLimitPerIndex, old.spec.backoffLimitPerIndex, at.at('backoffLimitPerIndex'));
    validateUnchanged(job.spec.managedBy, old.spec.managedBy, at.at('managedBy'));
    validateUnchanged(job.spec.successPolicy, old.spec.successPolicy, at.at('successPolicy'), () => internalForm(job.spec.successPolicy, SUCCESS_POLICY));
  },
  warnings({ object: { metadata, spec }, old }) {
    if (old && old.metadata.generation === metadata.generation) return [];
    return [...(old ? [] : podNameWarnings(metadata.name)), ...jobSpecWarnings(spec, 'spec')];
  },

  subresources: {
    status: {
      update: {
        validateUpdate({ object: job, old }, errors) {
          validateFinalizerNames(job.metadata, errors);
          validateStatusChange(job, old, errors.at('status'));
        },
      },
    },
  },

  unselectable: (field) => `field label ${quote(field)} not supported for Job`,
  selectable: { 'status.successful': ({ status }) => String(status.succeeded ?? 0) },
  cells: {
    Status: stateOf,
    Completions: completionsCell,
    Duration: durationCell,
    Containers: ({ spec }) => containerNames(spec.template.spec.containers),
    Images: ({ spec }) => containerImages(spec.template.spec.containers),
    Selector: ({ spec }) => formatLabelSelector(spec.selector),
  },
});

function defaultJobCounts(spec: JobSpec): void {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
}

/** A job without labels has its template's. */
function takeTemplateLabels({ metadata, spec }: Job): void {
  const { labels } = spec.template.metadata;
  if (labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels;
}

/** What is filled in inside of a CronJob's template too. */
export function defaultJobTemplate(spec: JobSpec, context: Pick<KindContext, 'settings' | 'turns'>): void {
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? []) for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
  defaultPodTemplateSpec(spec.template, context);
}

/** By uid, so that pods of two jobs are never mixed up; by name too, for people. What the client has set is left, and refused later if it is wrong. */
function generateSelector({ metadata, spec }: Job): void {
  const { name = '', uid = '' } = metadata;
  // Labels that were taken from the template are the template's own.
  const sharesLabels = metadata.labels !== undefined && metadata.labels === spec.template.metadata.labels;
  spec.template.metadata.labels = { [OLD_NAME_LABEL]: name, [NAME_LABEL]: name, [OLD_UID_LABEL]: uid, [UID_LABEL]: uid, ...spec.template.metadata.labels };
  if (sharesLabels) metadata.labels = spec.template.metadata.labels;
  spec.selector = { ...spec.selector, matchLabels: { [UID_LABEL]: uid, ...spec.selector?.matchLabels } };
}

function validateGeneratedSelector({ metadata, spec }: Job, errors: FieldErrors, old: Job | undefined): void {
  if (spec.manualSelector || !spec.selector) return;
  const { name = '', uid = '' } = metadata;
  if (uid === '') errors.at('metadata', 'uid').required();
  // Jobs of older releases have no labels with prefixes.
  const oldLabels = old?.spec.template.metadata.labels ?? {};
  const hasPrefixed = !old || (Object.hasOwn(oldLabels, NAME_LABEL) && Object.hasOwn(oldLabels, UID_LABEL));
  const expected = { [OLD_UID_LABEL]: uid, [OLD_NAME_LABEL]: name, ...(hasPrefixed && { [UID_LABEL]: uid, [NAME_LABEL]: name }) };
  for (const [key, value] of Object.entries(expected))
    validateHasLabel(spec.template, key, value, errors.at('spec', 'template', 'metadata', 'labels').key(key));
  if (parsedSelector(spec.selector)?.matches(expected) === false)
    errors.at('spec', 'selector').invalid(shownSelector(spec.selector), '`selector` not auto-generated');
}

function validateHasLabel({ metadata: { labels = {} } }: PodTemplateSpec, key: string, expected: string, errors: FieldErrors): void {
  if (!Object.hasOwn(labels, key)) errors.required(`must be '${expected}'`);
  else if (labels[key] !== expected) errors.invalid(labels, `must be '${expected}'`);
}

function validateSpec({ object: { spec }, old, settings, sentEmpty }: Write<Job>, errors: FieldErrors): void {
  validateJobTemplate(spec, errors, { old: old?.spec.template, settings, sentEmpty: sentEmpty.at('spec', 'template') });
  if (spec.selector) validateLabelSelector(spec.selector, errors.at('selector'), { allowInvalidValues: hasInvalidLabelValue(old?.spec.selector) });
  else errors.at('selector').required();
  validateMatches(parsedSelector(spec.selector)?.matches(spec.template.metadata.labels) ?? true, spec.template, errors.at('template'));
}

/** Pods of an indexed job are named for it and their index. */
function validatePodHostname({ metadata: { name }, spec }: Job, errors: FieldErrors): void {
  if (!isIndexed(spec) || (spec.completions ?? 0) <= 0) return;
  const hostname = `${name}-${spec.completions! - 1}`;
  if (dns1123LabelErrors(hostname).length > 0) errors.invalid(name, `will not able to create pod with invalid DNS label: ${hostname}`);
}

/** An indexed job can be made larger and smaller as long as all its pods run side by side (KEP-3715). */
function validateCompletionsChange(spec: JobSpec, old: JobSpec, errors: FieldErrors): void {
  if (!isIndexed(spec)) return validateUnchanged(spec.completions, old.completions, errors);
  if (spec.completions === old.completions || spec.completions === undefined) return;
  if (spec.completions !== spec.parallelism) errors.invalid(spec.completions, 'can only be modified in tandem with spec.parallelism');
}

/** Where pods go, and what they are given, may change while none has been made (KEP-2926, KEP-5440). */
function validateTemplateChange({ spec }: Job, old: Job, errors: FieldErrors, settings: KindSettings): void {
  const isSuspended = old.spec.suspend === true;
  const isNotStarted = old.status.startTime === undefined;
  const isIdle = isSuspended && (isNotStarted || hasCondition(old.status, 'Suspended', 'True')) && (old.status.active ?? 0) === 0;
  const mayMove = isFeatureOn(settings, 'MutableSchedulingDirectivesForSuspendedJobs') ? isIdle : isSuspended && isNotStarted;
  const expected = mayMove ? withSchedulingOf(spec.template, clone(old.spec.template)) : clone(old.spec.template);
  if (!isIdle || !isFeatureOn(settings, 'MutablePodResourcesForSuspendedJobs'))
    return validateUnchanged(spec.template, expected, errors, () => internalPodTemplate(spec.template));
  for (const list of ['containers', 'initContainers'] as const) takeResources(expected.spec[list] ?? [], spec.template.spec[list] ?? []);
  validateUnchanged(spec.template.spec, expected.spec, errors.at('spec'), () => internalPodSpec(spec.template.spec));
}

/** `old` with all that says where pods go taken from `template`. */
function withSchedulingOf({ metadata, spec }: PodTemplateSpec, old: PodTemplateSpec): PodTemplateSpec {
  const { nodeAffinity, ...otherAffinity } = old.spec.affinity ?? {};
  void nodeAffinity;
  const affinity = { ...otherAffinity, ...(spec.affinity?.nodeAffinity && { nodeAffinity: spec.affinity.nodeAffinity }) };
  const isDropped = !spec.affinity && Object.keys(otherAffinity).length === 0;
  const { nodeSelector, tolerations, schedulingGates } = spec;
  return {
    metadata: { ...old.metadata, labels: metadata.labels, annotations: metadata.annotations } as PodTemplateSpec['metadata'],
    spec: {
      ...old.spec,
      affinity: isDropped || (!spec.affinity && !old.spec.affinity) ? undefined : affinity,
      nodeSelector,
      tolerations,
      schedulingGates,
    } as PodTemplateSpec['spec'],
  };
}

function takeResources(containers: Container[], from: readonly Container[]): void {
  if (containers.length !== from.length) return;
  for (const [index, container] of containers.entries()) if (container.name === from[index]!.name) container.resources = from[index]!.resources;
}

function stateOf({ metadata, status }: Job): string {
  // Only the first condition of a type counts here.
  const holds = (type: string): boolean => (status.conditions ?? []).find((condition) => condition.type === type)?.status === 'True';
  return FINAL_STATES.find(holds) ?? (metadata.deletionTimestamp ? 'Terminating' : (PASSING_STATES.find(holds) ?? 'Running'));
}

function completionsCell({ spec: { completions, parallelism = 0 }, status: { succeeded = 0 } }: Job): string {
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status: { startTime, completionTime } }: Job, now: Date): string {
  if (startTime === undefined) return '';
  return humanDuration((completionTime === undefined ? now.getTime() : Date.parse(completionTime)) - Date.parse(startTime));
}
