import type { ResourceClient } from '../client/client.ts';
import { isApiError } from '../api/errors.ts';
import { timeOf } from '../util/time.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '../apis/facts/types/apiextensions-v1.ts';
import type { ControllerOptions } from '../controllers/controller.ts';
import { WorkQueue } from '../controllers/work-queue.ts';
import { onAbort } from '../util/on-abort.ts';

/** What every controller of definitions is given. */
export type DefinitionControllerOptions = Pick<ControllerOptions, 'signal' | 'report' | 'now' | 'clock' | 'queueMetrics'>;

type Condition = CustomResourceDefinitionCondition;
export type DefinitionClient = ResourceClient<CustomResourceDefinition>;

export const findDefinitionCondition = ({ status }: CustomResourceDefinition, type: string): Condition | undefined =>
  (status.conditions ?? []).find((condition) => condition.type === type);

export const isConditionTrue = (definition: CustomResourceDefinition, type: string): boolean => findDefinitionCondition(definition, type)?.status === 'True';

type Outcome = Pick<Condition, 'status' | 'reason' | 'message'>;

export const isSameCondition = (a: Outcome | undefined, b: Outcome | undefined): boolean =>
  a?.status === b?.status && a?.reason === b?.reason && a?.message === b?.message;

/** Writes the condition in the place of the one of its type. Its time changes with its status only. */
export function setDefinitionCondition({ status }: CustomResourceDefinition, condition: Omit<Condition, 'lastTransitionTime'>, now: Date): void {
  const conditions = status.conditions ?? [];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[index];
  const lastTransitionTime = old?.lastTransitionTime && old.status === condition.status ? old.lastTransitionTime : timeOf(now);
  const entry = { ...condition, lastTransitionTime };
  status.conditions = old ? conditions.with(index, entry) : [...conditions, entry];
}

export interface Following {
  /** What metrics call the queue of names. */
  name: string;
  /** How many definitions are seen to at once. */
  workers?: number;
  /** Whether a change is to be seen to; absent: each. */
  concerns?(definition: CustomResourceDefinition, old: CustomResourceDefinition): boolean;
  /** Sees to the definition of that name, which may be gone. What it throws is reported, and tried again after ever longer waits. */
  sync(name: string, queue: WorkQueue): Promise<void>;
}

/** Has every definition seen to that there is or comes to be, and again whenever it changes or goes. Resolves when those that are there have been. */
export async function followDefinitions(
  definitions: DefinitionClient,
  { name, workers = 1, concerns = () => true, sync }: Following,
  options: DefinitionControllerOptions,
): Promise<void> {
  const { informer } = definitions;
  await informer.synced;
  if (options.signal.aborted) return;
  const queue: WorkQueue = new WorkQueue((key) => sync(key, queue), { ...options, name, workers });
  onAbort(
    options.signal,
    informer.onChange((definition, old) => {
      if (!definition || !old || concerns(definition, old)) queue.add((definition ?? old)!.metadata.name!);
    }),
  );
  for (const { metadata } of informer.list('')) queue.add(metadata.name!);
  await queue.idle();
}

/** Brings the condition of a type to what the definition should have; undefined: none. A definition that has changed since is seen again by whoever follows it. */
export async function keepCondition(
  definitions: DefinitionClient,
  current: CustomResourceDefinition,
  type: string,
  outcome: Outcome | undefined,
  now: Date,
): Promise<void> {
  const isKept = (definition: CustomResourceDefinition): boolean => isSameCondition(findDefinitionCondition(definition, type), outcome);
  if (isKept(current)) return;
  await updateStatus(definitions, current.metadata.name!, (definition) => {
    if (isKept(definition)) return false;
    if (outcome) setDefinitionCondition(definition, { type, ...outcome }, now);
    else definition.status.conditions = definition.status.conditions!.filter((condition) => condition.type !== type);
    return true;
  });
}

/** Changes the status unless the definition has gone. `change` answers false where there is nothing to do. */
export async function updateStatus(
  definitions: DefinitionClient,
  name: string,
  change: (definition: CustomResourceDefinition) => boolean | void,
): Promise<void> {
  try {
    await definitions.update('', name, change, 'status');
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
