import { CLEANUP_FINALIZER } from '../apis/apiextensions/custom-resource-definition.ts';
import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import { delay } from '../util/delay.ts';
import {
  type DefinitionClient,
  type DefinitionControllerOptions,
  followDefinitions,
  isConditionTrue,
  setDefinitionCondition,
  updateStatus,
} from './definition-conditions.ts';
import { InstanceDeletionError } from './deleting-instances.ts';

export interface FinalizingOptions extends DefinitionControllerOptions {
  /** Removes all objects of the definition's resource; resolves when none is left. Throws InstanceDeletionError where that cannot be done now. */
  deleteInstances(definition: CustomResourceDefinition, signal: AbortSignal): Promise<void>;
}

/** Other servers on the same store see the mark first, and take in no more objects. */
const PENDING_MS = 100;
/** One whose objects are kept by their finalizers is waited for; it must not keep the others. */
const WORKERS = 100;

interface Outcome {
  status: 'True' | 'False';
  reason: string;
  message: string;
}

const IN_PROGRESS: Outcome = { status: 'True', reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' };
const COMPLETED: Outcome = { status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' };
const NEVER_ESTABLISHED: Outcome = { status: 'False', reason: 'NeverEstablished', message: 'resource was never established' };
const OVERLAPPING: Outcome = { status: 'False', reason: 'OverlappingBuiltInResource', message: 'instances overlap with built-in resources in storage' };

/** Resources that are stored where those of a definition of their name would be. */
const OVERLAPPING_RESOURCES = new Set(['apiservices.apiregistration.k8s.io', 'customresourcedefinitions.apiextensions.k8s.io']);

/** Empties the resources of deleted definitions, then lets the definitions go (apiextensions-apiserver/pkg/controller/finalizer). */
export function keepFinalized(definitions: DefinitionClient, options: FinalizingOptions): Promise<void> {
  const sync = async (name: string): Promise<void> => {
    const current = definitions.informer.get('', name);
    if (current && isPending(current)) await finalize(definitions, name, current.metadata.uid!, options);
  };
  // What is told of a failure here is a change too: it must not begin the next try before its time.
  const concerns = (definition: CustomResourceDefinition, old: CustomResourceDefinition): boolean =>
    isPending(definition) !== isPending(old) || isConditionTrue(definition, 'Established') !== isConditionTrue(old, 'Established');
  return followDefinitions(definitions, { name: 'crd_finalizer', workers: WORKERS, concerns, sync }, options);
}

const isPending = ({ metadata }: CustomResourceDefinition): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);

async function finalize(definitions: DefinitionClient, name: string, uid: string, options: FinalizingOptions): Promise<void> {
  const tell = (outcome: Outcome, change?: (definition: CustomResourceDefinition) => void): Promise<void> =>
    updateStatus(definitions, name, (definition) => {
      if (definition.metadata.uid !== uid || !isPending(definition)) return false;
      setDefinitionCondition(definition, { type: 'Terminating', ...outcome }, options.now());
      change?.(definition);
      return true;
    });
  await delay(PENDING_MS, options.signal);
  if (options.signal.aborted) return;
  await tell(IN_PROGRESS);
  const current = definitions.informer.get('', name);
  if (current?.metadata.uid !== uid || !isPending(current)) return;
  try {
    const outcome = await emptied(current, options);
    if (options.signal.aborted) return;
    await tell(outcome, ({ metadata }) => (metadata.finalizers = metadata.finalizers!.filter((finalizer) => finalizer !== CLEANUP_FINALIZER)));
  } catch (error) {
    if (error instanceof InstanceDeletionError) await tell({ status: 'True', reason: error.reason, message: error.message });
    throw error;
  }
}

async function emptied(definition: CustomResourceDefinition, { signal, deleteInstances }: FinalizingOptions): Promise<Outcome> {
  const { group, names } = definition.spec;
  if (OVERLAPPING_RESOURCES.has(`${names.plural}.${group}`)) return OVERLAPPING;
  if (!isConditionTrue(definition, 'Established')) return NEVER_ESTABLISHED;
  await deleteInstances(definition, signal);
  return COMPLETED;
}
