import type { SubresourceAction } from '../../apis/define.ts';
import type { Binding, Pod } from '../../apis/facts/types/core-v1.ts';
import type { SubresourceCall } from '../../registry/definition.ts';
import type { ReviewHandler } from '../../registry/review-store.ts';
import type { ResourceStore } from '../../registry/store.ts';
import { badRequest, conflict, unknownError } from '../../api/errors.ts';
import { FieldErrors, summarize } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { setPodCondition } from '../../apis/core/pod/conditions.ts';
import { success } from './success.ts';

export interface BindingOptions {
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
  now(): Date;
}

/** POST pods/binding: a scheduler says where a pod is to run (pkg/registry/core/pod/storage/storage.go BindingREST). */
export const podBinding = (options: BindingOptions): SubresourceAction => ({
  async create({ namespace, name, body, dryRun, context, store, admit }) {
    const binding = body as Binding;
    if (binding.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
    validateBinding(binding);
    await admit();
    await assignPod({ pods: store as unknown as ResourceStore<Pod>, namespace, context, dryRun }, binding, options);
    return success();
  },
});

/** POST bindings: the same, from before subresources. Its uid is no precondition. */
export const formerBinding =
  (pods: ResourceStore<Pod>, options: BindingOptions): ReviewHandler<Binding> =>
  async (binding, context, namespace, dryRun) => {
    validateBinding(binding);
    const { uid: _uid, ...metadata } = binding.metadata;
    await assignPod({ pods, namespace, context, dryRun }, { ...binding, metadata }, options);
    return success() as Binding;
  };

/** The reference answers 500 with the bare list. */
function validateBinding({ target }: Binding): void {
  const errors = new FieldErrors();
  if (target.kind && target.kind !== 'Node') errors.at('target', 'kind').notSupportedString(target.kind, ['Node', '<empty>']);
  if (!target.name) errors.at('target', 'name').required();
  if (!errors.isEmpty) throw unknownError(summarize(errors.list));
}

interface Assignment extends Pick<SubresourceCall, 'namespace' | 'context' | 'dryRun'> {
  pods: ResourceStore<Pod>;
}

async function assignPod({ pods, namespace, context, dryRun }: Assignment, { metadata, target }: Binding, { isEnabled, now }: BindingOptions): Promise<void> {
  const { name = '', uid, resourceVersion, annotations, labels } = metadata;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  const assign = (pod: Pod): void => {
    const obstacle = whyNotAssignable(pod);
    if (obstacle !== undefined) throw conflict({ group: '', resource: 'pods/binding' }, name, obstacle);
    pod.spec.nodeName = target.name!;
    if (isEnabled('ClearingNominatedNodeNameAfterBinding')) delete pod.status.nominatedNodeName;
    if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
    if (labels && isEnabled('PodTopologyLabelsAdmission')) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
    setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, now());
  };
  await pods.amend(namespace, name, assign, { context, subresource: 'binding', dryRun, preconditions });
}

function whyNotAssignable({ metadata, spec }: Pod): string | undefined {
  if (metadata.deletionTimestamp) return `pod ${metadata.name} is being deleted, cannot be assigned to a host`;
  if (spec.nodeName) return `pod ${metadata.name} is already assigned to node ${quote(spec.nodeName)}`;
  if ((spec.schedulingGates ?? []).length > 0) return `pod ${metadata.name} has non-empty .spec.schedulingGates`;
  return undefined;
}
