import type { Pod } from '../../apis/facts/types/core-v1.ts';
import type { Condition } from '../../apis/facts/types/meta-v1.ts';
import type { PodDisruptionBudget } from '../../apis/facts/types/policy-v1.ts';
import { parsedSelector } from '../../apis/validation/label-selector.ts';
import type { ResourceClient } from '../../client/client.ts';
import { disruptionBudgetExceeded, forbidden } from '../../api/errors.ts';
import { timeOf } from '../../util/time.ts';

/** More evictions than this that the controller has not confirmed are not let happen. */
const MAX_DISRUPTED_PODS = 2000;
const DISRUPTION_ALLOWED = 'DisruptionAllowed';
const RETRY_AFTER_SECONDS = 10;

/** The budgets that guard a pod; one with a selector that is not valid guards none. */
export async function budgetsOf(budgets: ResourceClient<PodDisruptionBudget>, { metadata }: Pod): Promise<PodDisruptionBudget[]> {
  const all = await budgets.list(metadata.namespace ?? '');
  return all.filter(({ spec }) => parsedSelector(spec.selector)?.matches(metadata.labels));
}

/** An unready pod serves nobody: it may go where the budget says always, or where enough others are healthy. */
export function allowsUnreadyPod({ spec, status }: PodDisruptionBudget): boolean {
  return spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (status.currentHealthy >= status.desiredHealthy && status.desiredHealthy > 0);
}

/** Takes one disruption off the budget, or throws where there is none to take. */
export async function spendDisruption(
  budgets: ResourceClient<PodDisruptionBudget>,
  budget: PodDisruptionBudget,
  podName: string,
  dryRun: boolean,
  now: Date,
): Promise<void> {
  if (dryRun) return checkBudget(budget);
  const spend = (current: PodDisruptionBudget): void => {
    checkBudget(current);
    const { status } = current;
    status.disruptionsAllowed--;
    if (status.disruptionsAllowed === 0) setExhausted(current, now);
    // So that the controller does not count the pod as there, between our answer and the pod's end.
    status.disruptedPods = { ...status.disruptedPods, [podName]: timeOf(now) };
  };
  await budgets.update(budget.metadata.namespace!, budget.metadata.name!, spend, 'status');
}

function checkBudget({ metadata, status }: PodDisruptionBudget): void {
  const name = metadata.name!;
  const refuse = (why: string): Error => forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) throw stillProcessed(name);
  if (status.disruptionsAllowed < 0) throw refuse('pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS)
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (status.disruptionsAllowed === 0) throw disruptionBudgetExceeded(whyExhausted(name, status), 0);
}

/** The budget's figures are not to be relied on at the moment: the client may try again. */
export const stillProcessed = (budgetName: string): Error =>
  disruptionBudgetExceeded(`The disruption budget ${budgetName} is still being processed by the server.`, RETRY_AFTER_SECONDS);

function whyExhausted(name: string, { currentHealthy, desiredHealthy, conditions = [] }: PodDisruptionBudget['status']): string {
  const condition = conditions.find(({ type, status, message }) => type === DISRUPTION_ALLOWED && status === 'False' && message !== '');
  // The figures mean nothing when the controller could not work them out.
  if (condition?.reason === 'SyncFailed')
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`;
  if (currentHealthy <= desiredHealthy) return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  if (condition) return `The disruption budget ${name} does not allow evicting pods currently (${condition.reason}): ${condition.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

function setExhausted({ status }: PodDisruptionBudget, now: Date): void {
  const conditions = status.conditions ?? [];
  const old = conditions.find(({ type }) => type === DISRUPTION_ALLOWED);
  const lastTransitionTime = old?.status === 'False' ? old.lastTransitionTime : timeOf(now);
  const next: Condition = {
    type: DISRUPTION_ALLOWED,
    status: 'False',
    observedGeneration: status.observedGeneration ?? 0,
    lastTransitionTime,
    reason: 'InsufficientPods',
    message: '',
  };
  status.conditions = old ? conditions.map((condition) => (condition === old ? next : condition)) : [...conditions, next];
}
