import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../util/api-object.ts';
import priorityClasses from './data/priority-classes.json' with { type: 'json' };
import { type ControllerOptions, createIfMissing, untilDone } from './keeping.ts';

/** The two classes of system pods; made at start, not watched over afterwards. */
export function ensurePriorityClasses(client: Client, options: ControllerOptions): Promise<void> {
  const resource = client.resource('scheduling.k8s.io', 'priorityclasses');
  const objects: ApiObject[] = priorityClasses.map((fact) => ({ kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', ...fact }));
  return untilDone(() => Promise.all(objects.map((object) => createIfMissing(resource, object))), options);
}
