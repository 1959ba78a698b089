import type { NamespaceCondition, NamespaceStatus } from '../apis/facts/types/core-v1.ts';
import type { ResourceIdentity } from '../client/client.ts';
import { timeOf } from '../util/time.ts';

/** What a pass over a namespace's content has come to. */
export interface ContentTotals {
  /** How many objects are left of which resource. */
  remaining: ReadonlyMap<ResourceIdentity, number>;
  /** Objects that wait for it, by finalizer. */
  finalizers: ReadonlyMap<string, number>;
  errors: readonly Error[];
  /** Why some resources are not known; undefined where all are. */
  discoveryFailure?: string | undefined;
}

interface ConditionTexts {
  type: string;
  ok: { reason: string; message: string };
  /** Undefined where all is well. */
  trouble(totals: ContentTotals): { reason: string; message: string } | undefined;
}

/**
 * The conditions of a namespace that is being deleted, in upstream's order and words (pkg/controller/namespace/deletion/status_condition_utils.go). What is
 * served is known for certain here but for aggregated servers, so that the second is never true.
 */
const CONDITIONS: readonly ConditionTexts[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    ok: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    trouble: ({ discoveryFailure: message }) => (message === undefined ? undefined : { reason: 'DiscoveryFailed', message }),
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    ok: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    trouble: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    ok: { reason: 'ContentDeleted', message: 'All content successfully deleted, may be waiting on finalization' },
    trouble({ errors }) {
      const messages = errors.map(({ message }) => message).toSorted();
      return messages.length === 0
        ? undefined
        : { reason: 'ContentDeletionFailed', message: `Failed to delete all resource types, ${messages.length} remaining: ${messages.join(', ')}` };
    },
  },
  {
    type: 'NamespaceContentRemaining',
    ok: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    trouble({ remaining }) {
      const texts = Array.from(remaining, ([{ plural, group }, count]) => `${plural}.${group} has ${count} resource instances`).toSorted();
      return texts.length === 0 ? undefined : { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${texts.join(', ')}` };
    },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    ok: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    trouble({ finalizers }) {
      const texts = Array.from(finalizers, ([finalizer, count]) => `${finalizer} in ${count} resource instances`).toSorted();
      return texts.length === 0
        ? undefined
        : { reason: 'SomeFinalizersRemain', message: `Some content in the namespace has finalizers remaining: ${texts.join(', ')}` };
    },
  },
];

/** Writes the conditions; false where they say so already. */
export function tellOfContent(status: NamespaceStatus, totals: ContentTotals, now: Date): boolean {
  const conditions = [...(status.conditions ?? [])];
  let isChanged = false;
  for (const { type, ok, trouble } of CONDITIONS) {
    const found = trouble(totals);
    const index = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[index];
    const next = conditionOf(type, found ? 'True' : 'False', found ?? ok, old, now);
    if (old?.status === next.status && old.reason === next.reason && old.message === next.message) continue;
    isChanged = true;
    if (old) conditions[index] = next;
    else conditions.push(next);
  }
  if (isChanged) status.conditions = conditions;
  return isChanged;
}

/** The time changes with the status only. */
function conditionOf(
  type: string,
  status: string,
  { reason, message }: ConditionTexts['ok'],
  old: NamespaceCondition | undefined,
  now: Date,
): NamespaceCondition {
  return { type, status, lastTransitionTime: old?.status === status ? old.lastTransitionTime : timeOf(now), reason, message };
}
