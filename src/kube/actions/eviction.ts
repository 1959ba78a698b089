import type { SubresourceAction } from '../../apis/define.ts';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import type { Eviction, PodDisruptionBudget } from '../../apis/facts/types/policy-v1.ts';
import type { Client } from '../../client/client.ts';
import type { SubresourceCall } from '../../registry/definition.ts';
import type { DeleteOptions, ResourceStore } from '../../registry/store.ts';
import { badRequest, conflict, invalid, isApiError, unknownError } from '../../api/errors.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { allowsUnreadyPod, budgetsOf, spendDisruption, stillProcessed } from './disruption-budget.ts';
import { isPodReady, setPodCondition } from '../../apis/core/pod/conditions.ts';
import { success } from './success.ts';

/** How often the pod may change under an eviction that does not depend on a budget. */
const MAX_ATTEMPTS = 20;

/** POST pods/eviction: a deletion that keeps disruption budgets (pkg/registry/core/pod/storage/eviction.go). */
export const podEviction = (client: Client, now: () => Date): SubresourceAction => ({
  alsoAcceptsVersions: ['v1beta1'],
  async create(call) {
    const eviction = call.body as Eviction;
    if (eviction.metadata.name !== call.name) throw badRequest('name in URL does not match name in Eviction object');
    refuseUnsafeDelete(eviction, call.name);
    const deletion: Deletion = {
      call,
      pods: (call.store as unknown as ResourceStore<Pod>).withoutAdmission(),
      options: deleteOptionsOf(eviction, call.dryRun),
      now,
    };
    await call.admit();
    const guarded = await evictUnguarded(deletion);
    if (guarded) await evictGuarded(client, deletion, guarded);
    return success();
  },
});

interface Deletion {
  call: SubresourceCall;
  pods: ResourceStore<Pod>;
  /** As the client gave them. */
  options: DeleteOptions;
  now(): Date;
}

function refuseUnsafeDelete({ deleteOptions }: Eviction, name: string): void {
  if (!deleteOptions?.ignoreStoreReadErrorWithClusterBreakingPotential) return;
  const errors = new FieldErrors();
  errors
    .at('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential')
    .invalid(true, 'can not be set for pod eviction, try after removing the option');
  throw invalid({ group: 'policy', kind: 'Eviction' }, name, errors.list);
}

/** A dry run may be asked for by the request, by its body, or by both alike. */
function deleteOptionsOf({ deleteOptions = {} }: Eviction, isDryRunRequest: boolean): DeleteOptions {
  const { dryRun = [], gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy } = deleteOptions;
  if (isDryRunRequest && dryRun.length > 0 && dryRun.join() !== 'All')
    throw unknownError(`Non-matching dry-run options in request and content: [All] and [${dryRun.join(' ')}]`);
  return {
    dryRun: isDryRunRequest || dryRun.length > 0,
    gracePeriodSeconds,
    preconditions,
    orphanDependents,
    raw: deleteOptions,
    propagationPolicy: propagationPolicy as DeleteOptions['propagationPolicy'],
  };
}

/** Deletes a pod that no budget guards, since it does not run yet or no longer; answers with the pod where one may. */
async function evictUnguarded(deletion: Deletion): Promise<Pod | undefined> {
  const { call, pods, options } = deletion;
  const insists = options.preconditions?.resourceVersion !== undefined;
  for (let attempt = 1; ; attempt++) {
    const pod = (await pods.get(call.namespace, call.name, '')).object<Pod>();
    const isOver = pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed' || Boolean(pod.metadata.deletionTimestamp);
    if (!isOver && pod.status.phase !== 'Pending') return pod;
    try {
      // One that is pending may start at any moment: only as it was seen may it be deleted so.
      await markAndDelete(deletion, isOver || insists ? options : atVersionOf(options, pod));
      return undefined;
    } catch (error) {
      if (insists || attempt === MAX_ATTEMPTS || !isApiError(error, 'Conflict')) throw error;
    }
  }
}

async function evictGuarded(client: Client, deletion: Deletion, pod: Pod): Promise<void> {
  const { options, now } = deletion;
  const budgets = client.resource<PodDisruptionBudget>('policy', 'poddisruptionbudgets');
  const [budget, ...others] = await budgetsOf(budgets, pod);
  if (others.length > 0) throw unknownError('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  const isFree = budget !== undefined && !isPodReady(pod) && allowsUnreadyPod(budget);
  if (budget && !isFree) await spendDisruption(budgets, budget, pod.metadata.name!, options.dryRun, now());
  if (!isFree) return markAndDelete(deletion, options);
  try {
    // It must not have become ready meanwhile.
    await markAndDelete(deletion, atVersionOf(options, pod));
  } catch (error) {
    throw isApiError(error, 'Conflict') && options.preconditions?.resourceVersion === undefined ? stillProcessed(budget.metadata.name!) : error;
  }
}

const atVersionOf = (options: DeleteOptions, { metadata }: Pod): DeleteOptions => ({
  ...options,
  preconditions: { ...options.preconditions, resourceVersion: metadata.resourceVersion! },
});

/** The pod says that it was evicted before it goes, for whoever wonders (KEP-3329). */
async function markAndDelete({ call, pods, now }: Deletion, options: DeleteOptions): Promise<void> {
  const { namespace, name, context } = call;
  if (options.dryRun) {
    await pods.delete(context, namespace, name, options);
    return;
  }
  const mark = (pod: Pod): void => {
    checkPreconditions(options, pod);
    setPodCondition(pod, { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }, now());
  };
  const marked = await pods.amend(namespace, name, mark, { context, subresource: 'eviction', dryRun: false, preconditions: {} });
  const insists = options.preconditions?.resourceVersion !== undefined;
  await pods.delete(context, namespace, name, insists ? atVersionOf(options, marked) : options);
}

function checkPreconditions({ preconditions: { uid, resourceVersion } = {} }: DeleteOptions, { metadata }: Pod): void {
  const refuse = (why: string): Error => conflict({ group: '', resource: 'Pod' }, metadata.name!, why);
  if (uid && uid !== metadata.uid)
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}
