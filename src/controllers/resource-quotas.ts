import type { ResourceQuota } from '../apis/facts/types/core-v1.ts';
import { type Amounts, ZERO, amountsIn, areEqual, growthOf, listOf, sumOf } from '../apis/core/quota/amounts.ts';
import { type Evaluator, scopesOf } from '../apis/core/quota/evaluator.ts';
import { createEvaluators } from '../apis/core/quota/evaluators.ts';
import type { Client, ResourceClient, ResourceIdentity } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';
import { type Quantity, addQuantities } from '../api/quantity.ts';
import { isApiError } from '../api/errors.ts';
import { type Controller, FIELD_MANAGER, stopOnAbort } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

const WORKERS = 5;
/** Admission charges a write before it is stored, and it may fail yet: so what is used is counted anew now and then. */
const RECOUNT_AFTER_MS = 5 * 60_000;

/** A resource whose objects use up quotas. */
interface Measured {
  identity: ResourceIdentity;
  evaluator: Evaluator;
}

/** Keeps what quotas say is used, which admission only ever raises, by what there is (pkg/controller/resourcequota). */
export const keepQuotas: Controller = async (client, options) => {
  const quotas = client.resource<ResourceQuota>('', 'resourcequotas', FIELD_MANAGER);
  await quotas.informer.synced;
  if (options.signal.aborted) return;
  const evaluatorOf = createEvaluators(() => options.now(), options.kindSettings);
  const measured = (): Measured[] => measuredResources(client, evaluatorOf);
  const followed = new Map<ResourceIdentity, () => void>();

  const queue = new WorkQueue(
    async (key) => {
      const [namespace, name] = key.split('/') as [string, string];
      const quota = quotas.informer.get(namespace, name);
      if (!quota) return;
      const counted = measured().filter(({ evaluator }) => hardNames(quota).some((one) => evaluator.counts(one)));
      for (const resource of counted) await follow(client, resource, followed, recountFor);
      try {
        await recount(client, quotas, quota, counted, options.signal);
      } catch (error) {
        if (!isApiError(error, 'NotFound')) throw error;
      }
      return RECOUNT_AFTER_MS;
    },
    { ...options, name: 'resource_quota_controller_resource_changes', workers: WORKERS },
  );
  const add = ({ metadata }: ResourceQuota): void => queue.add(`${metadata.namespace}/${metadata.name}`);
  const recountFor = (namespace: string, evaluator: Evaluator): void => {
    for (const quota of quotas.informer.list(namespace)) if (hardNames(quota).some((name) => evaluator.counts(name))) add(quota);
  };

  stopOnAbort(options.signal, [
    quotas.informer.onChange((quota) => void (quota && isOutOfDate(quota) && add(quota))),
    client.onResourcesChange(() => forgetMissing(client, followed)),
    () => {
      for (const stop of followed.values()) stop();
    },
  ]);
  for (const quota of quotas.informer.list('')) add(quota);
  await queue.idle();
};

const hardNames = ({ spec }: ResourceQuota): string[] => Object.keys(spec.hard ?? {});

function measuredResources(client: Client, evaluatorOf: ReturnType<typeof createEvaluators>): Measured[] {
  return client.resources().flatMap((identity) => {
    const evaluator = identity.namespaced ? evaluatorOf({ group: identity.group, resource: identity.plural }) : undefined;
    return evaluator ? [{ identity, evaluator }] : [];
  });
}

/** Only what some quota counts is followed, and of that mostly deletions: they cost no decoding of what changes. */
async function follow(
  client: Client,
  { identity, evaluator }: Measured,
  followed: Map<ResourceIdentity, () => void>,
  recountFor: (namespace: string, evaluator: Evaluator) => void,
): Promise<void> {
  if (followed.has(identity)) return;
  const { informer } = client.resource(identity.group, identity.plural);
  const { isReleased } = evaluator;
  const stop = informer.onChange(
    (object, old) => {
      if (old && (!object || isReleased?.(object, old))) recountFor(old.metadata.namespace!, evaluator);
    },
    () => isReleased !== undefined,
  );
  followed.set(identity, stop);
  await informer.synced;
}

/** A resource that is defined anew is another one. */
function forgetMissing(client: Client, followed: Map<ResourceIdentity, () => void>): void {
  const present = new Set(client.resources());
  for (const [identity, stop] of followed) {
    if (present.has(identity)) continue;
    stop();
    followed.delete(identity);
  }
}

/** What its writer wants is not yet what is in force, or it is not known how much of it is used. */
function isOutOfDate({ spec, status }: ResourceQuota): boolean {
  const used = status.used ?? {};
  return !areEqual(amountsIn(spec.hard), amountsIn(status.hard)) || Object.keys(spec.hard ?? {}).some((name) => !Object.hasOwn(used, name));
}

/**
 * Writes what is used by the objects that there are now. That takes a while where there are many, and admission may charge the quota in the meantime: such
 * charges are for objects that were not counted, and are added.
 */
async function recount(
  client: Client,
  quotas: ResourceClient<ResourceQuota>,
  quota: ResourceQuota,
  resources: readonly Measured[],
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '' } = quota.metadata;
  const usedBefore = amountsIn(quota.status.used);
  const counted = await countUsed(client, quota, resources, signal);
  if (signal.aborted) return;
  const refresh = (current: ResourceQuota): boolean => {
    const hard = amountsIn(current.spec.hard);
    const charged = growthOf(amountsIn(current.status.used), usedBefore);
    const used = new Map([...hard].map(([one]) => [one, ZERO]));
    for (const [one, quantity] of sumOf(counted, charged)) if (hard.has(one)) used.set(one, quantity);
    const { status } = current;
    if (areEqual(hard, amountsIn(status.hard)) && areEqual(used, amountsIn(status.used))) return false;
    current.status = { hard: { ...current.spec.hard }, used: listOf(used) };
    return true;
  };
  await quotas.update(namespace, name, refresh, 'status');
}

/** Of all resources together. */
async function countUsed(client: Client, quota: ResourceQuota, resources: readonly Measured[], signal: AbortSignal): Promise<Amounts> {
  const names = hardNames(quota);
  const scopes = scopesOf(quota);
  const used = new Map<string, Quantity>();
  const usages = resources.map(async ({ identity, evaluator }) => {
    const wanted = new Set(names.filter((name) => evaluator.counts(name)));
    const add = (object: ApiObject): void => {
      if (!scopes.every((scope) => evaluator.isInScope(scope, object))) return;
      for (const [name, quantity] of evaluator.usage(object)) {
        if (!wanted.has(name)) continue;
        const before = used.get(name);
        used.set(name, before ? addQuantities(before, quantity) : quantity);
      }
    };
    await client.resource(identity.group, identity.plural).informer.forEach(quota.metadata.namespace!, add, signal);
  });
  await Promise.all(usages);
  return used;
}
