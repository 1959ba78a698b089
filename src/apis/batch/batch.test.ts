import { describe, expect, test } from 'vitest';
import { created, decoded, updated } from '../testing/kind-tester.ts';
import type { Job, JobStatus } from '../facts/types/batch-v1.ts';
import { cronJobs } from './cron-job.ts';
import { countIndexes, firstSharedIndex } from './job-indexes.ts';
import { jobs } from './job.ts';

const podSpec = { containers: [{ name: 'main', image: 'busybox' }], restartPolicy: 'Never' };
const job = (spec: object = {}): object => ({ metadata: { name: 'pi', namespace: 'default', uid: 'u1' }, spec: { template: { spec: podSpec }, ...spec } });
const cronJob = (spec: object = {}, name = 'tick'): object => ({
  metadata: { name, namespace: 'default' },
  spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: podSpec } } }, ...spec },
});

describe('defaults of jobs', () => {
  test('one pod, one success', () => {
    expect(decoded(jobs, job()).spec).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    });
    expect(decoded(jobs, job({ parallelism: 3 })).spec.completions).toBeUndefined();
    expect(decoded(jobs, job({ backoffLimitPerIndex: 1 })).spec.backoffLimit).toBe(2_147_483_647);
  });

  test('are found by what the server generates', () => {
    const { object, problems } = created(jobs, job());
    expect(problems).toEqual([]);
    expect(object.spec.selector).toEqual({ matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } });
    expect(object.spec.template.metadata.labels).toEqual({
      'batch.kubernetes.io/controller-uid': 'u1',
      'batch.kubernetes.io/job-name': 'pi',
      'controller-uid': 'u1',
      'job-name': 'pi',
    });
  });

  test('labels that contradict are refused', () => {
    const { problems } = created(jobs, job({ template: { metadata: { labels: { 'job-name': 'e' } }, spec: podSpec } }));
    expect(problems).toEqual([expect.stringMatching(/^spec\.template\.metadata\.labels\[job-name\]: Invalid value: \{.*\}: must be 'pi'$/)]);
  });

  test('a manual selector is demanded', () => {
    expect(created(jobs, job({ manualSelector: true })).problems).toEqual([
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    ]);
  });
});

