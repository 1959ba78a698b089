import type { Pod, PodCondition } from '../../facts/types/core-v1.ts';
import { timeOf } from '../../../util/time.ts';

/** Sets a condition, in its place where the pod has one of the type; its time of transition moves only with its status (pkg/api/pod/util.go). */
export function setPodCondition(pod: Pod, condition: Omit<PodCondition, 'lastProbeTime' | 'lastTransitionTime'>, now: Date): void {
  const conditions = pod.status.conditions ?? [];
  const old = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : timeOf(now);
  const next: PodCondition = { ...condition, lastProbeTime: null, lastTransitionTime };
  pod.status.conditions = old ? conditions.map((each) => (each === old ? next : each)) : [...conditions, next];
}

export const isPodReady = ({ status }: Pod): boolean => (status.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
