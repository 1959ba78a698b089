import type { RowCondition } from '../../../registry/definition.ts';
import { ageSince } from '../../../util/duration.ts';
import type { Cell } from '../../define.ts';
import type { ContainerState, ContainerStatus, Pod } from '../../facts/types/core-v1.ts';
import { isSidecar } from './containers-of.ts';

/** What `kubectl get pods` shows (pkg/printers/internalversion printPod). */
interface Summary {
  reason: string;
  readyCount: number;
  totalCount: number;
  restarts: number;
  /** When a container last ended before a restart; empty if none did. */
  lastRestart: string;
}

const NONE = '<none>';
const UNREACHABLE = 'NodeLost';

export const podCells: Record<string, Cell<Pod>> = {
  Ready: (pod) => {
    const { readyCount, totalCount } = summaryOf(pod);
    return `${readyCount}/${totalCount}`;
  },
  Status: (pod) => summaryOf(pod).reason,
  Restarts: (pod, now) => {
    const { restarts, lastRestart } = summaryOf(pod);
    return restarts !== 0 && lastRestart !== '' ? `${restarts} (${ageSince(lastRestart, now)} ago)` : String(restarts);
  },
  IP: ({ status }) => status.podIPs?.[0]?.ip || NONE,
  Node: ({ spec }) => spec.nodeName || NONE,
  'Nominated Node': ({ status }) => status.nominatedNodeName || NONE,
  'Readiness Gates': readinessGates,
};

const COMPLETED = { type: 'Completed', status: 'True' } as const;
const ENDED = new Map<string | undefined, readonly RowCondition[]>([
  ['Succeeded', [{ ...COMPLETED, reason: 'Succeeded', message: 'The pod has completed successfully.' }]],
  ['Failed', [{ ...COMPLETED, reason: 'Failed', message: 'The pod failed.' }]],
]);

export const podRowConditions = ({ status }: Pod): readonly RowCondition[] => ENDED.get(status.phase) ?? [];

/** The three cells of one row are made from one object. */
const summaries = new WeakMap<Pod, Summary>();

function summaryOf(pod: Pod): Summary {
  let summary = summaries.get(pod);
  if (summary === undefined) summaries.set(pod, (summary = summarize(pod)));
  return summary;
}

function summarize(pod: Pod): Summary {
  const { spec, status } = pod;
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const isGated = (status.conditions ?? []).some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated');
  const summary: Summary = {
    reason: isGated ? 'SchedulingGated' : status.reason || status.phase || '',
    readyCount: 0,
    totalCount: (spec.containers ?? []).length + sidecars.size,
    restarts: 0,
    lastRestart: '',
  };
  const isInitializing = summarizeInit(pod, sidecars, summary);
  if (!isInitializing || hasCondition(pod, 'Initialized')) {
    const ofSidecars = (status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
    summary.restarts = 0;
    summary.lastRestart = '';
    for (const container of ofSidecars) countRestarts(container, summary);
    summarizeRunning(pod, summary);
  }
  if (pod.metadata.deletionTimestamp) summary.reason = reasonOfDeleted(pod, summary.reason);
  return summary;
}

/** Goes through init containers up to the first that is not done; answers whether there is one. */
function summarizeInit({ spec, status }: Pod, sidecars: ReadonlySet<string>, summary: Summary): boolean {
  const statuses = status.initContainerStatuses ?? [];
  for (const [index, container] of statuses.entries()) {
    countRestarts(container, summary);
    const { terminated, waiting } = container.state;
    if (terminated && terminated.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started) {
      if (container.ready) summary.readyCount++;
      continue;
    }
    if (terminated) summary.reason = `Init:${endOf(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') summary.reason = `Init:${waiting.reason}`;
    else summary.reason = `Init:${index}/${(spec.initContainers ?? []).length}`;
    return true;
  }
  return false;
}

const endOf = ({ reason, signal, exitCode }: NonNullable<ContainerState['terminated']>): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);

function countRestarts({ restartCount, lastState }: ContainerStatus, summary: Summary): void {
  summary.restarts += restartCount;
  const finishedAt = lastState.terminated?.finishedAt ?? '';
  if (finishedAt > summary.lastRestart) summary.lastRestart = finishedAt;
}

function summarizeRunning(pod: Pod, summary: Summary): void {
  let isRunning = false;
  let failure = '';
  for (const container of (pod.status.containerStatuses ?? []).toReversed()) {
    countRestarts(container, summary);
    const { waiting, terminated, running } = container.state;
    if (waiting?.reason) summary.reason = waiting.reason;
    else if (terminated) {
      summary.reason = endOf(terminated);
      if (terminated.exitCode !== 0) failure = summary.reason;
    } else if (container.ready && running) {
      isRunning = true;
      summary.readyCount++;
    }
  }
  if (summary.reason !== 'Completed') return;
  if (isRunning && hasCondition(pod, 'Ready')) summary.reason = 'Running';
  else if (failure !== '') summary.reason = failure;
  else if (isRunning) summary.reason = 'NotReady';
}

function reasonOfDeleted({ status }: Pod, reason: string): string {
  if (status.reason === UNREACHABLE) return 'Unknown';
  return status.phase === 'Failed' || status.phase === 'Succeeded' ? reason : 'Terminating';
}

const hasCondition = ({ status }: Pod, type: string): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');

function readinessGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const isOpen = (type: string): boolean => (status.conditions ?? []).find((condition) => condition.type === type)?.status === 'True';
  return `${gates.filter(({ conditionType }) => isOpen(conditionType)).length}/${gates.length}`;
}
