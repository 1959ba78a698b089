import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { isApiError } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import { timeOf } from '../../util/time.ts';
import { type Condition, findCondition } from './conditions.ts';
import { FLOW_CONTROL_GROUP } from './flow-control.ts';
import type { BootstrapControllerOptions } from './keeping.ts';
import { WorkQueue } from '../../controllers/work-queue.ts';
import { onAbort } from '../../util/on-abort.ts';

const FIELD_MANAGER = 'api-priority-and-fairness-config-consumer-v1';
/** A new server has a dozen to write before it is ready. */
const WORKERS = 20;

interface FlowSchema extends ApiObject {
  spec: { priorityLevelConfiguration: { name: string } };
  status?: { conditions?: Condition[] };
}

/** Says in every FlowSchema's status whether the priority level that it names exists (apiserver/pkg/util/flowcontrol). */
export async function keepFlowSchemaStatus(client: Client, options: BootstrapControllerOptions): Promise<void> {
  const schemas = client.resource<FlowSchema>(FLOW_CONTROL_GROUP, 'flowschemas', FIELD_MANAGER);
  const levels = client.resource(FLOW_CONTROL_GROUP, 'prioritylevelconfigurations');
  const hasLevel = (name: string): boolean => levels.informer.get('', name) !== undefined;
  const sync = (name: string): Promise<void> => syncStatus(schemas, name, hasLevel, options);

  await Promise.all([schemas.informer.synced, levels.informer.synced]);
  if (options.signal.aborted) return;
  const queue = new WorkQueue(sync, { ...options, name: 'priority_and_fairness_config_queue', workers: WORKERS });
  const add = ({ metadata }: FlowSchema): void => queue.add(metadata.name!);
  const stops = [
    schemas.informer.onChange((schema) => schema !== undefined && add(schema)),
    levels.informer.onChange((level, old) => {
      if (level !== undefined && old !== undefined) return;
      const name = (level ?? old)!.metadata.name;
      for (const schema of schemas.informer.list('')) if (schema.spec.priorityLevelConfiguration.name === name) add(schema);
    }),
  ];
  onAbort(options.signal, () => stops.forEach((stop) => stop()));
  schemas.informer.list('').forEach(add);
  await queue.idle();
}

async function syncStatus(
  schemas: ResourceClient<FlowSchema>,
  name: string,
  hasLevel: (name: string) => boolean,
  { now }: BootstrapControllerOptions,
): Promise<void> {
  const change = (schema: FlowSchema): Condition | undefined => {
    const wanted = danglingCondition(schema, hasLevel, now);
    const current = findCondition(schema.status?.conditions, 'Dangling');
    const isSo = current?.status === wanted.status && current.reason === wanted.reason && current.message === wanted.message;
    return isSo ? undefined : wanted;
  };
  const current = schemas.informer.get('', name);
  const condition = current && change(current);
  if (current === undefined || condition === undefined) return;
  const config: ApiObject & Pick<FlowSchema, 'status'> = {
    kind: current.kind,
    apiVersion: current.apiVersion,
    metadata: { name },
    status: { conditions: [condition] },
  };
  try {
    await schemas.apply('', name, config, 'status');
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}

function danglingCondition({ spec }: FlowSchema, hasLevel: (name: string) => boolean, now: () => Date): Condition {
  const { name } = spec.priorityLevelConfiguration;
  const subject = `This FlowSchema references the PriorityLevelConfiguration object named ${quote(name)}`;
  const lastTransitionTime = timeOf(now());
  return hasLevel(name)
    ? { type: 'Dangling', status: 'False', lastTransitionTime, reason: 'Found', message: `${subject} and it exists` }
    : { type: 'Dangling', status: 'True', lastTransitionTime, reason: 'NotFound', message: `${subject} but there is no such object` };
}