test.each([
  [
    'counts',
    { completions: -1, ttlSecondsAfterFinished: -2 },
    [
      'spec.completions: Invalid value: -1: must be greater than or equal to 0',
      'spec.ttlSecondsAfterFinished: Invalid value: -2: must be greater than or equal to 0',
    ],
  ],
  [
    'pods that never end',
    { template: { spec: { ...podSpec, restartPolicy: 'Always' } } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  ['a mode', { completionMode: 'Odd' }, ['spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"']],
  [
    'limits per index without indexes',
    { maxFailedIndexes: 1 },
    [
      'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ],
  ],
  ['indexes without number', { completionMode: 'Indexed', parallelism: 1 }, ['spec.completions: Required value: when completion mode is Indexed']],
  ['a manager', { managedBy: 'me' }, ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")']],
  [
    'success of what',
    { successPolicy: { rules: [{ succeededCount: 1 }] } },
    ['spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode'],
  ],
  [
    'success',
    { completionMode: 'Indexed', completions: 3, successPolicy: { rules: [{}, { succeededIndexes: '0-1', succeededCount: 3 }, { succeededIndexes: '7' }] } },
    [
      'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
      'spec.successPolicy.rules[1].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
      'spec.successPolicy.rules[2].succeededIndexes: Invalid value: "7": error parsing succeededIndexes: too large index: "7"',
    ],
  ],
  [
    'failure',
    { podFailurePolicy: { rules: [{ action: '', onExitCodes: { operator: 'In', values: [3, 0, 0] } }, { action: 'FailIndex' }] } },
    [
      'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 0',
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,0]: must be ordered',
      'spec.podFailurePolicy.rules[1].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
      'spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
    ],
  ],
  [
    'replacement',
    { podReplacementPolicy: 'TerminatingOrFailed', podFailurePolicy: { rules: [] } },
    ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
  ],
])('a job is checked by its %s', (_name, spec, problems) => {
  expect(created(jobs, job(spec)).problems).toEqual(problems);
});

describe('updates of jobs', () => {
  const running = created(jobs, job()).object;
  const suspended = created(jobs, job({ suspend: true })).object;

  test('the template stays', () => {
    const { problems } = updated(jobs, running, ({ spec }) => void (spec.template.spec.containers![0]!.image = 'other'));
    expect(problems).toEqual([expect.stringMatching(/^spec\.template: Invalid value: .*: field is immutable$/)]);
  });

  test('where and with what pods run may change while none does', () => {
    const { problems } = updated(jobs, suspended, ({ spec: { template } }) => {
      template.spec.nodeSelector = { zone: 'a' };
      template.spec.containers![0]!.resources = { requests: { cpu: '1' } };
      template.spec.affinity = { nodeAffinity: {} };
    });
    expect(problems).toEqual([]);
    expect(updated(jobs, suspended, ({ spec }) => void (spec.template.spec.containers![0]!.image = 'other')).problems).toEqual([
      expect.stringMatching(/^spec\.template\.spec: .*immutable$/),
    ]);
  });

  test('completions change with parallelism, where there are indexes', () => {
    const indexed = created(jobs, job({ completionMode: 'Indexed', completions: 2, parallelism: 2 })).object;
    const resize = (completions: number, parallelism: number) =>
      updated(jobs, indexed, ({ spec }) => Object.assign(spec, { completions, parallelism })).problems;
    expect(resize(3, 3)).toEqual([]);
    expect(resize(3, 2)).toEqual(['spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism']);
    expect(updated(jobs, running, ({ spec }) => void (spec.completions = 5)).problems).toEqual(['spec.completions: Invalid value: 5: field is immutable']);
  });
});

const check = (old: JobStatus, next: JobStatus, spec: object = {}): string[] => {
  const object: Job = { ...created(jobs, job(spec)).object, status: old };
  return updated(jobs, object, (changed) => void (changed.status = next), 'status').problems;
};

describe('statuses of jobs', () => {
  const start = '2026-01-01T00:00:00Z';
  const end = '2026-01-01T00:01:00Z';
  const condition = (type: string, status = 'True') => ({ type, status, lastProbeTime: null, lastTransitionTime: start });

  test('a job ends once', () => {
    const done = { startTime: start, completionTime: end, succeeded: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete')] };
    expect(check({ startTime: start }, done)).toEqual([]);
    expect(check(done, { startTime: start, succeeded: 1 })).toEqual([
      'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
      'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
    ]);
  });

  test('and says how', () => {
    expect(check({}, { conditions: [condition('Complete'), condition('Failed')], active: 1 })).toEqual([
      'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
      'status.completionTime: Required value: completionTime is required for Complete jobs',
      'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'status.active: Invalid value: 1: active>0 is invalid for finished job',
      'status.startTime: Required value: startTime is required for finished job',
    ]);
  });

  test('indexes and counts', () => {
    const spec = { completionMode: 'Indexed', completions: 5, backoffLimitPerIndex: 1 };
    expect(check({}, { completedIndexes: '0-2', failedIndexes: '2,9', ready: 1 }, spec)).toEqual([
      'status.failedIndexes: Invalid value: "2,9": error parsing failedIndexes: too large index: "9"',
      'status.failedIndexes: Invalid value: "2,9": failedIndexes and completedIndexes overlap at index: 2',
      'status.ready: Invalid value: 1: cannot set more ready pods than active',
    ]);
    expect(check({}, { active: -1 })).toEqual(['status.active: Invalid value: -1: must be greater than or equal to 0']);
    expect(check({ failed: 2, succeeded: 2 }, { failed: 1, succeeded: 1 })).toEqual([
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
      'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
    ]);
  });

  test('what was wrong before does not stand in the way', () => {
    const odd = { conditions: [condition('Complete')] };
    expect(check(odd, { ...odd, terminating: 0 })).toEqual([]);
  });
});

test.each([
  ['', 0],
  ['0,2-4', 4],
  ['1-1', 'non-increasing order, previous: 1, current: 1'],
  ['3,2', 'non-increasing order, previous: 3, current: 2'],
  ['1-2-3', 'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\''],
  ['a', 'cannot convert string to integer for index: "a"'],
  ['5', 'too large index: "5"'],
])('indexes %j of five', (text, result) => {
  expect(countIndexes(text, 5)).toBe(result);
});

test('shared indexes pass over what cannot be read', () => {
  expect(firstSharedIndex('0,x,4-6', '1-3,5', 9)).toBe(5);
  expect(firstSharedIndex('0', '', 9)).toBeUndefined();
});

describe('cron jobs', () => {
  test('defaults', () => {
    const { spec } = decoded(cronJobs, cronJob());
    expect(spec).toMatchObject({ concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
    expect(spec.jobTemplate.spec.completions).toBeUndefined();
  });

  test.each([
    [{}, []],
    [{ schedule: '' }, ['spec.schedule: Required value']],
    [{ schedule: 'TZ=UTC * * * * *' }, ['spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead']],
    [{ timeZone: '' }, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
    [{ timeZone: 'Local' }, ['spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones']],
    [{ timeZone: '-x/y' }, ['spec.timeZone: Invalid value: "-x/y": unknown time zone -x/y']],
    [{ concurrencyPolicy: 'Race' }, ['spec.concurrencyPolicy: Unsupported value: "Race": supported values: "Allow", "Forbid", "Replace"']],
    [
      { jobTemplate: { spec: { template: { spec: podSpec }, selector: {}, manualSelector: true } } },
      [
        'spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated',
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      ],
    ],
  ])('%j', (spec, problems) => {
    expect(created(cronJobs, cronJob(spec)).problems).toEqual(problems);
  });

  test('names leave room for those of jobs', () => {
    expect(created(cronJobs, cronJob({}, 'x'.repeat(52))).problems).toEqual([]);
    expect(created(cronJobs, cronJob({}, 'x'.repeat(53))).problems).toEqual([
      `metadata.name: Invalid value: "${'x'.repeat(53)}": must be no more than 52 characters`,
    ]);
  });

  test('a zone in the schedule of old may stay', () => {
    const object = { ...created(cronJobs, cronJob()).object };
    object.spec = { ...object.spec, schedule: 'TZ=UTC * * * * *' };
    expect(updated(cronJobs, object, ({ spec }) => void (spec.suspend = true)).problems).toEqual([]);
    expect(updated(cronJobs, object, ({ spec }) => void (spec.timeZone = 'UTC')).problems).toEqual([
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
    ]);
  });
});
