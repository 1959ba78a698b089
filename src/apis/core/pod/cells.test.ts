import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../encoding/json-types.ts';
import { pods } from './pod.ts';
import { decodePod } from './test-pods.ts';

const now = new Date('2026-01-01T00:10:00Z');

/** Ready, Status and Restarts, as kubectl shows them. */
function row(spec: JsonObject, status: JsonObject, metadata: JsonObject = {}): unknown[] {
  const pod = decodePod(spec, metadata, status);
  return pods.table!.columns!.filter(({ name }) => ['Ready', 'Status', 'Restarts'].includes(name)).map((column) => column.cell(pod, now));
}

const status = (name: string, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  state,
  lastState: {},
  ready: false,
  restartCount: 0,
  image: '',
  imageID: '',
  ...more,
});
const running = { running: {} };

describe('the row of a pod', () => {
  it('is told to be completed once the pod has ended', () => {
    expect(pods.table!.rowConditions!(decodePod({}, {}, { phase: 'Failed' }))).toEqual([
      { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
    ]);
    expect(pods.table!.rowConditions!(decodePod({}, {}, { phase: 'constructor' }))).toEqual([]);
  });

  it.each<[string, JsonObject, JsonObject, unknown[], JsonObject?]>([
    ['new', {}, { phase: 'Pending' }, ['0/1', 'Pending', '0']],
    ['gated', {}, { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] }, ['0/1', 'SchedulingGated', '0']],
    ['running', {}, { phase: 'Running', containerStatuses: [status('app', running, { ready: true })] }, ['1/1', 'Running', '0']],
    [
      'restarted',
      {},
      {
        phase: 'Running',
        containerStatuses: [
          status('app', running, { ready: true, restartCount: 2, lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:05:00Z' } } }),
        ],
      },
      ['1/1', 'Running', '2 (5m ago)'],
    ],
    ['crashing', {}, { phase: 'Running', containerStatuses: [status('app', { waiting: { reason: 'CrashLoopBackOff' } })] }, ['0/1', 'CrashLoopBackOff', '0']],
    ['killed', {}, { phase: 'Failed', containerStatuses: [status('app', { terminated: { exitCode: 137, signal: 9 } })] }, ['0/1', 'Signal:9', '0']],
    [
      'initializing',
      { initContainers: [{ name: 'i', image: 'i' }] },
      { phase: 'Pending', initContainerStatuses: [status('i', running)] },
      ['0/1', 'Init:0/1', '0'],
    ],
    [
      'failing to initialize',
      { initContainers: [{ name: 'i', image: 'i' }] },
      { phase: 'Pending', initContainerStatuses: [status('i', { terminated: { exitCode: 3 } })] },
      ['0/1', 'Init:ExitCode:3', '0'],
    ],
    [
      'with a sidecar',
      { initContainers: [{ name: 's', image: 's', restartPolicy: 'Always' }] },
      {
        phase: 'Running',
        initContainerStatuses: [status('s', running, { started: true, ready: true, restartCount: 1 })],
        containerStatuses: [status('app', running, { ready: true })],
      },
      ['2/2', 'Running', '1'],
    ],
    ['deleted', {}, { phase: 'Running' }, ['0/1', 'Terminating', '0'], { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ])('%s', (_what, spec, state, expected, metadata) => {
    expect(row(spec, state, metadata)).toEqual(expected);
  });
});
