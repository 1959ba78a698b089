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

export interface FinalizingOptions extends DefinitionControllerOptions {
  /** Removes all objects of the definition's resource; resolves when none is left. */
  deleteInstances(definition: CustomResourceDefinition, signal: AbortSignal): Promise<void>;
}

/** Other servers on the same store see the mark first, and take in no more objects. */
const PENDING_MS = 100;

const IN_PROGRESS = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' };
const COMPLETED = { type: 'Terminating', status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' };
const NEVER_ESTABLISHED = { type: 'Terminating', status: 'False', reason: 'NeverEstablished', message: 'resource was never established' };

/** Empties the resources of deleted definitions, then lets the definitions go (apiextensions-apiserver/pkg/controller/finalizer). */
export function keepFinalized(definitions: DefinitionClient, options: FinalizingOptions): Promise<void> {
  const begun = new Set<string>();
  const begin = async (name: string, uid: string): Promise<void> => {
    try {
      await delay(PENDING_MS, options.signal);
      if (!options.signal.aborted) await finalize(definitions, name, uid, options);
    } catch (error) {
      options.report(error as Error);
    } finally {
      begun.delete(uid);
    }
  };
  return followDefinitions(
    definitions,
    async (name) => {
      const current = definitions.informer.get('', name);
      if (!current || !isPending(current) || begun.has(current.metadata.uid!)) return;
      begun.add(current.metadata.uid!);
      void begin(name, current.metadata.uid!);
    },
    options,
  );
}

const isPending = ({ metadata }: CustomResourceDefinition): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);

async function finalize(definitions: DefinitionClient, name: string, uid: string, { now, signal, deleteInstances }: FinalizingOptions): Promise<void> {
  const isMeant = (definition: CustomResourceDefinition): boolean => definition.metadata.uid === uid && isPending(definition);
  await updateStatus(definitions, name, (definition) => {
    if (!isMeant(definition)) return false;
    setDefinitionCondition(definition, IN_PROGRESS, now());
    return true;
  });
  const current = definitions.informer.get('', name);
  if (!current || !isMeant(current)) return;
  const isEstablished = isConditionTrue(current, 'Established');
  if (isEstablished) await deleteInstances(current, signal);
  await updateStatus(definitions, name, (definition) => {
    if (!isMeant(definition)) return false;
    setDefinitionCondition(definition, isEstablished ? COMPLETED : NEVER_ESTABLISHED, now());
    definition.metadata.finalizers = definition.metadata.finalizers!.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    return true;
  });
}
